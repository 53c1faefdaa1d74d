//! Sessions: started, listed, attached to, stopped, and nothing left when nothing is shown.

use paned_e2e::{AttachedTmuxClient, Server, Tmux, script, wait_for};
use paned_model::{Code, Size};
use serde_json::json;

use super::*;

#[test]
fn a_session_lives_from_start_to_stop() {
    let server = Server::start();
    let mut events = server.events("session:*", None);
    let argv = ["/bin/bash", "--norc", "-c", "echo ready; cat"];
    let start =
        json!({ "name": "work", "argv": argv, "cwd": "/tmp", "size": { "cols": 180, "rows": 40 } });
    let made = server.act("session:start", start.clone());
    assert_eq!(made["size"], json!({ "cols": 180, "rows": 40 }));
    events.until(of_session("session:started", "work"));
    let list = server.act("session:list", json!({}));
    assert_eq!(list, json!([made]));
    let pane = made["panes"][0].as_str().unwrap().to_owned();
    assert_eq!(server.pane(&pane)["view"]["session"], "work");
    assert_eq!(server.pane(&pane)["substrate"], "tmux");
    refused(&server, "session:start", start, Code::Conflict, "`work` already");
    assert_eq!(
        server.act("pane:list", json!({})).as_array().unwrap().len(),
        1,
        "the second is not left behind"
    );

    // As the answer says, so it is done.
    let tmux = Tmux::of(&server);
    assert_eq!(made["socket"], tmux.path());
    let target = made["target"].as_str().unwrap();
    let person = AttachedTmuxClient::attach(&tmux, target, Size { cols: 100, rows: 30 });
    let told = events.until(of_session("session:attached", "work"));
    assert_eq!(told.data["attached"], 1);
    person.wait_for_text("ready");
    let second = AttachedTmuxClient::attach(&tmux, target, Size { cols: 100, rows: 30 });
    let told = events.until(of_session("session:attached", "work"));
    assert_eq!(told.data["attached"], 2);
    assert_eq!(server.act("session:list", json!({}))[0]["attached"], 2);
    second.types("\u{2}d");
    let told = events.until(of_session("session:detached", "work"));
    assert_eq!(told.data["attached"], 1);
    drop(person);
    let told = events.until(of_session("session:detached", "work"));
    assert_eq!(told.data["attached"], 0);

    let stopped = server.act("session:stop", json!({ "name": "work" }));
    assert_eq!(stopped, json!({ "name": "work", "closed": [pane], "kept": [] }));
    events.until(of_session("session:stopped", "work"));
    assert_eq!(server.act("session:list", json!({})), json!([]));
    assert!(server.try_act("pane:get", json!({ "paneId": pane })).is_err());
    refused(&server, "session:stop", json!({ "name": "work" }), Code::NotFound, "session:list");
    until_no_tmux(&server);
    assert_eq!(count(&server, of_session("session:stopped", "work")), 1);
}

#[test]
fn programs_go_on_when_only_the_session_is_stopped() {
    let server = Server::start();
    show(&server, "a", "cat");
    server.act("pane:new", with(shown("b", "cat"), "onViewClosed", json!("detach")));
    server.act("session:start", json!({ "name": "other", "argv": ["cat"] }));
    let stopped = server.act("session:stop", json!({ "keepPanes": true }));
    assert_eq!(stopped["closed"], json!([]));
    assert_eq!(stopped["kept"].as_array().unwrap().len(), 2);
    for id in ["a", "b"] {
        assert_eq!(
            (server.pane(id)["status"].clone(), state(&server, id)),
            (json!("running"), "hidden".into())
        );
    }
    assert!(Tmux::of(&server).pid().is_some(), "the other session is still there");
    // And back on the stage.
    server.act("layout:place", json!({ "paneId": "a" }));
    assert_eq!(state(&server, "a"), "shown");
    view(&server, "a");
}

