//! Input behind a guard, on real ptys: what is no longer as it was seen is not typed into.
#![forbid(unsafe_code)]

use std::thread;

use paned_e2e::{KeeperClient, Server, script, wait_for};
use paned_model::frame::{InputGuard, RefusalReason};
use serde_json::json;

/// A pane that prints just what it reads.
#[track_caller]
fn mirror(server: &Server, id: &str) {
    server.act("pane:new", script(id, "stty raw -echo; printf ready; exec cat"));
    printed(server, id, "ready");
}

#[track_caller]
fn printed(server: &Server, id: &str, text: &str) -> u64 {
    wait_for(text, || (server.text(id) == text).then(|| server.tape(id).end()))
}

fn at(end: u64) -> InputGuard {
    InputGuard { end: Some(end), typed: None }
}

fn after(typed: u64) -> InputGuard {
    InputGuard { end: None, typed: Some(typed) }
}

#[test]
fn what_was_printed_since_the_look_stops_a_write() {
    let server = Server::start();
    mirror(&server, "m");
    let mut visitor = KeeperClient::connect(&server, "m");
    assert_eq!(visitor.type_if(at(5), "one").refused, None);
    let end = printed(&server, "m", "readyone");
    for stale in [0, 5, end - 1, end + 1] {
        assert_eq!(visitor.type_if(at(stale), "stale").refused, Some(RefusalReason::Stale));
    }
    assert_eq!(visitor.type_if(at(end), "two").refused, None);
    printed(&server, "m", "readyonetwo");
}

#[test]
fn whoever_typed_since_the_look_stops_a_write() {
    let server = Server::start();
    mirror(&server, "m");
    let mut visitor = KeeperClient::connect(&server, "m");
    let mut person = KeeperClient::connect(&server, "m");
    assert_eq!(visitor.typed(), 0);
    assert_eq!(visitor.type_if(after(0), "a").typed, Some(0), "a guarded write is nobody's");
    assert_eq!(person.type_in("b").typed, Some(1));
    let refused = visitor.type_if(after(0), "stale");
    assert_eq!((refused.refused, refused.typed), (Some(RefusalReason::Stale), Some(1)));
    assert_eq!(visitor.type_if(after(1), "c").refused, None);
    // Through the server as well as beside it.
    server.act("pane:write", json!({ "paneId": "m", "text": "d" }));
    assert_eq!(visitor.type_if(after(1), "stale").typed, Some(2));
    // Looking at a pane, or moving a mouse over it, is not typing.
    assert_eq!(person.type_in("\u{1b}[I\u{1b}[<35;4;5M").typed, Some(2));
    assert_eq!(visitor.type_if(after(2), "e").refused, None);
    printed(&server, "m", "readyabcd\u{1b}[I\u{1b}[<35;4;5Me");
}

#[test]
fn what_is_not_read_yet_stops_a_write() {
    let server = Server::start();
    server.act("pane:new", script("deaf", "stty raw -echo; printf ready; exec tail -f /dev/null"));
    printed(&server, "deaf", "ready");
    let mut visitor = KeeperClient::connect(&server, "deaf");
    // One key waits in the pty.
    assert_eq!(visitor.type_if(at(5), "\r").refused, None);
    assert_eq!(visitor.type_if(at(5), "\r").refused, Some(RefusalReason::Unread));
    // More than a pty holds waits in the keeper.
    assert_eq!(visitor.type_if(InputGuard::default(), &"x".repeat(200_000)).refused, None);
    assert_eq!(visitor.type_if(at(5), "\r").refused, Some(RefusalReason::Unread));
}

#[test]
fn of_many_writers_each_is_refused_or_heard_once() {
    const WRITERS: usize = 8;
    const EACH: usize = 25;
    let server = Server::start();
    mirror(&server, "m");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let server = &server;
            scope.spawn(move || write_in_turn(server, writer, EACH));
        }
    });
    let texts: Vec<_> =
        (0..WRITERS).flat_map(|writer| (0..EACH).map(move |n| token(writer, n))).collect();
    let length: usize = texts.iter().map(String::len).sum();
    let printed = wait_for("all of it", || {
        let printed = server.text("m");
        (printed.len() == length + 5).then_some(printed)
    });
    for text in texts {
        assert_eq!(printed.matches(&text).count(), 1, "{text}");
    }
}

fn token(writer: usize, n: usize) -> String {
    format!("<{writer}.{n}>")
}

/// Looks and writes until each of its texts went through.
fn write_in_turn(server: &Server, writer: usize, each: usize) {
    let mut visitor = KeeperClient::connect(server, "m");
    for n in 0..each {
        wait_for("a moment when nothing moved", || {
            let end = server.tape("m").end();
            visitor.type_if(at(end), &token(writer, n)).refused.is_none().then_some(())
        });
    }
}
