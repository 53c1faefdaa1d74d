//! Authentication of a WebSocket, by each of its ways.

use std::time::Duration;

use paned_model::Code;
use paned_server::ServerLimits;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::client::{WsClient, WsReceived};
use crate::test_server::TestServer;

#[tokio::test]
async fn a_header_lets_in() {
    let server = TestServer::new().await;
    let bearer = format!("Bearer {}", server.token);
    let mut ws = server.open(&[("authorization", &bearer)]).await.unwrap();
    assert_eq!(ws.response_headers.get("sec-websocket-protocol"), None);
    assert_eq!(ws.response_headers.get("content-length"), None);
    let welcome = ws.text().await;
    assert_eq!(welcome["type"], "welcome");
    assert_eq!((&welcome["version"], &welcome["protocol"]), (&json!("1.2.3"), &json!("paned.v1")));
    assert_eq!(server.metric("paned_ws_sockets").await, 1);
}

#[tokio::test]
async fn a_protocol_lets_in_and_is_not_repeated() {
    let server = TestServer::new().await;
    let offer = format!("paned.v1, paned.bearer.{}", server.token);
    let mut ws = server.open(&[("sec-websocket-protocol", &offer)]).await.unwrap();
    assert_eq!(ws.response_headers.get("sec-websocket-protocol").unwrap(), "paned.v1");
    assert_eq!(ws.text().await["type"], "welcome");
}

#[tokio::test]
async fn a_first_frame_lets_in() {
    let server = TestServer::new().await;
    let mut ws = server.open(&[]).await.unwrap();
    let welcome = ws.ask(json!({ "type": "auth", "token": server.token })).await;
    assert_eq!(welcome["type"], "welcome");
}

#[tokio::test]
async fn the_owner_over_the_socket_needs_none() {
    let server = TestServer::new().await;
    let mut ws = WsClient::open(server.unix().await, "ws://localhost/ws", &[]).await.unwrap();
    assert_eq!(ws.text().await["scopes"], json!(["admin"]));
}

#[tokio::test]
async fn a_protocol_narrows_the_owner_over_the_socket() {
    let server = TestServer::new().await;
    let (_, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let offer = format!("paned.v1,paned.bearer.{token}");
    let headers = [("sec-websocket-protocol", offer.as_str())];
    let mut ws = WsClient::open(server.unix().await, "ws://localhost/ws", &headers).await.unwrap();
    assert_eq!(ws.text().await["scopes"], json!(["read"]));
}

#[tokio::test]
async fn a_wrong_token_is_refused_before_the_upgrade() {
    let server = TestServer::new().await;
    let both = format!("Bearer {}", server.token);
    let offer = format!("paned.v1, paned.bearer.{}", server.token);
    for headers in [
        vec![("authorization", "Bearer paned_x_y")],
        vec![("sec-websocket-protocol", "paned.v1, paned.bearer.paned_x_y")],
        vec![("authorization", both.as_str()), ("sec-websocket-protocol", offer.as_str())],
    ] {
        assert_eq!(server.open(&headers).await.err().unwrap(), 401, "{headers:?}");
    }
}

#[tokio::test]
async fn our_protocol_must_be_offered_where_any_is() {
    let server = TestServer::new().await;
    let offer = format!("paned.bearer.{}", server.token);
    let refused = server.open(&[("sec-websocket-protocol", &offer)]).await;
    assert_eq!(refused.err().unwrap(), 400);
}

#[tokio::test]
async fn a_first_frame_that_shows_no_good_token_ends_it() {
    let server = TestServer::new().await;
    let ping = json!({ "type": "ping" });
    for first in [json!({ "type": "auth", "token": "paned_x_y" }), ping, json!(7)] {
        let mut ws = server.open(&[]).await.unwrap();
        ws.send(first).await;
        assert_eq!(ws.refusal().await.code, Code::Unauthorized);
        assert_eq!(ws.next().await, WsReceived::Closed(4401));
    }
}

#[tokio::test]
async fn the_answer_to_a_first_frame_carries_its_id_and_says_what_helps() {
    let server = TestServer::new().await;
    let auth = |token: &str| json!({ "type": "auth", "token": token, "id": "a" });
    let mut ws = server.open(&[]).await.unwrap();
    let welcome = ws.ask(auth(&server.token)).await;
    assert_eq!((&welcome["type"], &welcome["id"]), (&json!("welcome"), &json!("a")));
    for (first, says) in [
        (auth("paned_x_y"), "the `token` of this `auth` is invalid"),
        (json!({ "type": "ping", "id": "a" }), "send {\"type\":\"auth\""),
    ] {
        let error = server.open(&[]).await.unwrap().ask(first).await;
        assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!("a")));
        let sentence = error["error"].as_str().unwrap();
        assert!(sentence.contains(says) && !sentence.contains("Bearer"), "{sentence}");
    }
}