#[test]
fn the_tmux_server_ends_with_the_last_view() {
    let server = Server::start();
    let mut events = server.events("*", None);
    show(&server, "a", "read x");
    server.act("pane:write", json!({ "paneId": "a", "text": "\n" }));
    events.until(about("pane:hidden", "a"));
    events.until(of_session("session:stopped", "main"));
    until_no_tmux(&server);
    assert_eq!(server.pane("a")["exitCode"], 0);
    assert_eq!(state(&server, "a"), "hidden");

    show(&server, "b", "cat");
    server.act("layout:hide", json!({ "paneId": "b" }));
    assert_eq!(server.pane("b")["status"], "running");
    until_no_tmux(&server);

    show(&server, "c", "cat");
    server.act("pane:close", json!({ "paneId": "c" }));
    until_no_tmux(&server);
}

#[test]
fn what_is_refused_leaves_no_tmux_server() {
    let server = Server::start();
    let bad = with(shown("a", "cat"), "cwd", json!("/no/such/folder"));
    assert!(server.try_act("pane:new", bad).is_err());
    refused(&server, "layout:get", json!({}), Code::NotFound, "main");
    server.act("pane:new", script("b", "cat"));
    refused(&server, "pane:activate", json!({ "paneId": "b" }), Code::NotFound, "layout:place");
    until_no_tmux(&server);
    assert_eq!(server.act("session:list", json!({})), json!([]));
    assert_eq!(Tmux::of(&server).pid(), None);
}

#[test]
fn one_can_start_and_stop_as_fast_as_one_likes() {
    let server = Server::start();
    for round in 0..10 {
        let made = server.act("session:start", json!({ "name": "s", "argv": ["cat"] }));
        assert_eq!(made["panes"].as_array().unwrap().len(), 1, "{round}");
        server.act("session:stop", json!({ "name": "s" }));
    }
    until_no_tmux(&server);
    assert_eq!(count(&server, of_session("session:started", "s")), 10);
    assert_eq!(count(&server, of_session("session:stopped", "s")), 10);
}

#[test]
fn nothing_need_be_said_to_start_a_session() {
    let server = Server::start();
    let made = server.act("session:start", json!({}));
    assert_eq!(
        (&made["name"], &made["size"]),
        (&json!("main"), &json!({ "cols": 200, "rows": 50 }))
    );
    let pane = made["panes"][0].as_str().unwrap();
    assert_eq!(server.pane(pane)["argv"], json!(["/bin/sh", "-l"]));
    server.act("pane:write", json!({ "paneId": pane, "text": "echo a$((20+2))b\n" }));
    until(&server, pane, "a22b");
    until_screen(&Tmux::of(&server), &view(&server, pane).id, "a22b");
}

#[test]
fn a_name_is_told_from_one_that_begins_like_it() {
    let server = Server::start();
    for name in ["agent-1", "agent-10", "a.b", "-x"] {
        server.act("session:start", json!({ "name": name, "argv": ["cat"] }));
    }
    server.act("session:stop", json!({ "name": "agent-1" }));
    let list = server.act("session:list", json!({}));
    let mut names: Vec<_> =
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["-x", "a.b", "agent-10"]);
    refused(&server, "session:stop", json!({ "name": "agent" }), Code::NotFound, "agent");
}

#[test]
fn without_tmux_there_is_a_reason() {
    let empty = tempfile::tempdir().unwrap();
    for program in ["bash", "cat", "vim"] {
        let found = std::env::var("PATH").unwrap();
        let found = found.split(':').map(|folder| format!("{folder}/{program}"));
        let found = found.into_iter().find(|file| std::path::Path::new(file).exists()).unwrap();
        std::os::unix::fs::symlink(found, empty.path().join(program)).unwrap();
    }
    let server = Server::start_set("", &[("PATH", empty.path().to_str().unwrap())]);
    refused(&server, "pane:new", shown("a", "cat"), Code::Unavailable, "tmux");
    refused(&server, "session:start", json!({}), Code::Unavailable, "tmux");
    assert_eq!(server.act("pane:list", json!({})), json!([]), "nothing is left behind");
    assert_eq!(server.act("session:list", json!({})), json!([]));
    server.act("pane:new", script("b", "cat"));
    for action in ["layout:place", "layout:plan", "layout:get"] {
        let params = match action {
            "layout:place" => json!({ "paneId": "b" }),
            "layout:plan" => json!({ "panes": ["b"] }),
            _ => json!({}),
        };
        refused(&server, action, params, Code::Unavailable, "tmux");
    }
    assert_eq!(server.pane("b")["status"], "running");
    // It would have been nicer to be seen.
    let made = server
        .act("pane:new", json!({ "id": "v", "argv": ["vim", "-u", "NONE"], "visible": "auto" }));
    assert_eq!((&made["status"], made.get("view")), (&json!("running"), None));
}

