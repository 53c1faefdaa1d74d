//! How a socket ends, by either side.

use std::time::{Duration, Instant};

use paned_face::Limits;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::client::{Heard, Ws};
use crate::client::DEADLINE;
use crate::house::House;

#[tokio::test]
async fn a_revoked_grant_ends_its_socket_at_once() {
    let house = House::new().await;
    house.pane("a").await;
    let (id, token) = house.grant(json!({ "scopes": ["read"] })).await;
    let mut ws = house.ws_as(&token).await;
    let mut other = house.ws().await;
    ws.subscribe("a", json!("now")).await;
    let began = Instant::now();
    house.act("grant:revoke", json!({ "id": id })).await;
    assert_eq!(ws.next().await, Heard::Closed(4401));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    other.quiet().await;
}

#[tokio::test]
async fn a_flood_does_not_outlive_its_grant() {
    let house = House::new().await;
    house.pane("a").await;
    let (id, token) = house.grant(json!({ "scopes": ["read"] })).await;
    let mut ws = house.ws_as(&token).await;
    let most = 16 << 20;
    let subscribe = json!({ "type": "subscribe", "pane": "a", "from": "now", "window": most });
    assert_eq!(ws.ask(subscribe).await["type"], "subscribed");
    house.fake.pane("a").unwrap().print(&vec![b'x'; most]);
    house.act("grant:revoke", json!({ "id": id })).await;
    let mut read = 0;
    loop {
        match ws.next().await {
            Heard::Bytes(bytes) => read += bytes.bytes.len(),
            Heard::Closed(code) => break assert_eq!(code, 4401),
            Heard::Text(text) => panic!("{text}"),
        }
    }
    assert!(read < most, "all of it came");
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let house = House::new().await;
    let mut known = house.ws().await;
    let mut unknown = house.open(&[]).await.unwrap();
    let mut over_socket = Ws::open(house.unix().await, "ws://localhost/ws", &[]).await.unwrap();
    over_socket.text().await;
    let began = Instant::now();
    let stopped = tokio::spawn(house.stop());
    assert_eq!(known.next().await, Heard::Closed(1001));
    assert_eq!(unknown.next().await, Heard::Closed(1001));
    assert_eq!(over_socket.next().await, Heard::Closed(1001));
    drop((known, unknown, over_socket));
    stopped.await.unwrap();
    assert!(began.elapsed() < Limits::default().farewell, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_client_that_leaves_is_let_go() {
    let house = House::with(Limits { connections: 2, ..Limits::default() }).await;
    let mut ws = house.ws().await;
    ws.send_raw(Message::Close(None)).await;
    assert_eq!(ws.next().await, Heard::Closed(1005));
    drop(house.ws().await);
    let began = Instant::now();
    while house.metric("paned_ws_sockets").await != 0 {
        assert!(began.elapsed() < DEADLINE, "its seat is still taken");
    }
}

#[tokio::test]
async fn a_socket_takes_a_seat() {
    let house = House::with(Limits { connections: 1, ..Limits::default() }).await;
    let ws = house.ws().await;
    assert_eq!(house.get("/health").await.status(), 503);
    drop(ws);
    let began = Instant::now();
    while house.get("/health").await.status() == 503 {
        assert!(began.elapsed() < DEADLINE, "no seat became free");
    }
}

#[tokio::test]
async fn whoever_breaks_the_rules_is_told_which() {
    let house = House::new().await;
    let mut ws = house.ws().await;
    ws.send_raw(Message::text("x".repeat(3 << 20))).await;
    assert_eq!(ws.next().await, Heard::Closed(1002));
}

#[tokio::test]
async fn a_ping_of_the_protocol_is_answered() {
    let house = House::new().await;
    let mut ws = house.ws().await;
    ws.send_raw(Message::Ping("x".into())).await;
    ws.quiet().await;
}
