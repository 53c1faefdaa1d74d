//! Flow control: windows, gaps, and readers that do not block each other.

use std::time::{Duration, Instant};

use paned_server::ServerLimits;
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;

use super::client::{WsBinaryFrame, WsClient, WsReceived};
use super::trimmed_backend::TrimmedBackend;
use crate::client::DEADLINE;
use crate::test_server::TestServer;

#[tokio::test]
async fn a_channel_stops_at_its_window_until_it_is_acknowledged() {
    let server = TestServer::new().await;
    server.pane("a").await;
    server.fake.pane("a").unwrap().print(b"0123456789abcdefghijklmnop");
    let mut ws = server.ws().await;
    let subscribe = json!({ "type": "subscribe", "pane": "a", "since": "start", "window": 10 });
    assert_eq!(ws.ask(subscribe).await["type"], "subscribed");
    assert_eq!(ws.bytes().await.bytes, b"0123456789");
    ws.expect_quiet().await;
    ws.send(json!({ "type": "ack", "channel": 1, "offset": 4 })).await;
    let more = ws.bytes().await;
    assert_eq!((more.offset, more.bytes.as_slice()), (10, &b"abcd"[..]));
    ws.expect_quiet().await;
    ws.send(json!({ "type": "ack", "channel": 1, "offset": 3 })).await;
    ws.expect_quiet().await;
    let beyond = ws.ask(json!({ "type": "ack", "channel": 1, "offset": 15, "id": 1 })).await;
    assert_eq!((&beyond["code"], &beyond["id"]), (&json!("invalid"), &json!(1)));
    ws.send(json!({ "type": "ack", "channel": 1, "offset": 14 })).await;
    assert_eq!(ws.bytes().await.bytes, b"efghijklmn");
    ws.send(json!({ "type": "ack", "channel": 1, "offset": 24 })).await;
    assert_eq!(ws.bytes().await.bytes, b"op");
}

#[tokio::test]
async fn a_channel_that_waits_keeps_no_other_back() {
    let server = TestServer::new().await;
    server.pane("a").await;
    server.pane("b").await;
    let mut ws = server.ws().await;
    let stopped = json!({ "type": "subscribe", "pane": "a", "since": "now", "window": 1 });
    assert_eq!(ws.ask(stopped).await["channel"], 1);
    assert_eq!(ws.subscribe("b", json!("now")).await["channel"], 2);
    server.fake.pane("a").unwrap().print(&[b'a'; 100_000]);
    assert_eq!(ws.bytes().await.bytes, b"a");
    server.fake.pane("b").unwrap().print(&vec![b'b'; 3 << 20]);
    assert!(ws.read_to(3 << 20).await == vec![b'b'; 3 << 20]);
    let ack = json!({ "type": "ack", "channel": 1, "offset": 1 });
    ws.send(ack).await;
    assert_eq!(ws.bytes().await.bytes, b"a");
}

#[tokio::test]
async fn panes_that_flood_take_turns() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    for id in ["a", "b", "c"] {
        server.pane(id).await;
        ws.subscribe(id, json!("now")).await;
    }
    for id in ["a", "b", "c"] {
        server.fake.pane(id).unwrap().print(&vec![b'x'; 512 << 10]);
    }
    let mut frames = [0; 3];
    for _ in 0..12 {
        frames[ws.bytes().await.channel as usize - 1] += 1;
    }
    assert!(frames.iter().all(|frames| *frames >= 3), "{frames:?}");
}

#[tokio::test]
async fn whoever_falls_behind_the_ring_is_told_and_goes_on() {
    let ring = TrimmedBackend::default();
    let server = ring.server().await;
    server.pane("a").await;
    let pane = server.fake.pane("a").unwrap();
    pane.print(&[b'0'; 100]);
    ring.drop_before(50);
    let mut ws = server.ws().await;
    let subscribe = json!({ "type": "subscribe", "pane": "a", "since": 20, "window": 60 });
    assert_eq!(ws.ask(subscribe).await["offset"], 20);
    assert_eq!(ws.text().await, json!({ "type": "gap", "channel": 1, "from": 20, "to": 50 }));
    let kept = ws.bytes().await;
    assert_eq!((kept.offset, kept.bytes.len()), (50, 50));
    pane.print(&[b'1'; 100]);
    assert_eq!(ws.bytes().await.bytes.len(), 10);
    ring.drop_before(150);
    ws.send(json!({ "type": "ack", "channel": 1, "offset": 100 })).await;
    assert_eq!(ws.text().await, json!({ "type": "gap", "channel": 1, "from": 110, "to": 150 }));
    assert_eq!(ws.bytes().await.offset, 150);
    assert_eq!(ws.subscribe("a", json!("start")).await["offset"], 150);
    assert_eq!(ws.bytes().await.bytes.len(), 50);
}

