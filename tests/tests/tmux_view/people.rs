//! A person at a terminal, and the API, each seeing what the other does.

use paned_e2e::{AttachedTmuxClient, Server, Tmux, wait_for};
use paned_model::Size;
use serde_json::json;

use super::*;

const TERMINAL: Size = Size { cols: 220, rows: 61 };
/// The keys that begin a command to tmux.
const PREFIX: &str = "\u{2}";

#[track_caller]
fn attach_client(server: &Server) -> AttachedTmuxClient {
    let mut events = server.events("session:attached", Some(0));
    let person = AttachedTmuxClient::attach(&Tmux::of(server), "main", TERMINAL);
    events.until(of_session("session:attached", "main"));
    person
}

#[test]
fn typing_and_printing_go_both_ways() {
    let server = Server::start();
    let tile = show(&server, "a", "echo ready; cat");
    let person = attach_client(&server);
    person.wait_for_text("ready");
    person.types("from the person\r");
    until(&server, "a", "^from the person$");
    server.act("pane:write", json!({ "paneId": "a", "text": "from the api\n" }));
    person.wait_for_text("from the api");
    until_screen(&Tmux::of(&server), &tile.id, "from the api");
    // A key that attach would take for itself elsewhere is the program's here.
    person.types("\u{1d}x\r");
    until(&server, "a", "x$");
    assert_eq!(state(&server, "a"), "shown");
}

#[test]
fn the_size_is_the_persons() {
    let server = Server::start();
    show(&server, "a", "cat");
    assert_eq!(wait_size(&server, "a", USUAL), USUAL);
    let person = attach_client(&server);
    // The status line is tmux's.
    wait_size(&server, "a", Size { cols: 220, rows: 60 });
    person.resizes(Size { cols: 90, rows: 31 });
    wait_size(&server, "a", Size { cols: 90, rows: 30 });
    let said = server.pane("a")["size"].clone();
    assert_eq!(said, json!({ "cols": 90, "rows": 30 }));
}

#[track_caller]
fn wait_size(server: &Server, id: &str, size: Size) -> Size {
    let tape = server.tape(id);
    wait_for(&format!("{size:?}"), || (tape.size() == size).then_some(size))
}

#[test]
fn closing_a_view_closes_the_pane_or_not() {
    let server = Server::start();
    let mut events = server.events("pane:*", None);
    show(&server, "main", "cat");
    show(&server, "close", "cat");
    server.act("pane:new", with(shown("detach", "cat"), "onViewClosed", json!("detach")));
    let person = attach_client(&server);
    for id in ["close", "detach"] {
        let tile = view(&server, id);
        server.act("pane:activate", json!({ "paneId": id }));
        events.until(about("pane:activated", id));
        wait_for("the focus", || Tmux::of(&server).view(id)?.active.then_some(()));
        person.type_until(
            &format!("{PREFIX}x"),
            &format!("kill-pane {}? (y/n)", index(&server, &tile.id)),
        );
        person.types("y");
        events.until(about("pane:hidden", id));
    }
    let is_closed = || server.try_act("pane:get", json!({ "paneId": "close" })).is_err();
    wait_for("its end", || is_closed().then_some(()));
    assert_eq!(server.pane("detach")["status"], "running");
    assert_eq!(state(&server, "detach"), "hidden");
    server.act("pane:write", json!({ "paneId": "detach", "text": "alive\n" }));
    until(&server, "detach", "^alive$");
    assert_eq!(state(&server, "main"), "shown");
}

fn index(server: &Server, tile: &str) -> String {
    Tmux::of(server).run(&["display-message", "-p", "-t", tile, "#{pane_index}"])
}

#[test]
fn a_person_who_kills_the_window_closes_all() {
    let server = Server::start();
    let mut events = server.events("*", None);
    show(&server, "a", "cat");
    show(&server, "b", "trap '' HUP; cat");
    let person = attach_client(&server);
    person.type_until(&format!("{PREFIX}&"), "(y/n)");
    person.types("y");
    let mut left = vec!["a".to_owned(), "b".to_owned()];
    while !left.is_empty() {
        let told = events.until(|told| told.name == "pane:removed");
        left.retain(|id| told.data["paneId"] != id.as_str());
    }
    until_no_tmux(&server);
    assert_eq!(count(&server, of_session("session:stopped", "main")), 1);
}

