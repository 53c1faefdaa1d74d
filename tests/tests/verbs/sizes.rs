//! One size, one owner: who holds it, who may take it, and when it is free again.

use paned_e2e::{Frame, Server, Socket, decode_output, kill9};
use paned_model::{Code, Size};
use serde_json::{Value, json};

use super::term::Term;
use super::{SIZES, start, until};

const DETACH: &str = "\u{1d}";

fn attach(server: &Server, args: &[&str], cols: u16, rows: u16) -> Term {
    let args: Vec<&str> = ["attach", "a"].iter().chain(args).copied().collect();
    Term::paned(server, &args, Size { cols, rows })
}

/// A server with a pane that says its size, and somebody attached who holds that.
fn held() -> (Server, Term) {
    let server = Server::start();
    start(&server, "a", &SIZES);
    until(&server, "a", "size 80 24");
    let mut first = attach(&server, &[], 90, 30);
    first.until("size 90 30");
    (server, first)
}

/// Whoever holds the size, as soon as that is this one.
#[track_caller]
fn until_held(server: &Server, by: impl Fn(&Value) -> bool) {
    let mut events = server.events("pane:size-held", Some(0));
    events.until(|told| told.data["paneId"] == "a" && by(&told.data["holder"]));
    assert!(by(&server.pane("a")["sizeHeldBy"]), "{}", server.pane("a"));
}

#[track_caller]
fn resize(socket: &mut Socket, message: Value) -> Value {
    socket.send(&message);
    match socket.next() {
        Frame::Message(said) => said,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whoever_comes_second_draws_what_fits_until_the_first_leaves() {
    let (server, first) = held();
    let mut second = attach(&server, &[], 72, 21);
    second.until("size 90 30");
    second.resize(Size { cols: 70, rows: 20 });
    second.until("size 90 30");
    assert_eq!(server.tape("a").size(), Size { cols: 90, rows: 30 });
    first.type_in(DETACH);
    second.until("size 70 20");
}

#[test]
fn a_holder_that_dies_holds_nothing() {
    let (server, first) = held();
    let mut second = attach(&server, &[], 72, 21);
    second.until("size 90 30");
    kill9(first.pid());
    second.until("size 72 21");
}

#[test]
fn the_size_can_be_taken_and_comes_back() {
    let (server, mut first) = held();
    let mut second = attach(&server, &["--take-size"], 72, 21);
    second.until("size 72 21");
    first.resize(Size { cols: 99, rows: 33 });
    first.until("size 72 21");
    second.type_in(DETACH);
    assert_eq!(second.end(), 0);
    first.until("size 99 33");
}

#[test]
fn an_action_does_not_resize_what_somebody_holds_unless_it_says_so() {
    let (server, _first) = held();
    let size = json!({ "cols": 60, "rows": 20 });
    let refused =
        server.try_act("pane:resize", json!({ "paneId": "a", "size": size })).unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.sentence.contains("90x30 and is held by attach"), "{refused:?}");
    let (_, err, code) = decode_output(&server.cli(&["resize", "a", "60x20"]));
    assert!(err.contains("`--force`") && code != 0, "{code}: {err}");
    server.act("pane:resize", json!({ "paneId": "a", "size": size, "force": true }));
    until(&server, "a", "size 60 20");
    until_held(&server, Value::is_null);
}

#[test]
fn a_forced_size_lasts_although_others_wait_for_it() {
    let (server, mut first) = held();
    let mut second = attach(&server, &[], 72, 21);
    second.until("size 90 30");
    server.ok(&["resize", "a", "60x20", "--force"]);
    for term in [&mut first, &mut second] {
        term.until("size 60 20");
        // All that they said before this has come.
        term.type_in(DETACH);
        assert_eq!(term.end(), 0);
    }
    assert_eq!(server.tape("a").size(), Size { cols: 60, rows: 20 });
    attach(&server, &[], 72, 21).until("size 72 21");
}

#[test]
fn a_socket_holds_what_it_resized_until_it_closes() {
    let server = Server::start();
    start(&server, "a", &SIZES);
    let mut one = server.socket_to_panes();
    let mut two = server.socket_to_panes();
    one.next();
    two.next();
    let ask =
        |cols: u16| json!({ "type": "resize", "id": 1, "pane": "a", "cols": cols, "rows": 20 });
    assert_eq!(resize(&mut one, ask(50))["type"], "ok");
    assert_eq!(resize(&mut one, ask(51))["type"], "ok");
    let refused = resize(&mut two, ask(52));
    assert_eq!(refused["code"], "conflict", "{refused}");
    until_held(&server, |by| by.as_str().is_some_and(|by| by.starts_with("websocket ")));
    drop(one);
    until_held(&server, Value::is_null);
    assert_eq!(resize(&mut two, ask(53))["type"], "ok");
    until(&server, "a", "size 53 20");
}

#[test]
fn a_dead_server_holds_nothing_and_a_new_one_learns_who_does() {
    let mut server = Server::start();
    start(&server, "a", &SIZES);
    let mut socket = server.socket_to_panes();
    socket.next();
    resize(&mut socket, json!({ "type": "resize", "id": 1, "pane": "a", "cols": 50, "rows": 20 }));
    server.kill();
    let mut first = attach(&server, &[], 90, 30);
    first.until("size 90 30");
    server.start_again();
    until_held(&server, |by| by.as_str().is_some_and(|by| by.starts_with("attach ")));
}