/// One socket reads nothing while another reads everything.
#[tokio::test]
async fn a_reader_who_stops_changes_nothing_for_another_and_is_given_up() {
    const TOTAL: usize = 48 << 20;
    let write_timeout = Duration::from_millis(500);
    let server = TestServer::with(ServerLimits { write_timeout, ..ServerLimits::default() }).await;
    server.pane("a").await;
    let pane = server.fake.pane("a").unwrap();
    let mut stopped = server.ws().await;
    for _ in 0..4 {
        let window = 16 << 20;
        stopped.send(json!({ "type": "subscribe", "pane": "a", "window": window })).await;
    }
    let mut reader = server.ws().await;
    reader.subscribe("a", json!("now")).await;
    let chunk = vec![b'x'; 1 << 20];
    for end in (chunk.len()..=TOTAL).step_by(chunk.len()) {
        pane.print(&chunk);
        assert_eq!(reader.read_to(end as u64).await.len(), chunk.len());
    }
    let began = Instant::now();
    while server.metric("paned_ws_sockets").await != 1 {
        assert!(began.elapsed() < DEADLINE, "the client that reads nothing is still connected");
    }
    reader.expect_quiet().await;
}

#[tokio::test]
async fn whoever_asks_and_reads_no_answers_is_not_read_for_ever() {
    let write_timeout = Duration::from_millis(200);
    let server = TestServer::with(ServerLimits { write_timeout, ..ServerLimits::default() }).await;
    let mut ws = server.ws().await;
    let question = json!({ "type": "action", "name": "server:status", "id": "x".repeat(100) });
    let question = Message::text(question.to_string());
    let began = Instant::now();
    while ws.is_sent(question.clone()).await {
        assert!(began.elapsed() < DEADLINE, "it is read for ever");
    }
}

/// The owner's socket with a small receive buffer.
async fn narrow(server: &TestServer) -> WsClient<TcpStream> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = socket.connect(server.address).await.unwrap();
    let (url, bearer) = (format!("ws://{}/ws", server.address), format!("Bearer {}", server.token));
    let mut ws = WsClient::open(stream, &url, &[("authorization", &bearer)]).await.unwrap();
    assert_eq!(ws.text().await["type"], "welcome");
    ws
}

/// Events bypass the library that sends everything else; neither may end up inside a frame of the
/// other.
#[tokio::test]
async fn events_and_the_rest_come_whole_and_in_order_to_whoever_reads_late() {
    const COUNT: u64 = 400;
    const PRINTED: u64 = 30_000;
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = narrow(&server).await;
    ws.ask(json!({ "type": "events", "include": "a:x", "id": 0 })).await;
    ws.ask(json!({ "type": "subscribe", "pane": "a", "since": "now", "window": 16 << 20 })).await;
    let mut emitted = Vec::new();
    for count in 0..COUNT {
        // A separate request, so that the socket's task runs and is blocked in the middle of a
        // frame when an event comes.
        server.fake.pane("a").unwrap().print(&[b'x'; PRINTED as usize]);
        assert_eq!(server.get("/health").await.status(), 200);
        emitted.push(server.emit("a:x", &json!({ "count": count })).await);
        ws.send_raw(Message::Ping(vec![b'p'; 100].into())).await;
        ws.send(json!({ "type": "ping", "id": count })).await;
    }
    let (mut emitted, mut answers, mut printed) = (emitted.into_iter(), 0..COUNT, 0);
    while emitted.len() != 0 || !answers.is_empty() || printed < COUNT * PRINTED {
        match ws.next().await {
            WsReceived::Text(event) if event["type"] == "event" => {
                assert_eq!(event["id"], emitted.next().unwrap());
            }
            WsReceived::Text(pong) => {
                assert_eq!(pong, json!({ "type": "pong", "id": answers.next().unwrap() }));
            }
            WsReceived::Bytes(WsBinaryFrame { offset, bytes, .. }) => {
                assert_eq!((offset, bytes.iter().all(|byte| *byte == b'x')), (printed, true));
                printed += bytes.len() as u64;
            }
            WsReceived::Closed(code) => panic!("it was closed with {code}"),
        }
    }
    ws.expect_quiet().await;
}
