//! What is lost and comes back: the control client, the tmux server, our server.

use std::time::Instant;

use paned_e2e::{AttachedTmuxClient, Server, Tmux, gone, kill9, signal, wait_for, wait_within};
use rustix::process::Signal;
use serde_json::json;

use super::*;

/// Counts, as fast as a terminal is looked at.
pub(super) const COUNT: &str = "i=0; while :; do echo $i; i=$((i+1)); read -t 0.002; done";

/// The counting program went on all the while: no number is missing.
#[track_caller]
pub(super) fn check_count(server: &Server, id: &str) {
    let lines = |server: &Server| server.text(id).matches('\n').count();
    let before = lines(server);
    wait_for("it counts on", || (before < lines(server)).then_some(()));
    let text = server.text(id);
    let whole = &text[..=text.rfind('\n').unwrap()];
    for (number, line) in whole.lines().enumerate() {
        assert_eq!(line, number.to_string());
    }
}

/// The process of a pane's program.
pub(super) fn program(server: &Server, id: &str) -> u64 {
    server.pane(id)["pid"].as_u64().unwrap()
}

#[test]
fn a_killed_tmux_server_takes_no_program_with_it() {
    let server = Server::start();
    show(&server, "main", "echo one; cat");
    show(&server, "count", COUNT);
    server.act("pane:new", with(shown("detach", "cat"), "onViewClosed", json!("detach")));
    server.act("session:start", json!({ "name": "other", "argv": ["cat"] }));
    let programs = ["main", "count", "detach"].map(|id| program(&server, id));
    let tmux = Tmux::of(&server);
    for _ in 0..3 {
        let before = tmux.pid().unwrap();
        let killed = Instant::now();
        kill9(before);
        wait_within(SOON, "another tmux server", || tmux.pid().filter(|now| *now != before));
        for id in ["main", "count", "detach"] {
            let left = SOON.saturating_sub(killed.elapsed());
            wait_within(left, id, || {
                (state(&server, id) == "shown" && tmux.view(id).is_some()).then_some(())
            });
        }
        wait_for("both sessions", || {
            (server.act("session:list", json!({})).as_array()?.len() == 2).then_some(())
        });
        assert_eq!(tmux.panes().len(), 4, "{:?}", tmux.panes());
    }
    assert_eq!(["main", "count", "detach"].map(|id| program(&server, id)), programs);
    check_count(&server, "count");
    until_screen(&tmux, &view(&server, "main").id, "one");
    assert_eq!(
        count(&server, |told| told.name == "session:stopped" || told.name == "pane:removed"),
        0
    );
    // All is as before: what a person does is seen.
    tmux.run(&["kill-pane", "-t", &view(&server, "detach").id]);
    until_state(&server, "detach", "hidden");
    tmux.run(&["kill-session", "-t", "main"]);
    wait_for("main is stopped", || {
        (server.act("session:list", json!({})).as_array()?.len() == 1).then_some(())
    });
    assert_eq!(server.pane("detach")["status"], "running");
}

#[test]
fn while_tmux_cannot_come_back_nothing_is_said_to_be_shown() {
    let programs = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let found = path.split(':').map(|folder| format!("{folder}/tmux"));
    let found = found.into_iter().find(|file| std::path::Path::new(file).exists()).unwrap();
    let link = programs.path().join("tmux");
    std::os::unix::fs::symlink(&found, &link).unwrap();
    for program in ["bash", "cat"] {
        std::os::unix::fs::symlink(format!("/bin/{program}"), programs.path().join(program))
            .unwrap();
    }
    let server = Server::start_set("", &[("PATH", programs.path().to_str().unwrap())]);
    show(&server, "a", "cat");
    std::fs::remove_file(&link).unwrap();
    kill9(Tmux::of(&server).pid().unwrap());
    wait_within(SOON, "not shown", || (state(&server, "a") == "waiting").then_some(()));
    assert_eq!(server.pane("a")["status"], "running");
    std::os::unix::fs::symlink(found, link).unwrap();
    until_state(&server, "a", "shown");
    view(&server, "a");
}