#[tokio::test]
async fn silence_ends_it_too() {
    let auth_timeout = Duration::from_millis(50);
    let server = TestServer::with(ServerLimits { auth_timeout, ..ServerLimits::default() }).await;
    let mut ws = server.open(&[]).await.unwrap();
    assert_eq!(ws.refusal().await.code, Code::Timeout);
    assert_eq!(ws.next().await, WsReceived::Closed(4401));
}

#[tokio::test]
async fn a_stranger_is_not_read_beyond_what_a_token_takes() {
    let auth_timeout = Duration::from_secs(600);
    let server = TestServer::with(ServerLimits { auth_timeout, ..ServerLimits::default() }).await;
    let mut ws = server.open(&[]).await.unwrap();
    let part = Frame::message(vec![b' '; 100_000], OpCode::Data(Data::Text), false);
    ws.is_sent(Message::Frame(part)).await;
    let WsReceived::Closed(_) = ws.next().await else { panic!("it goes on listening") };
    // An authenticated client is read without that limit.
    let mut ws = server.open(&[]).await.unwrap();
    ws.send(json!({ "type": "auth", "token": server.token })).await;
    let long = json!({ "type": "ping", "id": 1, "x": "x".repeat(100_000) });
    ws.send(long).await;
    assert_eq!(ws.text().await["type"], "welcome");
    assert_eq!(ws.refusal().await.code, Code::Invalid);
}

#[tokio::test]
async fn a_claimed_pane_is_verified_by_every_way() {
    let server = TestServer::new().await;
    let token = server.pane("a").await;
    for (pane, is_true) in [("a", true), ("b", false)] {
        let claim = ("x-paned-pane", pane);
        let offer = format!("paned.v1, paned.bearer.{token}");
        let offered = server.open(&[claim, ("sec-websocket-protocol", &offer)]).await;
        assert_eq!(offered.is_ok(), is_true, "{pane}");
        let mut framed = server.open(&[claim]).await.unwrap();
        let answer = framed.ask(json!({ "type": "auth", "token": token })).await;
        assert_eq!(answer["type"] == "welcome", is_true, "{answer}");
    }
}

#[tokio::test]
async fn a_foreign_page_is_not_let_in() {
    let server = TestServer::new().await;
    let offer = format!("paned.v1, paned.bearer.{}", server.token);
    let own = format!("http://{}", server.address);
    for (origin, expect) in [("http://evil.example", Some(403)), ("null", Some(403)), (&own, None)]
    {
        let opened = server.open(&[("origin", origin), ("sec-websocket-protocol", &offer)]).await;
        assert_eq!(opened.err().map(|status| status.as_u16()), expect, "{origin}");
    }
}

#[tokio::test]
async fn without_an_upgrade_it_says_what_it_speaks() {
    let server = TestServer::new().await;
    let spoken = server.get("/ws").await;
    assert_eq!((spoken.status(), &spoken.json()["protocol"]), (200, &json!("paned.v1")));
    let upgrade = server.ask("GET", "/ws").header("upgrade", "websocket");
    assert_eq!(server.send(&upgrade).await.status(), 400);
    assert_eq!(server.send(&upgrade.without("authorization")).await.status(), 401);
}
