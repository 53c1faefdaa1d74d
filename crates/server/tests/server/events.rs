//! Following events.

use std::time::{Duration, Instant};

use paned_kernel::Kernel;
use paned_server::ServerLimits;
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::client::{DEADLINE, SseClient};
use crate::test_server::TestServer;

/// The names among these that a follower with this include gets.
#[track_caller]
fn check(include: &str, expect: &[&str]) -> impl Future<Output = ()> {
    let (include, expect) = (include.to_owned(), expect.join(" "));
    async move {
        let server = TestServer::new().await;
        let mut events = server.follow(&format!("{include},the:end")).await;
        for name in ["a:x", "a:y", "ab:x", "b"] {
            server.emit(name, &json!({})).await;
        }
        server.emit("the:end", &json!({})).await;
        let mut got = Vec::new();
        loop {
            match events.event().await.unwrap().get("event").unwrap() {
                "the:end" => break,
                name if name.starts_with("action:") => {}
                name => got.push(name.to_owned()),
            }
        }
        assert_eq!(got.join(" "), expect, "{include}");
    }
}

#[tokio::test]
async fn include_picks_by_name_by_prefix_or_all() {
    check("a:x", &["a:x"]).await;
    check("a:*", &["a:x", "a:y"]).await;
    check("a*", &["a:x", "a:y", "ab:x"]).await;
    check("b,a:y", &["a:y", "b"]).await;
    check("%2A", &["a:x", "a:y", "ab:x", "b"]).await;
}

#[tokio::test]
async fn a_wish_that_makes_no_sense_is_answered() {
    let server = TestServer::new().await;
    for path in ["/events?include=a*b", "/events?include=*:x", "/events?includes=*"] {
        assert_eq!(server.get(path).await.status(), 400, "{path}");
    }
    assert_eq!(server.get("/events?include=*&lastEventId=1").await.status(), 400);
    for id in ["x", "-1", ""] {
        let ask = server.ask("GET", "/events?include=*").header("last-event-id", id);
        assert_eq!(server.send(&ask).await.status(), 400, "{id}");
    }
}

#[tokio::test]
async fn a_frame_has_id_name_time_and_data() {
    let server = TestServer::new().await;
    let mut events = server.follow("build:*").await;
    let id = server.emit("build:done", &json!({ "ok": true })).await;
    let frame = events.event().await.unwrap();
    assert_eq!((frame.id(), frame.get("event")), (Some(id), Some("build:done")));
    assert_eq!(frame.get("data"), Some("{\"ok\":true}"));
    let time: paned_model::Time =
        serde_json::from_value(json!(frame.get("time").unwrap())).unwrap();
    assert!(time.0 > 1_700_000_000_000, "{frame:?}");
}

#[tokio::test]
async fn without_include_a_stream_stands_and_says_nothing() {
    let server = TestServer::with(ServerLimits {
        heartbeat: Duration::from_millis(20),
        ..ServerLimits::default()
    })
    .await;
    let mut events = SseClient::open(server.tcp().await, &server.ask("GET", "/events")).await;
    server.emit("a:x", &json!({})).await;
    for _ in 0..3 {
        assert_eq!(events.frame().await.unwrap().get(""), Some("alive"));
    }
}

#[tokio::test]
async fn who_comes_back_misses_nothing() {
    let server = TestServer::new().await;
    let mut ids = Vec::new();
    for count in 0..2000 {
        let params = json!({ "name": "a:x", "payload": { "count": count } }).to_string();
        let owner = server.kernel.owner(None);
        let answer = server.kernel.dispatch("event:emit", params.as_bytes(), &owner).await.unwrap();
        ids.push(serde_json::from_str::<Value>(answer.get()).unwrap()["id"].as_u64().unwrap());
    }
    let ask = server.ask("GET", "/events?include=a:*").header("Last-Event-ID", &ids[0].to_string());
    let mut events = SseClient::open(server.tcp().await, &ask).await;
    for id in &ids[1..] {
        assert_eq!(events.event().await.unwrap().id(), Some(*id));
    }
}

#[tokio::test]
async fn who_comes_back_from_nowhere_is_told_of_the_gap() {
    let server = TestServer::new().await;
    let last = server.emit("a:x", &json!({})).await;
    let ask = server.ask("GET", "/events?include=a:x").header("last-event-id", "999999");
    let mut events = SseClient::open(server.tcp().await, &ask).await;
    let gap = events.event().await.unwrap();
    assert_eq!((gap.id(), gap.get("event")), (None, Some("gap")));
    let range: Value = serde_json::from_str(gap.get("data").unwrap()).unwrap();
    assert!(last <= range["last"].as_u64().unwrap() && range["first"].is_u64(), "{range}");
    let id = server.emit("a:x", &json!({})).await;
    assert_eq!(events.event().await.unwrap().id(), Some(id));
}

#[tokio::test]
async fn a_stream_ends_when_its_grant_is_revoked() {
    let server = TestServer::new().await;
    let (id, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let mut events = Vec::new();
    for path in ["/events?include=pane:*", "/events"] {
        let ask = server.request_as(&token, "GET", path);
        events.push(SseClient::open(server.tcp().await, &ask).await);
    }
    server.act("grant:revoke", json!({ "id": id })).await;
    // Nothing else happens that could end them.
    for events in &mut events {
        assert_eq!(events.frame().await, None);
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_grant_expires() {
    let server = TestServer::new().await;
    let (_, token) = server.grant(json!({ "scopes": ["read"], "expiresInSeconds": 1 })).await;
    let ask = server.request_as(&token, "GET", "/events?include=pane:*");
    let mut events = SseClient::open(server.tcp().await, &ask).await;
    assert_eq!(events.frame().await, None);
}

#[tokio::test]
async fn a_narrow_grant_sees_its_own_panes_only() {
    let server = TestServer::new().await;
    let token = server.pane("a").await;
    let ask = server.request_as(&token, "GET", "/events?include=pane:*");
    let mut events = SseClient::open(server.tcp().await, &ask).await;
    server.pane("b").await;
    server.act("pane:kill", json!({ "paneId": "a" })).await;
    let data = events.event().await.unwrap().get("data").unwrap().to_owned();
    assert!(data.contains("\"a\""), "{data}");
}

/// More than the buffers between two sockets can hold, where one of them is small.
const FLOOD: usize = 200;

async fn flood(kernel: Kernel) {
    let owner = kernel.owner(None);
    let params = json!({ "name": "a:x", "payload": { "text": "x".repeat(32 << 10) } }).to_string();
    for _ in 0..FLOOD {
        kernel.dispatch("event:emit", params.as_bytes(), &owner).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_slows_nobody_and_is_closed() {
    let server = TestServer::with(ServerLimits {
        write_timeout: Duration::from_secs(1),
        ..ServerLimits::default()
    })
    .await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = socket.connect(server.address).await.unwrap();
    let stuck = SseClient::begin(stream, &server.ask("GET", "/events?include=a:x")).await;
    let mut events = server.follow("a:x").await;
    let flood = tokio::spawn(flood(server.kernel.clone()));
    for _ in 0..FLOOD {
        events.event().await.unwrap();
    }
    flood.await.unwrap();
    let began = Instant::now();
    while server.metric("paned_sse_streams").await != 1 {
        assert!(began.elapsed() < DEADLINE, "the stuck stream lives on");
    }
    drop(stuck);
}
