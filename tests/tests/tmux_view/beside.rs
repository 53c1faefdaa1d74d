//! Inside a person's own tmux window: opt-in, and only the panes that we made are touched.

use paned_e2e::{AttachedTmuxClient, Server, Tmux, kill9, script, wait_for, wait_within};
use paned_model::Code;
use serde_json::json;

use super::*;

/// A tmux of somebody's with three panes, of which the first is the one to put panes beside.
fn foreign_tmux() -> (Tmux, Vec<TestTmuxPane>) {
    let tmux = Tmux::start_foreign(Size { cols: 240, rows: 50 });
    tmux.run(&["split-window", "-v", "-l", "10", "-t", "work", "cat"]);
    tmux.run(&["new-window", "-d", "-t", "work", "cat"]);
    let theirs = tmux.panes();
    assert_eq!(theirs.len(), 3);
    (tmux, theirs)
}

/// All but the first, in which room is made, as they were.
#[track_caller]
fn untouched(tmux: &Tmux, before: &[TestTmuxPane]) {
    let now = tmux.panes();
    for old in &before[1..] {
        let new = now.iter().find(|tile| tile.id == old.id).unwrap();
        assert_eq!((new.pid, new.size, &new.title), (old.pid, old.size, &old.title));
    }
    assert!(now.iter().any(|tile| tile.id == before[0].id && tile.pid == before[0].pid));
}

fn beside(tmux: &Tmux, tile: &TestTmuxPane, id: &str) -> Value {
    let variable = format!("{},1234,0", tmux.path());
    json!({ "id": id, "argv": ["cat"], "beside": tile.id, "tmux": variable })
}

