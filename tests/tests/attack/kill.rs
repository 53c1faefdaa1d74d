//! Programs that try to outlive a kill, and keepers that do not answer.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use paned_e2e::{
    Frame, KeeperClient, Server, WAIT_TIMEOUT, gone, is_alive, kill9, script, signal, wait_for,
};
use paned_model::Code;
use rustix::process::Signal;
use serde_json::{Value, json};

/// How many kills the fork-and-exit program has to survive; more with `KILLS=150`.
const KILLS: usize = 15;

/// Forks and ends, every 0 to 2 ms, and adds a byte to a file each time. It ignores what it can.
const CHAIN: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    unsigned seed = getpid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (;;) {
        pid_t child = fork();
        if (child > 0) _exit(0);
        if (child < 0) { usleep(500); continue; }
        if (write(fd, ".", 1) != 1) _exit(1);
        usleep(rand_r(&seed) % 2000);
    }
}
"#;

/// Ends its first thread; another one goes on adding bytes to a file.
const HEADLESS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int fd;
static void *beat(void *none) {
    for (;;) { if (write(fd, ".", 1) != 1) return none; usleep(1000); }
}
int main(int argc, char **argv) {
    pthread_t thread;
    fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    pthread_create(&thread, 0, beat, 0);
    pthread_exit(0);
}
"#;

/// A program made of C, and the file that it adds to while it lives.
struct HeartbeatProgram {
    program: PathBuf,
    beats: PathBuf,
}

impl HeartbeatProgram {
    fn make(folder: &Path, name: &str, source: &str) -> Self {
        let (file, program) = (folder.join(format!("{name}.c")), folder.join(name));
        fs::write(&file, source).unwrap();
        let made = Command::new("cc").arg("-pthread").arg("-o").arg(&program).arg(&file).status();
        assert!(made.unwrap().success());
        Self { program, beats: folder.join(format!("{name}.beats")) }
    }

    fn count(&self) -> u64 {
        fs::metadata(&self.beats).map_or(0, |file| file.len())
    }

    /// Starts it in a pane beside a program that waits, and answers once it beats.
    fn start(&self, server: &Server, id: &str) {
        let text = format!("{} {}; exec sleep 1000", self.program.display(), self.beats.display());
        let before = self.count();
        server.act("pane:new", script(id, &text));
        wait_for("a few beats", || (before + 3 < self.count()).then_some(()));
    }

    /// Whether it is alive: it beats, or is found among all processes. One scan of them can miss
    /// it, so there are many.
    fn lives(&self) -> bool {
        let before = self.count();
        let looks = (0..30).any(|_| {
            let all = fs::read_dir("/proc").unwrap().flatten();
            all.into_iter().any(|process| {
                let is_it = fs::read_link(process.path().join("exe"));
                is_it.is_ok_and(|file| file == self.program)
            })
        });
        looks || before < self.count()
    }
}

fn kills() -> usize {
    std::env::var("KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(KILLS)
}

#[test]
fn a_program_that_forks_and_exits_is_gone_when_the_kill_is_answered() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let chain = HeartbeatProgram::make(folder.path(), "chain", CHAIN);
    let mut alive = 0;
    for n in 0..kills() {
        let id = format!("p{n}");
        chain.start(&server, &id);
        let grace = [0, 300, 1500][n % 3];
        let answer = server.act("pane:kill", json!({ "paneId": id, "graceMs": grace }));
        assert_eq!(answer["status"], "killed", "{answer}");
        assert_eq!(answer["survivors"], json!([]), "{answer}");
        if chain.lives() {
            alive += 1;
            end(&chain);
        }
        server.act("pane:close", json!({ "paneId": id }));
    }
    assert_eq!(alive, 0, "of {} it lived after the answer", kills());
}

