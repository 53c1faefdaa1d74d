//! `/ws`: every request with its reply, and messages without a request.

use std::time::Instant;

use futures_util::FutureExt;
use paned_kernel::journal::{EventDraft, Journal, JournalOptions, JournalRetention};
use paned_model::Exit;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use crate::client::DEADLINE;
use crate::test_server::{TestServer, now};
use crate::trimmed_backend::TrimmedBackend;
use crate::ws_client::{WsClient, WsReceived, answered};

impl TestServer {
    async fn pty_ws(&self) -> WsClient<TcpStream> {
        let stream = TcpStream::connect(self.pty_open_addr()).await.unwrap();
        WsClient::open(stream, &format!("ws://{}/ws", self.pty_open_addr()), &[]).await.unwrap()
    }
}

impl TestServer {
    /// A WebSocket on the main port, as a browser opens it.
    async fn main_ws(&self, token: &str) -> WsClient<TcpStream> {
        let url = format!("ws://{}/compat/opencode-pty/ws", self.address);
        let offer = format!("paned.v1, paned.bearer.{token}");
        let headers = [("sec-websocket-protocol", offer.as_str())];
        let ws = WsClient::open(self.tcp().await, &url, &headers).await.unwrap();
        assert_eq!(ws.response_headers.get("sec-websocket-protocol").unwrap(), "paned.v1");
        ws
    }
}

fn subscribe(id: &str) -> Value {
    json!({ "type": "subscribe", "sessionId": id })
}

#[track_caller]
fn says(frame: &Value, text: &str) {
    assert_eq!(frame["type"], "error", "{frame}");
    let message = frame["error"]["message"].as_str().unwrap();
    assert!(message.contains(text), "{message}");
}

#[tokio::test]
async fn sessions_are_listed() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let list = server.pty_ws().await.ask(json!({ "type": "session_list" })).await;
    let rest = server.listener("GET", "/api/sessions", None).await.json();
    assert_eq!(list, json!({ "type": "session_list", "sessions": rest }));
    assert_eq!(list["sessions"][0]["id"], id);
}

#[tokio::test]
async fn whoever_subscribes_is_told_what_is_printed_from_then_on() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let pane = server.fake.pane(&id).unwrap();
    pane.print(b"before");
    let mut ws = server.pty_ws().await;
    let subscribed = ws.ask(subscribe(&id)).await;
    assert_eq!(subscribed, json!({ "type": "subscribed", "sessionId": id }));
    pane.print(b"a\xc3");
    let message = ws.text().await;
    assert_eq!((&message["type"], &message["rawData"]), (&json!("raw_data"), &json!("a")));
    assert_eq!(message["session"]["id"], id);
    pane.print(b"\xa4");
    assert_eq!(ws.text().await["rawData"], "\u{e4}");
    let read = ws.ask(json!({ "type": "readRaw", "sessionId": id })).await;
    let expect = json!({ "type": "readRawResponse", "sessionId": id, "rawData": "beforea\u{e4}" });
    assert_eq!(read, expect);
    let gone = ws.ask(json!({ "type": "unsubscribe", "sessionId": id })).await;
    assert_eq!(gone, json!({ "type": "unsubscribed", "sessionId": id }));
    pane.print(b"more");
    assert_eq!(ws.ask(json!({ "type": "session_list" })).await["type"], "session_list");
}

#[tokio::test]
async fn a_spawn_is_told_to_all_and_then_subscribed_to() {
    let server = TestServer::new().await;
    let (mut ws, mut other) = (server.pty_ws().await, server.pty_ws().await);
    // Both sockets are open once they answer.
    other.ask(json!({ "type": "session_list" })).await;
    let spawn = json!({
        "type": "spawn", "command": "/bin/sh", "title": "T", "parentSessionId": "s",
        "notifyOnExit": true, "subscribe": true,
    });
    let update = ws.ask(spawn).await;
    assert_eq!(
        (&update["type"], &update["session"]["title"]),
        (&json!("session_update"), &json!("T"))
    );
    assert_eq!(update["session"]["notifyOnExit"], true);
    let id = update["session"]["id"].as_str().unwrap();
    assert_eq!(ws.text().await, json!({ "type": "subscribed", "sessionId": id }));
    assert_eq!(other.text().await, update);
    server.fake.pane(id).unwrap().print(b"x");
    assert_eq!(ws.text().await["rawData"], "x");
    server.fake.pane(id).unwrap().exit(Exit::Code(3));
    for ws in [&mut ws, &mut other] {
        let update = ws.text().await;
        let session = &update["session"];
        assert_eq!(update["type"], "session_update");
        assert_eq!((&session["status"], &session["exitCode"]), (&json!("exited"), &json!(3)));
    }
}

#[tokio::test]
async fn other_panes_are_never_told_of() {
    let server = TestServer::new().await;
    let mut ws = server.pty_ws().await;
    ws.ask(json!({ "type": "session_list" })).await;
    server.pane("other").await;
    server.act("pane:close", json!({ "paneId": "other" })).await;
    says(&ws.ask(subscribe("other")).await, "Session other not found");
    let id = server.session().await;
    assert_eq!(ws.text().await["session"]["id"], id);
}

