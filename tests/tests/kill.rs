//! Killed means gone.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::{Duration, Instant};

use paned_e2e::{Server, WAIT_TIMEOUT, gone, is_alive, script, wait_for};
use serde_json::{Value, json};

/// Starts a script that prints process ids and then the title `ready`; returns the process ids.
#[track_caller]
fn start(server: &Server, id: &str, text: &str) -> Vec<u32> {
    let mut events = server.events("pane:title", None);
    server.act("pane:new", script(id, text));
    events.until(|told| told.data["paneId"] == id && told.data["title"] == "ready");
    let printed = server.text(id);
    let words = printed.split(|c: char| !c.is_ascii_digit());
    let pids: Vec<u32> =
        words.filter_map(|word| word.parse().ok()).filter(|pid| 1 < *pid).collect();
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{printed}");
    pids
}

/// Kills a pane; every process must be gone when the answer is there.
#[track_caller]
fn kill(server: &Server, id: &str, pids: &[u32], params: Value) -> Value {
    let mut all = json!({ "paneId": id });
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    let answer = server.act("pane:kill", all);
    for pid in pids {
        assert!(!is_alive(*pid), "{pid} outlived the answer {answer}");
    }
    assert_eq!((&answer["status"], &answer["survivors"]), (&json!("killed"), &json!([])));
    answer
}

const READY: &str = "printf '\\033]0;ready\\007'";

#[test]
fn a_daemon_that_left_session_group_and_parent_is_killed_too() {
    let server = Server::start();
    let text = format!(
        "setsid sleep 1001 & echo $!; (setsid sleep 1002 & echo $!); \
         (setsid bash -c 'sleep 1003 & echo $!' &) ; nohup sleep 1004 >/dev/null 2>&1 & echo $!; \
         sleep 0.3; {READY}; wait"
    );
    let pids = start(&server, "a", &text);
    assert_eq!(pids.len(), 4, "{pids:?}");
    let mut events = server.events("pane:killed,pane:exited", None);
    let answer = kill(&server, "a", &pids, json!({}));
    assert_eq!(answer["exitSignal"], "SIGTERM");
    assert_eq!(events.next().name, "pane:killed");
    assert_eq!(events.next().data["status"], "killed");
}

#[test]
fn those_who_ignore_the_question_are_made_to_end_after_the_grace() {
    let server = Server::start();
    let text = format!(
        "trap '' TERM HUP INT; setsid bash -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 100; done' & echo $$; sleep 0.2; {READY}; while :; do sleep 100; done"
    );
    let pids = start(&server, "a", &text);
    let before = Instant::now();
    let answer = kill(&server, "a", &pids, json!({ "graceMs": 400 }));
    assert!(Duration::from_millis(400) <= before.elapsed());
    assert_eq!(answer["exitSignal"], "SIGKILL");
}

#[test]
fn one_that_cleans_up_when_asked_has_the_time_and_keeps_its_code() {
    let server = Server::start();
    let text = format!(
        "trap 'sleep 0.3; echo cleaned; exit 9' TERM; echo $$; {READY}; while :; do sleep 0.05; done"
    );
    let pids = start(&server, "a", &text);
    let answer = kill(&server, "a", &pids, json!({}));
    assert_eq!(answer["exitCode"], 9);
    assert!(server.text("a").ends_with("cleaned\r\n"));
}

#[test]
fn an_interactive_shell_ends_at_once_although_it_ignores_the_question() {
    let server = Server::start();
    let mut events = server.events("pane:title", None);
    server.act("pane:new", json!({ "id": "a", "argv": ["/bin/bash", "--norc", "-i"], "env": { "PS1": "\\[\\e]0;ready\\a\\]$ " } }));
    events.until(|told| told.data["title"] == "ready");
    let before = Instant::now();
    let pid = u32::try_from(server.pane("a")["pid"].as_u64().unwrap()).unwrap();
    kill(&server, "a", &[pid], json!({ "graceMs": 20_000 }));
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
}

