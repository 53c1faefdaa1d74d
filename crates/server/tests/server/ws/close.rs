//! How a socket ends, by either side.

use std::io;
use std::time::Instant;

use paned_server::ServerLimits;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::client::{WsClient, WsReceived, answered, head};
use crate::client::DEADLINE;
use crate::test_server::TestServer;

#[tokio::test]
async fn a_revoked_grant_ends_its_socket_at_once() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let (id, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let mut ws = server.ws_as(&token).await;
    let mut other = server.ws().await;
    ws.subscribe("a", json!("now")).await;
    server.act("grant:revoke", json!({ "id": id })).await;
    // Nothing else happens that could end it.
    assert_eq!(ws.next().await, WsReceived::Closed(4401));
    other.expect_quiet().await;
}

#[tokio::test]
async fn a_flood_does_not_outlive_its_grant() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let (id, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let mut ws = server.ws_as(&token).await;
    let most = 16 << 20;
    let subscribe = json!({ "type": "subscribe", "pane": "a", "since": "now", "window": most });
    assert_eq!(ws.ask(subscribe).await["type"], "subscribed");
    server.fake.pane("a").unwrap().print(&vec![b'x'; most]);
    server.act("grant:revoke", json!({ "id": id })).await;
    let mut read = 0;
    loop {
        match ws.next().await {
            WsReceived::Bytes(bytes) => read += bytes.bytes.len(),
            WsReceived::Closed(code) => break assert_eq!(code, 4401),
            WsReceived::Text(text) => panic!("{text}"),
        }
    }
    assert!(read < most, "all of it came");
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let server = TestServer::with(patient()).await;
    let mut known = server.ws().await;
    let mut unknown = server.open(&[]).await.unwrap();
    let mut over_socket =
        WsClient::open(server.unix().await, "ws://localhost/ws", &[]).await.unwrap();
    over_socket.text().await;
    let began = Instant::now();
    let stopped = tokio::spawn(server.stop());
    assert_eq!(known.next().await, WsReceived::Closed(1001));
    assert_eq!(unknown.next().await, WsReceived::Closed(1001));
    assert_eq!(over_socket.next().await, WsReceived::Closed(1001));
    drop((known, unknown, over_socket));
    stopped.await.unwrap();
    assert!(began.elapsed() < patient().shutdown_grace, "{:?}", began.elapsed());
}

/// A time-out so long that even on a slow machine it cannot be what ends a socket.
fn patient() -> ServerLimits {
    ServerLimits { shutdown_grace: 3 * DEADLINE, ..ServerLimits::default() }
}

#[tokio::test]
async fn a_client_that_leaves_is_let_go() {
    let server = TestServer::with(ServerLimits { connections: 2, ..ServerLimits::default() }).await;
    let mut ws = server.ws().await;
    ws.send_raw(Message::Close(None)).await;
    assert_eq!(ws.next().await, WsReceived::Closed(1005));
    drop(server.ws().await);
    let began = Instant::now();
    while server.metric("paned_ws_sockets").await != 0 {
        assert!(began.elapsed() < DEADLINE, "its slot is still taken");
    }
}

#[tokio::test]
async fn a_socket_takes_a_seat() {
    let server = TestServer::with(ServerLimits { connections: 1, ..ServerLimits::default() }).await;
    let ws = server.ws().await;
    assert_eq!(server.get("/health").await.status(), 503);
    drop(ws);
    let began = Instant::now();
    while server.get("/health").await.status() == 503 {
        assert!(began.elapsed() < DEADLINE, "no slot became free");
    }
}

#[tokio::test]
async fn whoever_breaks_the_rules_is_told_which() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    ws.send_raw(Message::text("x".repeat(3 << 20))).await;
    assert_eq!(ws.next().await, WsReceived::Closed(1002));
}

/// A close frame with code 1002 arrived, and then EOF instead of a reset.
#[track_caller]
fn check_goodbye(answer: io::Result<Vec<u8>>) {
    let answer = answer.expect("the close frame was lost");
    assert_eq!((answer[0], &answer[2..4]), (0x88, &1002_u16.to_be_bytes()[..]));
}

#[tokio::test]
async fn a_goodbye_is_heard_by_whoever_still_speaks() {
    let server = TestServer::new().await;
    for _ in 0..5 {
        check_goodbye(answered(server.ws().await, 4 << 20).await);
        let anonymous = server.open(&[]).await.unwrap();
        check_goodbye(answered(anonymous, 100_000).await);
        let unix = server.unix().await;
        let mut owner = WsClient::open(unix, "ws://localhost/ws", &[]).await.unwrap();
        owner.text().await;
        check_goodbye(answered(owner, 4 << 20).await);
    }
}

#[tokio::test]
async fn whoever_never_stops_speaking_is_let_go() {
    let server = TestServer::new().await;
    let mut stream = server.ws().await.into_raw();
    stream.write_all(&head(u64::MAX >> 1)).await.unwrap();
    let speaking = async { while stream.write_all(&[b'x'; 64 << 10]).await.is_ok() {} };
    timeout(DEADLINE, speaking).await.expect("it is still listened to");
}

#[tokio::test]
async fn a_ping_of_the_protocol_is_answered() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    ws.send_raw(Message::Ping("x".into())).await;
    ws.expect_quiet().await;
}