#[test]
fn a_program_that_forks_and_exits_is_gone_when_its_pane_is_closed() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let chain = HeartbeatProgram::make(folder.path(), "chain", CHAIN);
    for n in 0..4 {
        let id = format!("p{n}");
        chain.start(&server, &id);
        server.act("pane:close", json!({ "paneId": id, "force": n % 2 == 0 }));
        if chain.lives() {
            end(&chain);
            panic!("it lives after pane {n} was closed");
        }
    }
}

#[test]
fn a_program_whose_first_thread_has_ended_is_alive_and_is_killed() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let headless = HeartbeatProgram::make(folder.path(), "headless", HEADLESS);
    let text =
        format!("{} {} & exec sleep 1000", headless.program.display(), headless.beats.display());
    server.act("pane:new", script("a", &text));
    wait_for("a few beats", || (3 < headless.count()).then_some(()));
    let answer = server.act("pane:kill", json!({ "paneId": "a", "graceMs": 0 }));
    assert_eq!((&answer["status"], &answer["survivors"]), (&json!("killed"), &json!([])));
    assert!(!headless.lives());
}

/// Ends a program that should not be there, for the sake of the machine.
fn end(program: &HeartbeatProgram) {
    let until = Instant::now() + WAIT_TIMEOUT;
    while program.lives() && Instant::now() < until {
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let is_it = fs::read_link(process.path().join("exe"));
            if is_it.is_ok_and(|file| file == program.program) {
                let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
                pid.into_iter().for_each(kill9);
            }
        }
    }
}

/// Starts a program that ignores hangups, with a child in another session; returns both and the
/// keeper.
fn start_stubborn(server: &Server) -> (Vec<u32>, u32) {
    let text = "trap '' HUP TERM; setsid bash -c 'trap \"\" HUP; echo child=$$.; while :; do sleep 100; done' & \
                echo own=$$.; while :; do sleep 100; done";
    server.act("pane:new", script("a", text));
    let pids = wait_for("both numbers", || {
        let text = server.text("a");
        let number = |name: &str| -> Option<u32> {
            let (_, rest) = text.split_once(name)?;
            rest.split_once('.')?.0.parse().ok()
        };
        Some(vec![number("own=")?, number("child=")?])
    });
    (pids, server.tape("a").keeper())
}

#[track_caller]
fn status(server: &Server, expect: &str) {
    wait_for(expect, || (server.pane("a")["status"] == expect).then_some(()));
}

#[test]
fn what_a_dead_keeper_has_left_behind_is_found_and_killed() {
    for restarts in [false, true] {
        let mut server = Server::start();
        let (pids, keeper) = start_stubborn(&server);
        kill9(keeper);
        assert!(gone(keeper, WAIT_TIMEOUT));
        if restarts {
            server.kill();
            server.start_again();
        }
        status(&server, "lost");
        assert!(pids.iter().all(|pid| is_alive(*pid)), "they ignore the hangup");
        let answer = server.act("pane:kill", json!({ "paneId": "a", "graceMs": 100 }));
        assert_eq!((&answer["status"], &answer["survivors"]), (&json!("lost"), &json!([])));
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?} after {answer}");
    }
}

#[test]
fn what_a_dead_keeper_has_left_behind_is_gone_when_its_pane_is_closed() {
    let server = Server::start();
    let (pids, keeper) = start_stubborn(&server);
    server.act("pane:new", script("b", "sleep 1000"));
    kill9(keeper);
    status(&server, "lost");
    server.act("pane:close", json!({ "paneId": "a", "force": true }));
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    assert_eq!(server.pane("b")["status"], "running", "another pane is not touched");
}

