//! Panes over the WebSocket, with real programs and real disconnects.
#![forbid(unsafe_code)]

use paned_e2e::{Frame, SeededRng, Server, script};
use serde_json::json;

#[test]
fn a_hundred_disconnects_lose_and_repeat_nothing() {
    let mut server = Server::start();
    let mut dice = SeededRng::new();
    server.act("pane:new", script("a", "seq 1700000"));
    let expect: String = (1..=1_700_000).map(|n| format!("{n}\r\n")).collect();
    let (mut got, mut disconnects, mut over) = (Vec::new(), 0, false);
    while !over {
        let mut socket = server.socket_to_panes();
        let channel = socket.subscribe("a", json!(got.len()));
        let patience = if disconnects < 100 { dice.below(2) } else { u64::MAX };
        for _ in 0..=patience {
            match socket.next() {
                Frame::Output(_, offset, bytes) => {
                    assert_eq!(offset, got.len() as u64);
                    got.extend(bytes);
                    socket.send(&json!({ "type": "ack", "channel": channel, "offset": got.len() }));
                }
                Frame::Message(said) => {
                    assert_eq!(said["type"], "exit", "{said}");
                    over = true;
                    break;
                }
                screen @ Frame::Screen(..) => panic!("{screen:?} was not asked for"),
            }
        }
        disconnects += 1;
        if disconnects == 30 {
            server.kill();
            server.start_again();
        }
    }
    assert!(100 < disconnects);
    assert!(got == expect.as_bytes(), "{} bytes of {}", got.len(), expect.len());
}

#[test]
fn a_late_joiner_gets_the_screen_and_then_what_follows() {
    let server = Server::start();
    let mut events = server.events("pane:title", None);
    let text =
        "printf '\\033[31mred\\033[0m and plain'; printf '\\033]0;ready\\007'; read go; echo more";
    server.act("pane:new", script("a", text));
    events.until(|told| told.data["title"] == "ready");
    let mut socket = server.socket_to_panes();
    let channel = socket.subscribe("a", json!("screen"));
    let Frame::Screen(of, offset, screen) = socket.next() else { panic!("no screen") };
    assert_eq!((of, offset), (channel, server.tape("a").end()));
    assert!(String::from_utf8_lossy(&screen).contains("and plain"));
    socket.send(&json!({ "type": "input", "pane": "a", "text": "go\r" }));
    let mut after = Vec::new();
    loop {
        match socket.next() {
            Frame::Output(_, from, bytes) => {
                assert_eq!(from, offset + after.len() as u64);
                after.extend(bytes);
            }
            Frame::Message(said) if said["type"] == "exit" => break,
            Frame::Message(said) => assert_eq!(said["type"], "ok", "{said}"),
            Frame::Screen(..) => panic!("a second screen"),
        }
    }
    assert_eq!(after, b"go\r\nmore\r\n");
}