/// The messages that a socket has received so far.
async fn sent(ws: &mut WsClient<TcpStream>) -> Vec<Value> {
    let mut sent = Vec::new();
    while let Some(received) = tokio::task::unconstrained(ws.next()).now_or_never() {
        match received {
            WsReceived::Text(value) => sent.push(value),
            other => panic!("this is no text: {other:?}"),
        }
    }
    sent
}

#[tokio::test]
async fn no_ghost_is_left_after_a_cleanup() {
    let server = TestServer::new().await;
    let (mut ws, mut other) = (server.pty_ws().await, server.pty_ws().await);
    other.ask(json!({ "type": "session_list" })).await;
    ws.ask(json!({ "type": "session_list" })).await;
    for _ in 0..30 {
        let id = server.session().await;
        assert_eq!(ws.text().await["session"]["id"], id);
        assert_eq!(other.text().await["session"]["id"], id);
        server.listener("DELETE", &format!("/api/sessions/{id}/cleanup"), None).await;
        // The removal is reported by now, and no message about the session follows.
        for ws in [&mut ws, &mut other] {
            let messages = sent(ws).await;
            assert_eq!(messages.len(), 2, "{messages:?}");
            assert_eq!(messages[0]["type"], "session_update");
            assert_eq!(messages[0]["session"]["status"], "killed");
            assert_eq!(messages[1], json!({ "type": "session_removed", "sessionId": id }));
        }
    }
    let list = ws.ask(json!({ "type": "session_list" })).await;
    assert_eq!(list, json!({ "type": "session_list", "sessions": [] }));
    let id = server.session().await;
    ws.text().await;
    server.act("pane:close", json!({ "paneId": id, "force": true })).await;
    // The removal comes last, whichever action removed the session.
    while ws.text().await != json!({ "type": "session_removed", "sessionId": id }) {}
    says(&ws.ask(subscribe(&id)).await, "not found");
}

#[tokio::test]
async fn an_end_is_told_after_the_last_of_the_output() {
    let server = TestServer::new().await;
    let mut ws = server.pty_ws().await;
    for _ in 0..20 {
        let id = server.session().await;
        assert_eq!(ws.text().await["session"]["id"], id);
        ws.ask(subscribe(&id)).await;
        let pane = server.fake.pane(&id).unwrap();
        pane.print(&[b'x'; 300_000]);
        pane.print(b"\xc3");
        pane.exit(Exit::Code(0));
        let mut printed = String::new();
        let end = loop {
            let message = ws.text().await;
            match message["rawData"].as_str() {
                Some(text) => printed.push_str(text),
                None => break message,
            }
        };
        assert_eq!(end["session"]["status"], "exited", "{end}");
        assert_eq!(printed.strip_suffix('\u{fffd}').map(str::len), Some(300_000));
    }
}

#[tokio::test]
async fn a_kill_is_answered_when_every_socket_was_told() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let mut ws = server.pty_ws().await;
    ws.ask(json!({ "type": "session_list" })).await;
    server.listener("DELETE", &format!("/api/sessions/{id}"), None).await;
    let messages = sent(&mut ws).await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["session"]["status"], "killed");
}

#[tokio::test]
async fn whoever_falls_behind_is_told_how_much_is_lost() {
    let ring = TrimmedBackend::default();
    let server = ring.server().await;
    let id = server.session().await;
    let pane = server.fake.pane(&id).unwrap();
    let mut ws = server.pty_ws().await;
    ws.ask(subscribe(&id)).await;
    pane.print(b"a\xc3");
    assert_eq!(ws.text().await["rawData"], "a");
    ring.drop_before(12);
    pane.print(b"0123456789abc");
    let lost = ws.text().await;
    says(&lost, &format!("Session {id}: 11 bytes of output were lost"));
    assert_eq!(ws.text().await["rawData"], "abc");
}

#[tokio::test]
async fn all_sessions_are_sent_anew_after_events_were_lost() {
    let folder = tempfile::tempdir().unwrap();
    let retention = JournalRetention { events: 1, bytes: u64::MAX };
    let options = JournalOptions { retention, must_exist: false, now };
    let (journal, opened) = Journal::open(&folder.path().join("journal"), options).unwrap();
    let server = TestServer::with_journal((journal.clone(), opened)).await;
    let id = server.session().await;
    let mut ws = server.pty_ws().await;
    let list = ws.ask(json!({ "type": "session_list" })).await;
    // More than is kept in memory, and committed while no task of this thread has a turn: the
    // socket's events are dropped before it can read them.
    for _ in 0..6 {
        let payload = json!("x".repeat(1 << 20)).to_string();
        let before = journal.last();
        journal.record(vec![EventDraft { name: "a:b".to_owned(), payload }], Vec::new());
        let began = Instant::now();
        while journal.last() == before {
            assert!(began.elapsed() < DEADLINE, "it is not committed");
            std::thread::yield_now();
        }
    }
    assert_eq!(ws.text().await, list);
    // It is known which sessions the client knows.
    server.listener("DELETE", &format!("/api/sessions/{id}/cleanup"), None).await;
    assert_eq!(ws.text().await["session"]["status"], "killed");
    assert_eq!(ws.text().await, json!({ "type": "session_removed", "sessionId": id }));
}