/// Spoils a keeper's files while no server runs; then it is ended by force.
fn check_unreachable(spoil: impl Fn(&Path), is_refused: bool) {
    let mut server = Server::start();
    let (pids, keeper) = start_stubborn(&server);
    server.kill();
    // A keeper restores missing files when its server disconnects. One that answers a client has
    // done so.
    drop(KeeperClient::connect(&server, "a"));
    spoil(&server.state().join("panes/a"));
    server.start_again();
    if is_refused {
        let refused = server.try_act("pane:kill", json!({ "paneId": "a" })).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable, "{refused:?}");
        assert!(refused.sentence.contains("force"), "{refused:?}");
    }
    assert!(is_alive(keeper) && pids.iter().all(|pid| is_alive(*pid)));
    let answer = server.act("pane:kill", json!({ "paneId": "a", "force": true }));
    assert_eq!((&answer["status"], &answer["survivors"]), (&json!("killed"), &json!([])));
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{answer}");
    // One that could be reached after all has answered by itself, and leaves after that.
    wait_for("the end of the keeper", || (!is_alive(keeper)).then_some(()));
    server.act("pane:close", json!({ "paneId": "a" }));
}

#[test]
fn a_keeper_without_its_socket_is_ended_by_force() {
    check_unreachable(|pane| fs::remove_file(pane.join("keeper.sock")).unwrap(), true);
}

#[test]
fn a_keeper_with_a_damaged_tape_is_ended_by_force() {
    let damage = |pane: &Path| {
        let mut tape = fs::OpenOptions::new().write(true).open(pane.join("tape")).unwrap();
        tape.write_all(b"nothing!").unwrap();
    };
    // Its socket is there, so it may also be reached.
    check_unreachable(damage, false);
}

/// A pane that echoes, with a stopped keeper, and one beside it.
fn stopped() -> (Server, u32) {
    let server = Server::start();
    for id in ["a", "b"] {
        server.act("pane:new", script(id, "stty -echo; echo ready; exec cat"));
        wait_for("ready", || server.text(id).contains("ready").then_some(()));
    }
    let keeper = server.tape("a").keeper();
    signal(keeper, Signal::STOP);
    (server, keeper)
}

fn on(id: &str, params: Value) -> Value {
    let mut all = json!({ "paneId": id });
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    all
}

#[test]
fn a_stopped_keeper_costs_its_callers_five_seconds_once() {
    let (server, keeper) = stopped();
    let late = server.try_act("pane:write", on("a", json!({ "text": "one\n" }))).unwrap_err();
    assert_eq!(late.code, Code::Timeout, "{late:?}");
    assert!(late.sentence.contains("may still take effect"), "{late:?}");
    assert_eq!(late.details, Some(json!({ "takenBack": false })));
    // From now on nobody waits: far less than the deadline, however busy the machine is.
    let calls = [
        ("pane:write", json!({ "text": "two\n" })),
        ("pane:keys", json!({ "keys": ["x", "enter"] })),
        ("pane:paste", json!({ "text": "three" })),
        ("pane:resize", json!({ "size": { "cols": 90, "rows": 30 } })),
        ("pane:kill", json!({})),
    ];
    for (name, params) in calls {
        let before = Instant::now();
        let refused = server.try_act(name, on("a", params)).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable, "{name}: {refused:?}");
        assert!(before.elapsed() < Duration::from_secs(4), "{name}: {:?}", before.elapsed());
    }
    server.act("pane:write", on("b", json!({ "text": "beside\n" })));
    wait_for("the other pane's text", || server.text("b").contains("beside").then_some(()));
    signal(keeper, Signal::CONT);
    wait_for("an answer", || {
        server.try_act("pane:write", on("a", json!({ "text": "four\n" }))).ok()
    });
    wait_for("the last text", || server.text("a").contains("four").then_some(()));
    let text = server.text("a");
    assert!(text.contains("one") && !text.contains("two") && !text.contains("three"), "{text:?}");
}

#[test]
fn a_size_and_keys_over_a_websocket_have_the_same_deadline() {
    let (server, keeper) = stopped();
    let mut socket = server.socket_to_panes();
    socket.subscribe("a", json!("now"));
    socket.send(&json!({ "type": "input", "pane": "a", "text": "x", "id": 1 }));
    socket.send(&json!({ "type": "resize", "pane": "a", "cols": 90, "rows": 30, "id": 2 }));
    let mut refused = Vec::new();
    while refused.len() < 2 {
        if let Frame::Message(said) = socket.next()
            && said["type"] == "error"
        {
            refused.push(said);
        }
    }
    for said in &refused {
        let text = said.to_string();
        assert!(text.contains("timeout") || text.contains("unavailable"), "{text}");
    }
    signal(keeper, Signal::CONT);
}

