//! Ends: of the program, of the pane, of tmux, and of our own server.

use std::time::{Duration, Instant};

use paned_e2e::{Server, WAIT_TIMEOUT, gone, is_alive, kill9};
use serde_json::{Value, json};

use super::{Tmux, refused, until};

/// Does something; answers the event of the end of pane `a` and how long it took to be told.
#[track_caller]
fn ends(server: &Server, act: impl FnOnce()) -> (String, Value, Duration) {
    let mut events = server.events("pane:exited,pane:lost", None);
    let before = Instant::now();
    act();
    let told = events.until(|told| told.data["paneId"] == "a");
    (told.name, told.data, before.elapsed())
}

#[test]
fn the_real_code_is_told_where_tmux_knows_it_and_none_is_made_up() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    for (remain, code) in [("on", json!(7)), ("off", json!(null))] {
        tmux.act(&["set-option", "-g", "remain-on-exit", remain]);
        let pane = tmux.split("echo up; read -r; echo last words; exit 7");
        tmux.adopt(&server, &pane, "a");
        until(&server, "a", "up");
        let (name, told, took) = ends(&server, || {
            server.act("pane:write", json!({ "paneId": "a", "text": "\n" }));
        });
        assert_eq!((name.as_str(), &told["exitCode"]), ("pane:exited", &code), "{told}");
        assert!(took < Duration::from_secs(1), "{took:?}");
        println!("remain-on-exit {remain}: told after {took:?}");
        assert!(server.text("a").ends_with("last words\r\n"), "{:?}", server.text("a"));
        assert_eq!(server.pane("a")["status"], "exited");
        let write = json!({ "paneId": "a", "text": "x" });
        assert_eq!(refused(&server, "pane:write", write).0, "gone");
        server.act("pane:remove", json!({ "paneId": "a" }));
    }
}

#[test]
fn a_signal_is_told_as_one() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    tmux.act(&["set-option", "-g", "remain-on-exit", "on"]);
    let pane = tmux.adopt(&server, "%0", "a");
    let pid = u32::try_from(pane["pid"].as_u64().unwrap()).unwrap();
    let (_, told, _) = ends(&server, || kill9(pid));
    assert_eq!((&told["exitCode"], &told["exitSignal"]), (&json!(null), &json!("SIGKILL")));
}

#[test]
fn a_pane_that_a_person_kills_has_ended() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    let pane = tmux.split("exec cat");
    tmux.adopt(&server, &pane, "a");
    let (name, told, took) = ends(&server, || drop(tmux.act(&["kill-pane", "-t", &pane])));
    assert_eq!((name.as_str(), &told["exitCode"]), ("pane:exited", &json!(null)));
    assert!(took < Duration::from_secs(1), "{took:?}");
    println!("kill-pane: told after {took:?}");
}

#[test]
fn a_pane_that_is_gone_while_its_program_lives_has_ended_too() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    let pane = tmux.split("trap '' HUP; echo up; exec sleep 1001");
    let pid = u32::try_from(tmux.adopt(&server, &pane, "a")["pid"].as_u64().unwrap()).unwrap();
    until(&server, "a", "up");
    let (name, told, took) = ends(&server, || drop(tmux.act(&["kill-pane", "-t", &pane])));
    assert!(is_alive(pid));
    kill9(pid);
    assert_eq!((name.as_str(), &told["exitCode"]), ("pane:exited", &json!(null)));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn a_kill_that_is_asked_for_ends_the_tmux_pane_and_no_other() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    let (pane, other) = (tmux.split("exec cat"), tmux.split("exec cat"));
    let pid = u32::try_from(tmux.adopt(&server, &pane, "a")["pid"].as_u64().unwrap()).unwrap();
    let killed = server.act("pane:kill", json!({ "paneId": "a" }));
    assert_eq!((&killed["status"], &killed["survivors"]), (&json!("exited"), &json!([])));
    assert!(gone(pid, WAIT_TIMEOUT));
    let left = tmux.act(&["list-panes", "-a", "-F", "#{pane_id}"]);
    assert_eq!(left.lines().collect::<Vec<_>>(), ["%0", &other]);
}

#[test]
fn a_tmux_server_that_is_killed_is_told_soon_and_its_successor_gets_nothing() {
    let (server, mut tmux) = (Server::start(), Tmux::start("exec cat"));
    tmux.adopt(&server, "%0", "a");
    let (name, told, took) = ends(&server, || kill9(tmux.pid()));
    assert!(took < Duration::from_secs(2), "{took:?}");
    println!("tmux killed: {name} told after {took:?}");
    assert_eq!(told["exitCode"], json!(null));
    tmux.start_again("stty raw -echo; : > successor; tmux wait-for -S up; exec cat >> successor");
    tmux.wait("up");
    assert_eq!(refused(&server, "pane:write", json!({ "paneId": "a", "text": "x" })).0, "gone");
    assert_eq!(std::fs::read(tmux.file("successor")).unwrap(), b"");
    let adopted = tmux.adopt(&server, "%0", "b");
    assert_eq!(adopted["status"], "running");
}

#[test]
fn nothing_is_lost_while_our_server_is_dead() {
    let script = "while read -r line; do echo \"got $line\"; done";
    let (mut server, tmux) = (Server::start(), Tmux::start(script));
    let (second, third) = (tmux.split("exec cat"), tmux.split("exec cat"));
    tmux.adopt(&server, "%0", "a");
    tmux.adopt(&server, &second, "b");
    tmux.adopt(&server, &third, "c");
    server.kill();
    tmux.act(&["send-keys", "-t", "%0", "meanwhile", "Enter"]);
    tmux.act(&["kill-pane", "-t", &second]);
    tmux.act(&["resize-window", "-t", "work:0", "-x", "90", "-y", "33"]);
    let scribe = server.tape("b").keeper();
    assert!(gone(scribe, WAIT_TIMEOUT));
    server.start_again();
    until(&server, "a", "^got meanwhile$");
    server.act("pane:write", json!({ "paneId": "a", "text": "again\n" }));
    until(&server, "a", "^got again$");
    let pane = server.pane("a");
    assert_eq!((&pane["status"], &pane["guarantee"]), (&json!("running"), &json!("best_effort")));
    let ended = server.pane("b");
    assert_eq!((&ended["status"], &ended["exitCode"]), (&json!("exited"), &json!(null)));
    let cols = |told: &paned_e2e::ReceivedEvent| {
        told.data["paneId"] == "a" && told.data["size"]["cols"] == 90
    };
    if server.pane("a")["size"]["cols"] != 90 {
        server.events("pane:resized", Some(0)).until(cols);
    }
    let told = server.history();
    let exits = told.iter().filter(|told| told.name == "pane:exited" && told.data["paneId"] == "b");
    assert_eq!(exits.count(), 1);
    let list = server.act("tmux:list", json!({ "tmux": tmux.socket() })).to_string();
    assert!(list.contains("\"paned\":\"c\""), "{list}");
}

#[test]
fn a_person_s_own_pipe_takes_the_pane_from_us_and_is_left_alone() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    tmux.adopt(&server, "%0", "a");
    let (name, _, took) = ends(&server, || drop(tmux.act(&["pipe-pane", "-t", "%0", "cat"])));
    assert_eq!(name, "pane:lost");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(tmux.say("#{pane_pipe} #{pane_dead}"), "1 0");
    assert_eq!(refused(&server, "pane:write", json!({ "paneId": "a", "text": "x" })).0, "gone");
    server.act("pane:close", json!({ "paneId": "a" }));
    assert_eq!(tmux.say("#{pane_pipe} #{pane_dead}"), "1 0");
}