#[tokio::test]
async fn what_was_typed_before_a_goodbye_is_typed() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let mut ws = server.pty_ws().await;
    for _ in 0..40 {
        ws.send(json!({ "type": "input", "sessionId": id, "data": "x" })).await;
    }
    ws.send_raw(Message::Close(None)).await;
    let began = Instant::now();
    while server.fake.pane(&id).unwrap().typed().len() < 40 {
        assert!(began.elapsed() < DEADLINE, "{:?}", server.fake.pane(&id).unwrap().typed());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn whoever_may_only_look_is_told_that_nothing_was_typed() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let input = json!({ "type": "input", "sessionId": id, "data": "x" });
    let (_, reads) = server.grant(json!({ "scopes": ["read"] })).await;
    says(&server.main_ws(&reads).await.ask(input.clone()).await, "Failed to write to session");
    let (_, types) = server.grant(json!({ "scopes": ["input"] })).await;
    let mut ws = server.main_ws(&types).await;
    ws.send(input).await;
    says(&ws.ask(json!({ "type": "session_list" })).await, "read");
    assert_eq!(server.fake.pane(&id).unwrap().typed(), b"x");
}

#[tokio::test]
async fn input_is_typed_in_order_and_never_answered() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let mut ws = server.pty_ws().await;
    for (session, data) in [(id.as_str(), "a"), ("pty_00000000", "b"), (id.as_str(), "c")] {
        ws.send(json!({ "type": "input", "sessionId": session, "data": data })).await;
    }
    assert_eq!(ws.ask(json!({ "type": "session_list" })).await["type"], "session_list");
    assert_eq!(server.fake.pane(&id).unwrap().typed(), b"ac");
}

#[tokio::test]
async fn what_is_not_understood_is_told_and_ends_nothing() {
    let server = TestServer::new().await;
    let mut ws = server.pty_ws().await;
    says(&ws.ask(json!({ "type": "dance" })).await, "Unknown message type");
    ws.send_raw(Message::text("{")).await;
    says(&ws.text().await, "JSON Parse error");
    ws.send_raw(Message::binary(vec![1])).await;
    says(&ws.text().await, "Binary messages are not supported");
    says(&ws.ask(json!({ "type": "spawn" })).await, "Command is required");
    let none = json!({ "type": "spawn", "command": "/no/such" });
    says(&ws.ask(none).await, "PTY spawn failed: no program `/no/such`");
    let nowhere = json!({ "type": "spawn", "command": "/bin/sh", "workdir": "/no/such" });
    says(&ws.ask(nowhere).await, "PTY spawn failed: cannot use `cwd` `/no/such`");
    let unread = json!({ "type": "spawn", "command": "/bin/sh", "args": "-c" });
    says(&ws.ask(unread).await, "PTY spawn failed: invalid type");
    says(&ws.ask(json!({ "type": "readRaw", "sessionId": "x" })).await, "Session x not found");
    let unknown = ws.ask(json!({ "type": "unsubscribe", "sessionId": "x" })).await;
    assert_eq!(unknown, json!({ "type": "unsubscribed", "sessionId": "x" }));
}

#[tokio::test]
async fn a_foreign_page_is_kept_out_and_a_plain_request_told_to_upgrade() {
    let server = TestServer::new().await;
    let stream = TcpStream::connect(server.pty_open_addr()).await.unwrap();
    let url = format!("ws://{}/ws", server.pty_open_addr());
    let refused = WsClient::open(stream, &url, &[("origin", "http://evil.example")]).await;
    assert_eq!(refused.err().unwrap(), 403);
    let upgrade = server.pty_request("GET", "/ws").header("upgrade", "websocket");
    for (ask, status, text) in [
        (server.pty_request("GET", "/ws"), 426, "WebSocket endpoint - use WebSocket upgrade"),
        (upgrade, 400, "WebSocket upgrade failed"),
    ] {
        let answer = server.send_pty(&ask).await;
        assert_eq!(answer.status(), status);
        assert_eq!(answer.head.get("content-type"), Some("text/plain; charset=utf-8"));
        assert!(answer.body.starts_with(text), "{answer:?}");
    }
}

#[tokio::test]
async fn a_goodbye_is_heard_by_whoever_still_speaks() {
    let server = TestServer::new().await;
    let url = format!("ws://{}/compat/opencode-pty/ws", server.address);
    let bearer = format!("Bearer {}", server.token);
    let compat =
        WsClient::open(server.tcp().await, &url, &[("authorization", &bearer)]).await.unwrap();
    let answer = answered(compat, 4 << 20).await.expect("the close frame was lost");
    let close_frame = answer.windows(4).rposition(|at| at[0] == 0x88 && at[2..] == [0x03, 0xea]);
    assert!(close_frame.is_some(), "{answer:?}");
}