#[test]
fn the_focus_is_told_whoever_moves_it() {
    let server = Server::start();
    let first = show(&server, "a", "cat");
    show(&server, "b", "cat");
    let mut events = server.events("pane:activated", None);
    let person = attach_client(&server);
    server.act("pane:activate", json!({ "paneId": "b" }));
    events.until(about("pane:activated", "b"));
    wait_for("b has the focus", || Tmux::of(&server).view("b")?.active.then_some(()));
    person.types(&format!("{PREFIX}o"));
    assert_eq!(events.next().data["paneId"], "a", "once for b, then for a");
    // Another client's command, and one that changes nothing.
    let tmux = Tmux::of(&server);
    tmux.run(&["select-pane", "-t", &first.id]);
    tmux.run(&["select-pane", "-t", &view(&server, "b").id]);
    assert_eq!(events.next().data["paneId"], "b");
    // Typing goes where the focus is.
    person.types("here\r");
    until(&server, "b", "^here$");
    assert_eq!(server.text("a"), "");
}

#[test]
fn panes_of_a_person_in_our_window_stay_theirs() {
    let server = Server::start();
    show(&server, "a", "cat");
    let person = attach_client(&server);
    let tmux = Tmux::of(&server);
    person.types(&format!("{PREFIX}\""));
    let foreign =
        wait_for("a split", || tmux.panes().into_iter().find(|tile| tile.shows.is_empty()));
    let shot = wait_for("three panes in two", || {
        let shot = server.act("layout:get", json!({}));
        (shot["panes"].as_array().unwrap().len() == 2).then_some(shot)
    });
    let owners: Vec<_> =
        shot["panes"].as_array().unwrap().iter().map(|tile| tile["owner"].clone()).collect();
    assert_eq!(owners, [json!("main"), json!("foreign")]);
    show(&server, "b", "cat");
    let after = tmux.panes().into_iter().find(|tile| tile.id == foreign.id).unwrap();
    assert_eq!((after.pid, after.size), (foreign.pid, foreign.size), "it was not touched");
    server.act("pane:close", json!({ "paneId": "b" }));
    wait_for("b is gone", || tmux.view("b").is_none().then_some(()));
    let after = tmux.panes().into_iter().find(|tile| tile.id == foreign.id).unwrap();
    assert_eq!((after.pid, after.size), (foreign.pid, foreign.size));
}

#[test]
fn a_zoom_is_seen_and_kept() {
    let server = Server::start();
    show(&server, "a", "cat");
    show(&server, "b", "cat");
    let person = attach_client(&server);
    let zoomed = |expect: bool| {
        wait_for("zoom", || {
            (server.act("layout:get", json!({}))["zoomed"] == expect).then_some(())
        });
    };
    person.types(&format!("{PREFIX}z"));
    zoomed(true);
    wait_size(&server, "a", Size { cols: 220, rows: 60 });
    show(&server, "c", "cat");
    zoomed(true);
    assert!(view(&server, "a").active, "the person still looks at a");
    person.types(&format!("{PREFIX}z"));
    zoomed(false);
    assert_eq!(Tmux::of(&server).panes().len(), 3);
}

#[test]
fn a_pane_closed_over_the_api_is_gone_from_the_persons_terminal() {
    let server = Server::start();
    show(&server, "a", "cat");
    show(&server, "b", "cat");
    let _person = attach_client(&server);
    server.act("pane:kill", json!({ "paneId": "b" }));
    let tmux = Tmux::of(&server);
    wait_for("one pane of full width", || {
        (tmux.panes().len() == 1 && tmux.panes()[0].size.cols == 220).then_some(())
    });
    until_state(&server, "b", "hidden");
}

#[test]
fn a_session_that_a_person_renames_is_the_same() {
    let server = Server::start();
    let mut events = server.events("*", None);
    show(&server, "a", "cat");
    show(&server, "b", "cat");
    let tmux = Tmux::of(&server);
    tmux.run(&["rename-session", "-t", "main", "mine"]);
    events.until(of_session("session:started", "mine"));
    events.until(of_session("session:stopped", "main"));
    assert_eq!(server.act("session:list", json!({}))[0]["name"], "mine");
    assert_eq!(server.pane("b")["view"]["session"], "mine");
    // A pane taken into a window of its own is still seen, and found.
    tmux.run(&["break-pane", "-d", "-s", &view(&server, "b").id]);
    server.act("pane:activate", json!({ "paneId": "b" }));
    events.until(about("pane:activated", "b"));
    paned_e2e::kill9(tmux.pid().unwrap());
    wait_for("both again", || Some((tmux.view("a")?, tmux.view("b")?)));
    assert_eq!(view(&server, "a").session, "mine");
    server.act("session:stop", json!({ "name": "mine" }));
    until_no_tmux(&server);
}

#[test]
fn a_title_is_seen_in_tmux() {
    let server = Server::start();
    show(&server, "a", "cat");
    server.act("pane:rename", json!({ "paneId": "a", "title": "my work" }));
    wait_for("the title", || (view(&server, "a").title == "my work").then_some(()));
    paned_e2e::kill9(Tmux::of(&server).pid().unwrap());
    wait_for("the title again", || (Tmux::of(&server).view("a")?.title == "my work").then_some(()));
    assert_eq!(server.pane("a")["title"], "my work");
}
