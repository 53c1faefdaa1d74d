//! Panes that wait for room: so many, for so long, in order, and nobody holds up those behind.

use paned_e2e::{Server, Tmux, script, wait_for};
use paned_model::Code;
use serde_json::json;

use super::*;

/// A session with a main pane and no room for another.
#[track_caller]
fn small(server: &Server, name: &str) {
    let size = json!({ "cols": 100, "rows": 30 });
    let start = json!({ "name": name, "argv": ["cat"], "size": size, "follow": false });
    server.act("session:start", start);
}

#[track_caller]
fn wait_in(server: &Server, session: &str, id: &str) {
    let made = server.act("pane:new", with(in_session(session, id, "cat"), "wait", json!(true)));
    assert_eq!(made["view"]["state"], "waiting", "{made}");
    assert_eq!(made["status"], "running", "programs do not wait");
}

fn widen(server: &Server, session: &str, cols: u16) {
    Tmux::of(server).run(&["resize-window", "-t", session, "-x", &cols.to_string(), "-y", "30"]);
}

#[test]
fn twenty_wait_and_the_next_is_refused() {
    let server = Server::start();
    small(&server, "main");
    let mut events = server.events("layout:*", None);
    for number in 0..20 {
        wait_in(&server, "main", &format!("w{number}"));
        let told = events.until(|told| told.name == "layout:deferred");
        assert_eq!(told.data["paneId"], format!("w{number}"));
        assert!(told.data["reason"].as_str().unwrap().contains("need 105 columns"), "{told:?}");
    }
    let late = with(shown("late", "cat"), "wait", json!(true));
    refused(&server, "pane:new", late, Code::Limit, "20 requests are already waiting");
    assert!(
        server.try_act("pane:get", json!({ "paneId": "late" })).is_err(),
        "nothing is left behind"
    );
    server.act("pane:new", script("kept", "cat"));
    let place = json!({ "paneId": "kept", "wait": true });
    refused(&server, "layout:place", place.clone(), Code::Limit, "20 requests are already waiting");
    assert_eq!(server.pane("kept").get("view"), None);
    assert_eq!(server.pane("kept")["status"], "running");
    // Asking once more does not take a second place, and one that ends frees its own.
    server.act("layout:place", json!({ "paneId": "w3", "wait": true }));
    server.act("pane:close", json!({ "paneId": "w3" }));
    wait_for("a place in the queue", || {
        server.try_act("layout:place", place.clone()).is_ok().then_some(())
    });
    // A larger window takes as many as fit, in their order.
    widen(&server, "main", 160);
    for id in ["w0", "w1"] {
        until_state(&server, id, "shown");
        view(&server, id);
    }
    assert_eq!(state(&server, "w2"), "waiting");
}

#[test]
fn an_exit_lets_the_first_in_and_the_rest_wait() {
    let server = Server::start();
    server.act(
        "session:start",
        json!({ "argv": ["cat"], "size": { "cols": 160, "rows": 12 }, "follow": false }),
    );
    show(&server, "there", "read x");
    wait_in(&server, "main", "first");
    wait_in(&server, "main", "second");
    server.act("pane:write", json!({ "paneId": "there", "text": "\n" }));
    until_state(&server, "first", "shown");
    assert_eq!(state(&server, "second"), "waiting");
    server.act("layout:hide", json!({ "paneId": "first" }));
    until_state(&server, "second", "shown");
    view(&server, "second");
    assert_eq!(server.pane("first")["status"], "running");
}

#[test]
fn one_that_must_wait_holds_up_nobody() {
    let server = Server::start();
    small(&server, "one");
    small(&server, "two");
    wait_in(&server, "one", "head");
    wait_in(&server, "two", "behind");
    widen(&server, "two", 160);
    until_state(&server, "behind", "shown");
    assert_eq!(state(&server, "head"), "waiting");
    widen(&server, "one", 160);
    until_state(&server, "head", "shown");
}

#[test]
fn who_waits_too_long_is_told_so() {
    let server = Server::start_set("[layout]\npatience_seconds = 1\nwaiting = 2\n", &[]);
    small(&server, "main");
    let mut events = server.events("layout:*", None);
    wait_in(&server, "main", "a");
    wait_in(&server, "main", "b");
    let late = with(shown("c", "cat"), "wait", json!(true));
    refused(&server, "pane:new", late, Code::Limit, "2 requests are already waiting");
    for id in ["a", "b"] {
        let told = events.until(about("layout:expired", id));
        assert!(told.data["reason"].as_str().unwrap().contains("after waiting 1 s"), "{told:?}");
        let pane = server.pane(id);
        assert_eq!(pane["view"]["reason"], told.data["reason"], "{pane}");
        assert_eq!(
            (state(&server, id), &server.pane(id)["status"]),
            ("hidden".into(), &json!("running"))
        );
    }
    // Room that comes too late is nobody's.
    widen(&server, "main", 160);
    show(&server, "d", "cat");
    assert_eq!(state(&server, "a"), "hidden");
}

#[test]
fn a_pane_that_went_quiet_makes_room_where_that_is_set_and_one_that_prints_does_not() {
    let server = Server::start_set("[layout]\nreplace_quiet_seconds = 2\n", &[]);
    let size = json!({ "cols": 160, "rows": 24 });
    server.act("session:start", json!({ "argv": ["cat"], "size": size, "follow": false }));
    show(&server, "prints", "while sleep 0.2; do echo tick; done");
    show(&server, "quiet", "exec cat");
    // As an agent's pane is requested: it may replace others, and waits for room.
    server.act("pane:new", with(shown("next", "cat"), "wait", json!(true)));
    until_state(&server, "next", "shown");
    assert_eq!(state(&server, "quiet"), "hidden");
    assert_eq!(server.pane("quiet")["status"], "running", "its program keeps running");
    assert_eq!(state(&server, "prints"), "shown");
    assert!(Tmux::of(&server).view("quiet").is_none());
}

#[test]
fn one_who_waits_for_a_session_that_ends_gets_it() {
    let server = Server::start();
    small(&server, "main");
    let main = server.act("session:list", json!({}))[0]["panes"][0].as_str().unwrap().to_owned();
    wait_in(&server, "main", "heir");
    server.act("pane:close", json!({ "paneId": main }));
    until_state(&server, "heir", "shown");
    assert_eq!(view(&server, "heir").session, "main");
}

#[test]
fn a_session_that_is_stopped_ends_the_waiting_too() {
    let server = Server::start();
    small(&server, "main");
    wait_in(&server, "main", "w");
    let stopped = server.act("session:stop", json!({ "keepPanes": true }));
    assert_eq!(stopped["kept"].as_array().unwrap().len(), 2);
    assert_eq!(
        (state(&server, "w"), &server.pane("w")["status"]),
        ("hidden".into(), &json!("running"))
    );
    assert_eq!(count(&server, about("layout:expired", "w")), 1);
    until_no_tmux(&server);
}

#[test]
fn who_waits_goes_on_waiting_when_our_server_is_killed() {
    let mut server = Server::start();
    small(&server, "main");
    wait_in(&server, "main", "w");
    server.kill();
    server.start_again();
    assert_eq!(state(&server, "w"), "waiting");
    widen(&server, "main", 160);
    until_state(&server, "w", "shown");
    view(&server, "w");
}
