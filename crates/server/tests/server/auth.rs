//! Authentication, scopes, and the verification of claimed panes.

use std::time::{Duration, Instant};

use paned_model::Code;
use serde_json::json;

use crate::client::{DEADLINE, RawRequest, send};
use crate::test_server::TestServer;
use crate::ws::client::WsReceived;

/// A request over the Unix socket.
fn over_socket(path: &str) -> RawRequest {
    RawRequest::new("GET", path)
}

#[tokio::test]
async fn over_the_socket_the_owner_needs_no_token() {
    let server = TestServer::new().await;
    assert_eq!(server.send_unix(&over_socket("/actions")).await.status(), 200);
    assert_eq!(server.send_unix(&over_socket("/no/such")).await.status(), 404);
    let ask = over_socket("/health");
    assert_eq!(server.send_unix(&ask).await.json()["version"], "1.2.3");
}

#[tokio::test]
async fn over_the_socket_no_page_is_let_in() {
    let server = TestServer::new().await;
    let ask = over_socket("/health").header("origin", &format!("http://{}", server.address));
    assert_eq!(server.send_unix(&ask).await.status(), 403);
}

#[tokio::test]
async fn a_token_narrows_the_owner_over_the_socket() {
    let server = TestServer::new().await;
    let (_, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let ask = RawRequest::new("POST", "/action/event:emit").json(&json!({ "name": "a:b" }));
    assert_eq!(server.send_unix(&ask).await.status(), 200);
    let narrowed = ask.header("authorization", &format!("bearer {token}"));
    assert_eq!(server.send_unix(&narrowed).await.status(), 403);
}

#[tokio::test]
async fn a_grant_reaches_as_far_as_its_scopes() {
    let server = TestServer::new().await;
    let (_, token) = server.grant(json!({ "scopes": ["kill"] })).await;
    for (path, status) in
        [("/actions", 200), ("/openapi.json", 200), ("/events", 403), ("/metrics", 403)]
    {
        let answer = server.send(&server.request_as(&token, "GET", path)).await;
        assert_eq!(answer.status(), status, "{path}");
    }
    let health = server.send(&server.request_as(&token, "GET", "/health")).await;
    assert_eq!(health.json(), json!({ "status": "ok" }));
}

#[tokio::test]
async fn a_claimed_pane_is_verified_over_tcp() {
    let server = TestServer::new().await;
    let (token, _) = (server.pane("a").await, server.pane("b").await);
    for header in ["x-paned-pane", "X-Poly-Pane"] {
        let claim = |ask: RawRequest, pane: &str| ask.header(header, pane);
        let (owner, pane) =
            (server.ask("GET", "/actions"), server.request_as(&token, "GET", "/actions"));
        for (ask, status) in [
            (claim(pane.clone(), "a"), 200),
            (claim(pane.clone(), "b"), 403),
            (claim(claim(pane, "a"), "b"), 403),
            (claim(owner.clone(), "a"), 403),
            (claim(owner.header("x-paned-token", &token), "a"), 403),
        ] {
            assert_eq!(server.send(&ask).await.status(), status, "{ask:?}");
        }
    }
}

#[tokio::test]
async fn a_claimed_pane_is_verified_over_the_socket() {
    let server = TestServer::new().await;
    let token = server.pane("a").await;
    let claim = |pane: &str| over_socket("/actions").header("x-paned-pane", pane);
    for (ask, status) in [
        (claim("a").header("x-paned-token", &token), 200),
        (claim("b").header("x-paned-token", &token), 403),
        (claim("a").header("x-paned-token", "paned_x_y"), 403),
        (claim("a"), 403),
    ] {
        assert_eq!(server.send_unix(&ask).await.status(), status, "{ask:?}");
    }
}

#[tokio::test]
async fn what_a_pane_starts_over_the_socket_knows_its_parent() {
    let server = TestServer::new().await;
    let token = server.pane("a").await;
    let ask = RawRequest::new("POST", "/action/pane:new")
        .json(&json!({ "id": "b", "argv": ["/bin/sh"] }));
    let answer = server.send_unix(&ask.header("x-paned-token", &token)).await;
    assert_eq!(answer.json()["parent"], "a");
}

#[tokio::test]
async fn a_revoked_token_opens_nothing() {
    let server = TestServer::new().await;
    let (id, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let ask = server.request_as(&token, "GET", "/actions");
    assert_eq!(server.send(&ask).await.status(), 200);
    server.act("grant:revoke", json!({ "id": id })).await;
    assert_eq!(server.send(&ask).await.status(), 401);
}

#[tokio::test]
async fn a_wait_under_way_is_not_answered_to_somebody_shut_out() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let (id, token) = server.grant(json!({ "scopes": ["read"], "panes": ["a"] })).await;
    let wait = json!({ "paneId": "a", "pattern": "secret", "timeoutMs": 600_000 });
    let ask = server.request_as(&token, "POST", "/action/pane:wait").json(&wait);
    let mut ws = server.ws_as(&token).await;
    ws.send(json!({ "type": "action", "name": "pane:wait", "params": wait, "id": 1 })).await;
    let stream = server.tcp().await;
    let asked = tokio::spawn(async move { send(stream, &ask).await });
    let began = Instant::now();
    // The third connection is the one that reads the metric.
    while server.metric("paned_connections").await < 3 {
        assert!(began.elapsed() < DEADLINE, "it never came in");
    }
    assert_eq!(ws.ask(json!({ "type": "ping" })).await["type"], "pong");
    let revoked = Instant::now();
    server.act("grant:revoke", json!({ "id": id })).await;
    let answer = asked.await.unwrap();
    assert_eq!((answer.status(), answer.refusal().code), (401, Code::Unauthorized));
    assert_eq!(ws.next().await, WsReceived::Closed(4401));
    assert!(revoked.elapsed() < Duration::from_secs(5), "{:?}", revoked.elapsed());
    server.fake.pane("a").unwrap().print(b"a secret\r\n");
}