#[test]
fn a_stopped_program_is_killed_too() {
    let server = Server::start();
    let text = format!("sleep 1000 & echo $!; kill -STOP $!; echo $$; {READY}; kill -STOP $$");
    let pids = start(&server, "a", &text);
    kill(&server, "a", &pids, json!({}));
}

/// To switch screens is the most expensive thing that a program can ask of its terminal. Its
/// queries are answered after that.
#[test]
fn the_end_of_one_that_asks_its_terminal_too_much_is_told_before_all_of_that_is_answered() {
    let server = Server::start();
    let switch = "'\\033[?1049h\\033[?1049l%.0s'";
    let text = format!(
        "stty raw -echo; many=$(printf {switch} $(seq 500)); {READY}; \
         while :; do printf '%s\\033[6n' \"$many\"; done"
    );
    let mut events = server.events("pane:title", None);
    let pid = server.act("pane:new", script("a", &text))["pid"].as_u64().unwrap() as u32;
    // What it says is told meanwhile.
    events.until(|told| told.data["title"] == "ready");
    // A ring full of it.
    wait_for("much output", || server.pane("a")["bytes"].as_u64().filter(|much| 4 << 20 <= *much));
    kill(&server, "a", &[pid], json!({}));
}

#[test]
fn those_who_fork_while_they_are_killed_do_not_get_away() {
    let server = Server::start();
    // No other process on this machine sleeps for that long.
    let sleep = format!("sleep 30.{}", std::process::id());
    let text = format!(
        "trap '' TERM; for i in 1 2 3 4; do setsid bash -c 'trap \"\" TERM HUP; while :; do setsid {sleep} & sleep 0.01; done' & done; {READY}; wait"
    );
    start(&server, "a", &text);
    let keeper = server.keepers()[0];
    let answer = server.act("pane:kill", json!({ "paneId": "a", "graceMs": 50 }));
    assert_eq!((&answer["status"], &answer["survivors"]), (&json!("killed"), &json!([])));
    // The keeper goes only when it has no child left.
    assert!(gone(keeper, WAIT_TIMEOUT));
    server.act("pane:new", script("check", &format!("ps -eo args= | grep -cx '{sleep}'")));
    server.events("pane:exited", Some(0)).until_exit("check");
    assert_eq!(server.printed("check"), b"0\r\n");
}

#[test]
fn a_time_out_goes_the_same_road_and_says_so() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    let mut params = script("a", "setsid sleep 1005 & echo $!; wait");
    params["timeoutSeconds"] = json!(1);
    server.act("pane:new", params);
    let told = events.until_exit("a");
    assert_eq!((&told.data["timedOut"], &told.data["status"]), (&json!(true), &json!("killed")));
    let pane = server.pane("a");
    assert_eq!((&pane["timedOut"], &pane["status"]), (&json!(true), &json!("killed")));
    let pid: u32 = server.text("a").trim().parse().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn what_a_program_leaves_running_when_it_ends_is_found_and_killed_later() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    let leave = "setsid sleep 1006 >/dev/null 2>&1 & until [ $(ps -o sid= -p $!) = $! ]; do :; done; \
                 echo $!; exit 4";
    server.act("pane:new", script("a", leave));
    assert_eq!(events.until_exit("a").data["exitCode"], 4);
    let pid: u32 = server.text("a").trim().parse().unwrap();
    assert!(is_alive(pid), "it was asked to stay");
    let answer = server.act("pane:kill", json!({ "paneId": "a" }));
    assert_eq!((&answer["status"], &answer["exitCode"]), (&json!("exited"), &json!(4)));
    assert!(!is_alive(pid));
}

#[test]
fn many_who_kill_the_same_pane_all_hear_the_truth() {
    let server = Server::start();
    let pids = start(
        &server,
        "a",
        &format!("trap '' TERM; echo $$; {READY}; while :; do sleep 100; done"),
    );
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| kill(&server, "a", &pids, json!({ "graceMs": 300 })));
        }
    });
    let exits = server.history().into_iter().filter(|told| told.name == "pane:exited");
    assert_eq!(exits.count(), 1);
}
