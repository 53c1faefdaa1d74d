//! Who is let in, how far, and which pane they are believed to speak from.

use std::time::{Duration, Instant};

use paned_model::Code;
use serde_json::json;

use crate::client::{Ask, DEADLINE, send};
use crate::house::House;
use crate::ws::client::WsReceived;

/// A question over the socket.
fn over_socket(path: &str) -> Ask {
    Ask::new("GET", path)
}

#[tokio::test]
async fn over_the_socket_the_owner_needs_no_token() {
    let house = House::new().await;
    assert_eq!(house.send_unix(&over_socket("/actions")).await.status(), 200);
    assert_eq!(house.send_unix(&over_socket("/no/such")).await.status(), 404);
    let ask = over_socket("/health");
    assert_eq!(house.send_unix(&ask).await.json()["version"], "1.2.3");
}

#[tokio::test]
async fn over_the_socket_no_page_is_let_in() {
    let house = House::new().await;
    let ask = over_socket("/health").header("origin", &format!("http://{}", house.address));
    assert_eq!(house.send_unix(&ask).await.status(), 403);
}

#[tokio::test]
async fn a_token_narrows_the_owner_over_the_socket() {
    let house = House::new().await;
    let (_, token) = house.grant(json!({ "scopes": ["read"] })).await;
    let ask = Ask::new("POST", "/action/event:emit").json(&json!({ "name": "a:b" }));
    assert_eq!(house.send_unix(&ask).await.status(), 200);
    let narrowed = ask.header("authorization", &format!("bearer {token}"));
    assert_eq!(house.send_unix(&narrowed).await.status(), 403);
}

#[tokio::test]
async fn a_grant_reaches_as_far_as_its_scopes() {
    let house = House::new().await;
    let (_, token) = house.grant(json!({ "scopes": ["kill"] })).await;
    for (path, status) in
        [("/actions", 200), ("/openapi.json", 200), ("/events", 403), ("/metrics", 403)]
    {
        let answer = house.send(&house.request_as(&token, "GET", path)).await;
        assert_eq!(answer.status(), status, "{path}");
    }
    let health = house.send(&house.request_as(&token, "GET", "/health")).await;
    assert_eq!(health.json(), json!({ "status": "ok" }));
}

#[tokio::test]
async fn a_claimed_pane_is_verified_over_tcp() {
    let house = House::new().await;
    let (token, _) = (house.pane("a").await, house.pane("b").await);
    for header in ["x-paned-pane", "X-Poly-Pane"] {
        let claim = |ask: Ask, pane: &str| ask.header(header, pane);
        let (owner, pane) =
            (house.ask("GET", "/actions"), house.request_as(&token, "GET", "/actions"));
        for (ask, status) in [
            (claim(pane.clone(), "a"), 200),
            (claim(pane.clone(), "b"), 403),
            (claim(claim(pane, "a"), "b"), 403),
            (claim(owner.clone(), "a"), 403),
            (claim(owner.header("x-paned-token", &token), "a"), 403),
        ] {
            assert_eq!(house.send(&ask).await.status(), status, "{ask:?}");
        }
    }
}

#[tokio::test]
async fn a_claimed_pane_is_verified_over_the_socket() {
    let house = House::new().await;
    let token = house.pane("a").await;
    let claim = |pane: &str| over_socket("/actions").header("x-paned-pane", pane);
    for (ask, status) in [
        (claim("a").header("x-paned-token", &token), 200),
        (claim("b").header("x-paned-token", &token), 403),
        (claim("a").header("x-paned-token", "paned_x_y"), 403),
        (claim("a"), 403),
    ] {
        assert_eq!(house.send_unix(&ask).await.status(), status, "{ask:?}");
    }
}

#[tokio::test]
async fn what_a_pane_starts_over_the_socket_knows_its_parent() {
    let house = House::new().await;
    let token = house.pane("a").await;
    let ask = Ask::new("POST", "/action/pane:new").json(&json!({ "id": "b", "argv": ["/bin/sh"] }));
    let answer = house.send_unix(&ask.header("x-paned-token", &token)).await;
    assert_eq!(answer.json()["parent"], "a");
}

#[tokio::test]
async fn a_revoked_token_opens_nothing() {
    let house = House::new().await;
    let (id, token) = house.grant(json!({ "scopes": ["read"] })).await;
    let ask = house.request_as(&token, "GET", "/actions");
    assert_eq!(house.send(&ask).await.status(), 200);
    house.act("grant:revoke", json!({ "id": id })).await;
    assert_eq!(house.send(&ask).await.status(), 401);
}

#[tokio::test]
async fn a_wait_under_way_is_not_answered_to_somebody_shut_out() {
    let house = House::new().await;
    house.pane("a").await;
    let (id, token) = house.grant(json!({ "scopes": ["read"], "panes": ["a"] })).await;
    let wait = json!({ "paneId": "a", "pattern": "secret", "timeoutMs": 600_000 });
    let ask = house.request_as(&token, "POST", "/action/pane:wait").json(&wait);
    let mut ws = house.ws_as(&token).await;
    ws.send(json!({ "type": "action", "name": "pane:wait", "params": wait, "id": 1 })).await;
    let stream = house.tcp().await;
    let asked = tokio::spawn(async move { send(stream, &ask).await });
    let began = Instant::now();
    // The third is whoever looks.
    while house.metric("paned_connections").await < 3 {
        assert!(began.elapsed() < DEADLINE, "it never came in");
    }
    assert_eq!(ws.ask(json!({ "type": "ping" })).await["type"], "pong");
    let revoked = Instant::now();
    house.act("grant:revoke", json!({ "id": id })).await;
    let answer = asked.await.unwrap();
    assert_eq!((answer.status(), answer.refusal().code), (401, Code::Unauthorized));
    assert_eq!(ws.next().await, WsReceived::Closed(4401));
    assert!(revoked.elapsed() < Duration::from_secs(5), "{:?}", revoked.elapsed());
    house.fake.pane("a").unwrap().print(b"a secret\r\n");
}