#[test]
fn a_stopped_keeper_is_ended_by_force() {
    let (server, keeper) = stopped();
    let pid = u32::try_from(server.pane("a")["pid"].as_u64().unwrap()).unwrap();
    let answer = server.act("pane:kill", on("a", json!({ "force": true })));
    assert_eq!((&answer["status"], &answer["survivors"]), (&json!("killed"), &json!([])));
    assert!(!is_alive(keeper) && !is_alive(pid), "{answer}");
    assert_eq!(server.pane("b")["status"], "running");
}

/// A program that has exited and left two processes behind, and its keeper, which keeps running for
/// them.
fn start_leftovers(server: &Server) -> (Vec<u32>, u32) {
    let text = "trap '' HUP; nohup sleep 7001 >/dev/null 2>&1 & first=$!; setsid sleep 7002 & \
                echo first=$first. second=$!.; sleep 0.2; exit 3";
    server.act("pane:new", script("a", text));
    let pids = wait_for("both numbers", || {
        let text = server.text("a");
        let number = |name: &str| -> Option<u32> {
            let (_, rest) = text.split_once(name)?;
            rest.split_once('.')?.0.parse().ok()
        };
        Some(vec![number("first=")?, number("second=")?])
    });
    status(server, "exited");
    (pids, server.tape("a").keeper())
}

#[test]
fn what_an_exited_program_has_left_behind_is_killed_without_its_keeper() {
    for action in ["pane:kill", "pane:close"] {
        let mut server = Server::start();
        let (pids, keeper) = start_leftovers(&server);
        assert!(is_alive(keeper), "it lives on for what is left");
        kill9(keeper);
        assert!(gone(keeper, WAIT_TIMEOUT));
        if action == "pane:close" {
            server.kill();
            server.start_again();
        }
        assert!(pids.iter().any(|pid| is_alive(*pid)), "{pids:?}");
        let answer = server.act(action, on("a", json!({})));
        let left: Vec<&u32> = pids.iter().filter(|pid| is_alive(**pid)).collect();
        pids.iter().for_each(|pid| signal(*pid, Signal::KILL));
        assert!(left.is_empty(), "{action}: {left:?} live after {answer}");
    }
}

#[test]
fn a_pane_is_not_removed_while_what_it_left_behind_runs() {
    let server = Server::start();
    let (pids, keeper) = start_leftovers(&server);
    let refused = server.try_act("pane:remove", on("a", json!({})));
    assert!(is_alive(keeper));
    let refused = refused.unwrap_err();
    assert_eq!(refused.code, Code::Conflict, "{refused:?}");
    assert!(refused.sentence.contains("stop them with `pane:kill` or `pane:close`"), "{refused:?}");
    server.act("pane:close", on("a", json!({})));
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?}");
    // It leaves after its answer.
    wait_for("the end of the keeper", || (!is_alive(keeper)).then_some(()));
}

#[test]
fn a_kill_and_a_close_wait_five_seconds_for_a_stopped_keeper() {
    for (action, params, grace) in
        [("pane:kill", json!({ "graceMs": 500 }), 500), ("pane:close", json!({}), 3000)]
    {
        let (server, keeper) = stopped();
        let before = Instant::now();
        let late = server.try_act(action, on("a", params)).unwrap_err();
        let took = before.elapsed();
        assert_eq!(late.code, Code::Timeout, "{late:?}");
        assert!(late.sentence.contains("may still take effect"), "{late:?}");
        assert!(took < Duration::from_millis(grace + 7000), "{action}: {took:?}");
        signal(keeper, Signal::CONT);
    }
}