#[test]
fn a_lost_client_is_replaced_and_nothing_is_missed() {
    let server = Server::start();
    show(&server, "main", "cat");
    let tmux = Tmux::of(&server);
    for (id, deed) in [("killed", Signal::KILL), ("stopped", Signal::STOP)] {
        server.act("pane:new", with(shown(id, "cat"), "onViewClosed", json!("detach")));
        let tile = view(&server, id);
        let (server_pid, client) = (tmux.pid(), tmux.control_client().unwrap());
        signal(client, deed);
        tmux.run(&["kill-pane", "-t", &tile.id]);
        wait_within(SOON, "the truth", || (state(&server, id) == "hidden").then_some(()));
        assert_eq!(server.pane(id)["status"], "running");
        wait_for("another client", || tmux.control_client().filter(|now| *now != client));
        assert!(gone(client, SOON), "the old one is gone");
        assert_eq!(tmux.pid(), server_pid);
    }
    assert_eq!(state(&server, "main"), "shown");
    assert_eq!(tmux.panes().len(), 1);
}

#[test]
fn a_tmux_server_that_is_stopped_is_waited_for() {
    let server = Server::start();
    show(&server, "main", COUNT);
    let tile = show(&server, "b", "cat");
    let tmux = Tmux::of(&server);
    let pid = tmux.pid().unwrap();
    signal(pid, Signal::STOP);
    until_state(&server, "main", "waiting");
    signal(pid, Signal::CONT);
    until_state(&server, "main", "shown");
    until_state(&server, "b", "shown");
    // tmux 3.3a may crash when it continues and some of its clients have disconnected meanwhile.
    // Then another tmux server runs.
    assert_eq!(tmux.panes().len(), 2, "{}", server.log());
    let now = view(&server, "b");
    assert!(tmux.pid() != Some(pid) || now.id == tile.id);
    check_count(&server, "main");
    tmux.run(&["kill-pane", "-t", &now.id]);
    wait_for("b is closed", || {
        server.try_act("pane:get", json!({ "paneId": "b" })).is_err().then_some(())
    });
}

#[test]
fn nothing_comes_back_of_what_has_ended_meanwhile() {
    let mut server = Server::start();
    show(&server, "a", "read x");
    let tmux = Tmux::of(&server);
    server.kill();
    tmux.run(&["send-keys", "-t", &tmux.view("a").unwrap().id, "Enter"]);
    wait_for("its end", || tmux.view("a").is_none().then_some(()));
    kill9(tmux.pid().unwrap());
    server.start_again();
    until_state(&server, "a", "hidden");
    wait_for("no session", || (server.act("session:list", json!({})) == json!([])).then_some(()));
    assert_eq!(count(&server, of_session("session:stopped", "main")), 1);
    until_no_tmux(&server);
}

#[test]
fn the_view_goes_on_while_our_server_is_away() {
    let mut server = Server::start();
    show(&server, "main", "cat");
    server.act("pane:new", with(shown("detach", "cat"), "onViewClosed", json!("detach")));
    show(&server, "close", "cat");
    let tmux = Tmux::of(&server);
    let person = AttachedTmuxClient::attach(&tmux, "main", Size { cols: 220, rows: 51 });
    wait_for("a person", || {
        (server.act("session:list", json!({}))[0]["attached"] == 1).then_some(())
    });
    let (pid, views) = (tmux.pid(), tmux.panes());
    server.kill();
    person.types("nobody home\r");
    person.wait_for_text("nobody home");
    for id in ["detach", "close"] {
        tmux.run(&["kill-pane", "-t", &tmux.view(id).unwrap().id]);
    }
    server.start_again();
    until(&server, "main", "^nobody home$");
    until_state(&server, "detach", "hidden");
    wait_for("closed", || {
        server.try_act("pane:get", json!({ "paneId": "close" })).is_err().then_some(())
    });
    assert_eq!(server.pane("detach")["status"], "running");
    assert_eq!((state(&server, "main"), tmux.pid()), ("shown".into(), pid));
    assert_eq!(view(&server, "main").id, views[0].id);
    assert_eq!(server.act("session:list", json!({}))[0]["attached"], 1);
    assert_eq!(count(&server, |told| told.name == "session:started"), 1, "it is the same session");
}