#[test]
fn a_pane_is_shown_in_a_persons_window_and_nothing_else_moves() {
    let server = Server::start();
    let (tmux, theirs) = foreign_tmux();
    let person = AttachedTmuxClient::attach(&tmux, "work", Size { cols: 240, rows: 51 });
    tmux.run(&["select-pane", "-t", &theirs[0].id]);
    wait_for("somebody", || (!tmux.run(&["list-clients"]).is_empty()).then_some(()));
    let options =
        |tmux: &Tmux| tmux.run(&["show-options", "-g"]) + &tmux.run(&["show-hooks", "-g"]);
    let before = options(&tmux);
    let made = server.act("pane:new", beside(&tmux, &theirs[0], "a"));
    assert_eq!(made["view"]["state"], "shown", "{made}");
    assert_eq!(made["view"]["beside"], theirs[0].id);
    let view = tmux.view("a").unwrap();
    untouched(&tmux, &theirs);
    assert!(!view.active, "the person's focus stays");
    person.types("mine\r");
    until_screen(&tmux, &theirs[0].id, "mine");
    server.act("pane:write", json!({ "paneId": "a", "text": "hello\n" }));
    person.wait_for_text("hello");
    assert_eq!(options(&tmux), before, "their settings are theirs");
    assert_eq!(Tmux::of(&server).pid(), None, "ours was not needed");

    // Shown, moved to, hidden.
    let mut events = server.events("pane:*", None);
    server.act("pane:activate", json!({ "paneId": "a" }));
    events.until(about("pane:activated", "a"));
    assert!(tmux.view("a").unwrap().active);
    let shot = server.act("layout:get", json!({ "beside": theirs[0].id, "tmux": tmux.path() }));
    let mut owners: Vec<_> = shot["panes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tile| tile["owner"].as_str().unwrap())
        .collect();
    owners.sort_unstable();
    assert_eq!(owners, ["foreign", "main", "ours"]);
    server.act("layout:hide", json!({ "paneId": "a" }));
    assert_eq!(tmux.panes().len(), 3);
    untouched(&tmux, &theirs);
    assert_eq!(server.pane("a")["status"], "running");
}

#[test]
fn a_person_who_closes_it_in_their_window_is_seen() {
    let server = Server::start();
    let (tmux, theirs) = foreign_tmux();
    let mut events = server.events("pane:*", None);
    server.act("pane:new", beside(&tmux, &theirs[0], "a"));
    server.act("pane:new", with(beside(&tmux, &theirs[0], "b"), "onViewClosed", json!("detach")));
    for id in ["a", "b"] {
        let view = wait_for("a view", || tmux.view(id));
        tmux.run(&["kill-pane", "-t", &view.id]);
        events.until(about("pane:hidden", id));
    }
    assert_eq!(server.pane("b")["status"], "running");
    assert_eq!(state(&server, "b"), "hidden");
    wait_for("a is gone", || {
        server.try_act("pane:get", json!({ "paneId": "a" })).is_err().then_some(())
    });
    untouched(&tmux, &theirs);
}

#[test]
fn it_is_seen_in_whichever_session_the_person_works() {
    let server = Server::start();
    let (tmux, _) = foreign_tmux();
    tmux.run(&["new-session", "-d", "-s", "elsewhere", "-x", "240", "-y", "50", "cat"]);
    tmux.run(&["new-session", "-d", "-s", "third", "-x", "240", "-y", "50", "cat"]);
    for session in ["work", "elsewhere", "third"] {
        let main = tmux.panes().into_iter().find(|tile| tile.session == session).unwrap();
        let mut events = server.events("pane:*", None);
        let ids = [format!("{session}-1"), format!("{session}-2")];
        for id in &ids {
            let params = with(beside(&tmux, &main, id), "onViewClosed", json!("detach"));
            server.act("pane:new", params);
        }
        // The second goes after the news of the first, so it is news of its own.
        for id in &ids {
            let view = wait_for("a view", || tmux.view(id));
            tmux.run(&["kill-pane", "-t", &view.id]);
            events.until(about("pane:hidden", id));
            assert_eq!(server.pane(id)["status"], "running");
        }
    }
}

#[test]
fn when_their_tmux_dies_the_program_does_not() {
    let server = Server::start();
    let (tmux, theirs) = foreign_tmux();
    server.act("pane:new", beside(&tmux, &theirs[0], "a"));
    kill9(tmux.pid().unwrap());
    wait_within(SOON, "hidden", || (state(&server, "a") == "hidden").then_some(()));
    assert_eq!(server.pane("a")["status"], "running");
    // It can be shown again, here.
    server.act("layout:place", json!({ "paneId": "a" }));
    assert_eq!(view(&server, "a").session, "main");
}

#[test]
fn a_persons_window_is_looked_after_when_our_server_comes_back() {
    let mut server = Server::start();
    let (tmux, theirs) = foreign_tmux();
    for id in ["stays", "gone", "later"] {
        server.act("pane:new", beside(&tmux, &theirs[0], id));
    }
    server.kill();
    tmux.run(&["kill-pane", "-t", &tmux.view("gone").unwrap().id]);
    server.start_again();
    // It may be another tmux than then, so this is not taken for a wish to end the program.
    until_state(&server, "gone", "hidden");
    assert_eq!(server.pane("gone")["status"], "running");
    assert_eq!(state(&server, "stays"), "shown");
    tmux.run(&["kill-pane", "-t", &tmux.view("later").unwrap().id]);
    let is_closed = || server.try_act("pane:get", json!({ "paneId": "later" })).is_err();
    wait_for("closed as ever", || is_closed().then_some(()));
    // A tmux that is gone when our server comes back shows nothing.
    server.kill();
    kill9(tmux.pid().unwrap());
    server.start_again();
    until_state(&server, "stays", "hidden");
    assert_eq!(server.pane("stays")["status"], "running");
    assert_eq!(Tmux::of(&server).pid(), None);
}

#[test]
fn what_is_not_there_is_refused() {
    let server = Server::start();
    let (tmux, theirs) = foreign_tmux();
    server.act("pane:new", script("a", "cat"));
    let place = |beside: &str, tmux: &str| json!({ "paneId": "a", "beside": beside, "tmux": tmux });
    refused(&server, "layout:place", place("%77", tmux.path()), Code::NotFound, "%77");
    refused(
        &server,
        "layout:place",
        place(&theirs[0].id, "/no/such/socket"),
        Code::Unavailable,
        "",
    );
    refused(&server, "layout:place", place("work", tmux.path()), Code::Invalid, "%3");
    refused(&server, "layout:place", place("%1; kill-server", tmux.path()), Code::Invalid, "%3");
    assert_eq!(server.pane("a").get("view"), None);
    untouched(&tmux, &theirs);
    assert_eq!(tmux.panes().len(), 3);
}

#[test]
fn a_kept_layout_does_not_move_panes_of_a_person() {
    let server = Server::start();
    let (tmux, theirs) = foreign_tmux();
    server.act("pane:new", beside(&tmux, &theirs[0], "a"));
    let here = |name: &str| json!({ "name": name, "beside": theirs[0].id, "tmux": tmux.path() });
    server.act("layout:save", here("mine"));
    let before = tmux.panes();
    tmux.run(&["resize-pane", "-t", &theirs[1].id, "-y", "20"]);
    let after = tmux.panes();
    assert_ne!(before, after);
    refused(&server, "layout:apply", here("mine"), Code::Conflict, "does not manage");
    assert_eq!(tmux.panes(), after);
}