#[test]
fn a_program_that_ends_at_once_is_no_failure() {
    let server = Server::start();
    for number in 0..20 {
        let id = format!("p{number}");
        let session = if number % 2 == 0 { "alone" } else { "shared" };
        server.act("pane:new", in_session(session, &id, "echo here; exit 3"));
        server.act("pane:wait", json!({ "paneId": id, "exit": true }));
        until_state(&server, &id, "hidden");
        assert_eq!(server.pane(&id)["exitCode"], 3);
        assert_eq!(server.text(&id), "here\r\n");
        if number == 0 {
            server.act("pane:new", in_session("shared", "main", "cat"));
        }
    }
    server.act("pane:close", json!({ "paneId": "main" }));
    until_no_tmux(&server);
}

#[test]
fn a_view_goes_when_its_program_does_and_the_last_bytes_are_kept() {
    let server = Server::start();
    let mut events = server.events("*", None);
    show(&server, "a", "cat");
    server.act("pane:new", shown("b", "read x; seq 20000; exit 7"));
    server.act("pane:write", json!({ "paneId": "b", "text": "\n" }));
    events.until(about("pane:exited", "b"));
    assert_eq!(server.pane("b")["exitCode"], 7);
    assert!(server.text("b").ends_with("\r\n20000\r\n"));
    let tmux = Tmux::of(&server);
    wait_for("the view of b is gone", || tmux.view("b").is_none().then_some(()));
    until_state(&server, "b", "hidden");
    assert_eq!(state(&server, "a"), "shown");
}

/// Some users have tmux keep the pane of a program that has ended, and on a busy machine it is not
/// closed yet: then we close it.
#[test]
fn a_program_whose_view_we_closed_is_shown_again() {
    let server = Server::start();
    show(&server, "a", "echo run; cat");
    Tmux::of(&server).run(&["set-option", "-g", "remain-on-exit", "on"]);
    server.act("pane:write", json!({ "paneId": "a", "text": "\u{4}" }));
    until_state(&server, "a", "hidden");
    server.act("pane:restart", json!({ "paneId": "a" }));
    view(&server, "a");
}

#[test]
fn a_program_that_is_started_again_is_shown_again() {
    let server = Server::start();
    show(&server, "a", "echo run; cat");
    show(&server, "b", "cat");
    // While it runs, after its own end, and while its policy waits.
    server.act("pane:restart", json!({ "paneId": "a" }));
    view(&server, "a");
    server.act("pane:write", json!({ "paneId": "a", "text": "\u{4}" }));
    until_state(&server, "a", "hidden");
    server.act("pane:restart", json!({ "paneId": "a" }));
    view(&server, "a");
    server.act("pane:new", with(shown("c", "echo run; cat"), "restart", json!("always")));
    view(&server, "c");
    let mut events = server.events("pane:restarted", None);
    server.act("pane:write", json!({ "paneId": "c", "text": "\u{4}" }));
    events.until(about("pane:restarted", "c"));
    view(&server, "c");
    assert_eq!(server.pane("c")["status"], "running");
    // One that a user has hidden stays so.
    server.act("layout:hide", json!({ "paneId": "b" }));
    server.act("pane:restart", json!({ "paneId": "b" }));
    assert!(server.pane("b")["view"].is_null());
}
