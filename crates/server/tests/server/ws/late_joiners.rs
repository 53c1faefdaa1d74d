//! A terminal that attaches late and wants the rows above the screen, and who prints.

use paned_model::{Code, Size};
use paned_term::Screen;
use serde_json::json;

use super::client::WsReceived;
use crate::test_server::TestServer;

/// What a terminal with scrollback shows after these bytes: all rows, without those that are blank
/// at the end.
fn all_rows(bytes: &[u8]) -> Vec<String> {
    let mut screen = Screen::with_history(Size::default(), 2000);
    screen.feed(bytes);
    let mut rows = screen.history();
    rows.extend(screen.view().rows);
    let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    rows.truncate(used);
    rows
}

/// Some output of a shell: colours, wrapped lines, wide characters.
fn printed(lines: usize) -> Vec<u8> {
    let line = |n: usize| match n % 4 {
        0 => format!("{n} plain\r\n"),
        1 => format!("\x1b[1;3{}m{n} coloured\x1b[0m\r\n", n % 8),
        2 => format!("{n} {}\r\n", "long ".repeat(30)),
        _ => format!("{n} 漢字 é\t{}\r\n", "語".repeat(50)),
    };
    (0..lines).map(line).collect::<String>().into_bytes()
}

#[tokio::test]
async fn a_new_terminal_gets_history_and_screen_and_nothing_is_lost_or_repeated() {
    let server = TestServer::new().await;
    for (n, lines) in [0, 3, 24, 25, 100, 400].into_iter().enumerate() {
        let id = format!("p{n}");
        server.pane(&id).await;
        let pane = server.fake.pane(&id).unwrap();
        let before = printed(lines);
        pane.print(&before);
        let mut ws = server.ws().await;
        let subscribe =
            json!({ "type": "subscribe", "pane": id, "since": "screen", "history": 1000 });
        assert_eq!(ws.ask(subscribe).await["type"], "subscribed");
        let dump = ws.bytes().await;
        assert_eq!((dump.kind, dump.offset), (2, before.len() as u64));
        assert_eq!(all_rows(&dump.bytes), all_rows(&before), "{lines} lines");
        let after = printed(60);
        pane.print(&after);
        let mut seen = dump.bytes;
        let mut at = dump.offset;
        while at < (before.len() + after.len()) as u64 {
            let live = ws.bytes().await;
            at += live.bytes.len() as u64;
            seen.extend(live.bytes);
        }
        assert_eq!(all_rows(&seen), all_rows(&[before, after].concat()), "{lines} lines");
    }
}

#[tokio::test]
async fn the_rows_are_the_last_ones_and_their_number_is_limited() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let lines: String = (0..100).map(|n| format!("{n}\r\n")).collect();
    server.fake.pane("a").unwrap().print(lines.as_bytes());
    let mut ws = server.ws().await;
    ws.ask(json!({ "type": "subscribe", "pane": "a", "history": 5 })).await;
    // 23 lines and the cursor's are on the screen.
    let rows = all_rows(&ws.bytes().await.bytes);
    assert_eq!((rows[0].as_str(), rows.len()), ("72", 28));
    for (more, field) in [
        (json!({ "history": 1001 }), "at most 1000"),
        (json!({ "history": 5, "since": "now" }), "`since`"),
        (json!({ "history": -1 }), "`history`"),
    ] {
        let mut message = json!({ "type": "subscribe", "pane": "a", "id": 1 });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = ws.ask(message).await;
        assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("invalid")));
        assert!(refused["error"].as_str().unwrap().contains(field), "{refused}");
    }
}

#[tokio::test]
async fn a_socket_that_follows_activity_is_told_who_prints() {
    let server = TestServer::new().await;
    for id in ["a", "b"] {
        server.pane(id).await;
    }
    let (_, token) = server.grant(json!({ "scopes": ["read"], "panes": ["a"] })).await;
    let mut ws = server.ws_as(&token).await;
    assert_eq!(ws.ask(json!({ "type": "activity", "on": true, "id": 1 })).await["type"], "ok");
    server.fake.pane("b").unwrap().print(b"not yours\r\n");
    server.fake.pane("a").unwrap().print(b"\x1b[1mhello\x1b[0m\r\n");
    let told = ws.text().await;
    assert_eq!(told["type"], "activity");
    let panes = told["panes"].as_array().unwrap();
    assert_eq!(panes.len(), 1, "{told}");
    assert_eq!(
        (&panes[0]["pane"], &panes[0]["lastLine"], &panes[0]["bytes"]),
        (&json!("a"), &json!("hello"), &json!(15))
    );
    assert!(panes[0]["printedAt"].is_string(), "{told}");
    assert_eq!(ws.ask(json!({ "type": "activity", "on": false, "id": 2 })).await["type"], "ok");
    server.fake.pane("a").unwrap().print(b"more\r\n");
    assert_eq!(ws.ask(json!({ "type": "ping", "id": 3 })).await["type"], "pong");

    let (_, typist) = server.grant(json!({ "scopes": ["input"] })).await;
    let mut ws = server.ws_as(&typist).await;
    ws.send(json!({ "type": "activity", "on": true })).await;
    assert_eq!(ws.refusal().await.code, Code::Forbidden);
}

#[tokio::test]
async fn a_held_size_is_released_and_another_client_can_take_it() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let (mut holder, mut other) = (server.ws().await, server.ws().await);
    let resize =
        |cols: u16| json!({ "type": "resize", "pane": "a", "cols": cols, "rows": 30, "id": 1 });
    assert_eq!(holder.ask(resize(90)).await["type"], "ok");
    assert_eq!(other.ask(resize(80)).await["code"], "conflict");
    let mut events = server.ws().await;
    events.ask(json!({ "type": "events", "include": "pane:size-held", "id": 1 })).await;
    let release = json!({ "type": "release", "pane": "a", "id": 2 });
    assert_eq!(other.ask(release.clone()).await["answer"], json!({ "id": "a", "released": false }));
    assert_eq!(other.ask(resize(80)).await["code"], "conflict");
    assert_eq!(holder.ask(release.clone()).await["answer"], json!({ "id": "a", "released": true }));
    let WsReceived::Text(told) = events.next().await else { panic!("no event") };
    assert_eq!(told["payload"]["holder"], json!(null), "{told}");
    assert_eq!(holder.ask(release).await["answer"]["released"], false);
    assert_eq!(other.ask(resize(80)).await["type"], "ok");
}
