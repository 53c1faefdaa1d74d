//! Limits: each answers with an error sentence, and nothing hangs.

use std::time::{Duration, Instant};

use paned_model::Code;
use paned_server::ServerLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::client::{DEADLINE, RawRequest};
use crate::test_server::TestServer;

const SOON: Duration = Duration::from_millis(100);

/// The response to these bytes, until the server closes the connection.
async fn answer(server: &TestServer, bytes: &str) -> String {
    let mut stream = server.tcp().await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = timeout(DEADLINE, stream.read_to_string(&mut answer)).await;
    // The server may close the connection while we still send.
    let _ = read.expect("the server does not hang up");
    answer
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let server = TestServer::new().await;
    let ask = server.ask("POST", "/emit/a:b").json(&json!("x".repeat(1 << 20)));
    let answer = server.send(&ask).await;
    assert_eq!((answer.status(), answer.refusal().code), (413, Code::Limit));
}

#[tokio::test]
async fn a_body_of_unsaid_length_is_refused_where_it_is_too_long() {
    let server = TestServer::with(ServerLimits { body_bytes: 10, ..ServerLimits::default() }).await;
    let ask = server.ask("POST", "/emit/a:b").header("content-type", "application/json");
    let ask = ask.header("transfer-encoding", "chunked").header("connection", "close");
    let head = ask.text();
    let response =
        answer(&server, &format!("{head}8\r\n\"1234567\r\n8\r\n1234567\"\r\n0\r\n\r\n")).await;
    assert!(
        response.starts_with("HTTP/1.1 413") && response.contains("\"code\":\"limit\""),
        "{response}"
    );
}

#[tokio::test]
async fn a_body_that_fits_exactly_is_taken() {
    let server = TestServer::with(ServerLimits { body_bytes: 10, ..ServerLimits::default() }).await;
    for (length, status) in [(8, 200), (9, 413)] {
        let ask = server.ask("POST", "/emit/a:b").json(&json!("x".repeat(length)));
        assert_eq!(server.send(&ask).await.status(), status, "{length}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server =
        TestServer::with(ServerLimits { body_timeout: SOON, ..ServerLimits::default() }).await;
    let ask = server.ask("POST", "/emit/a:b").header("content-type", "application/json");
    let response = answer(&server, &ask.header("content-length", "5").text()).await;
    assert!(
        response.starts_with("HTTP/1.1 408") && response.contains("\"code\":\"timeout\""),
        "{response}"
    );
}

#[tokio::test]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let server =
        TestServer::with(ServerLimits { head_timeout: SOON, ..ServerLimits::default() }).await;
    answer(&server, "GET /health HTTP/1.1\r\nhost: ").await;
    answer(&server, "").await;
}

#[tokio::test]
async fn a_connection_is_let_go_when_nothing_more_comes_also_after_requests() {
    let server =
        TestServer::with(ServerLimits { head_timeout: SOON, ..ServerLimits::default() }).await;
    let one = server.ask("GET", "/health").text();
    for rest in ["", "GET /health HTTP/1.1\r\nhost: "] {
        let mut stream = server.tcp().await;
        let mut response = String::new();
        for _ in 0..3 {
            stream.write_all(one.as_bytes()).await.unwrap();
            response.clear();
            while !response.ends_with('}') {
                let mut bytes = [0; 4096];
                let got = timeout(DEADLINE, stream.read(&mut bytes)).await.unwrap().unwrap();
                assert_ne!(got, 0, "it ends after {response:?}");
                response.push_str(std::str::from_utf8(&bytes[..got]).unwrap());
            }
            assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        }
        stream.write_all(rest.as_bytes()).await.unwrap();
        let end = timeout(DEADLINE, stream.read_to_string(&mut response)).await;
        let _ = end.expect("the server does not hang up");
    }
}

#[tokio::test]
async fn a_head_with_too_much_in_it_is_refused() {
    let server = TestServer::new().await;
    let many =
        (0..200).fold(server.ask("GET", "/health"), |ask, n| ask.header(&format!("x-{n}"), "1"));
    let long = server.ask("GET", "/health").header("x-long", &"x".repeat(64 << 10));
    let long = long.header("connection", "close");
    let far = server.ask("GET", &format!("/health?{}", "x".repeat(70_000)));
    let wrong = server.ask("GET", "/health").header("content-length", "many");
    // hyper answers these before any code of ours runs: a status and no body.
    for (ask, status) in
        [(many, 431), (long, 431), (far, 414), (wrong, 400), (RawRequest::new("GE T", "/"), 400)]
    {
        let response = answer(&server, &ask.text()).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    }
}

#[tokio::test]
async fn a_head_is_no_longer_than_is_said_however_it_comes() {
    let server = TestServer::new().await;
    for (length, status) in [(60 << 10, 200), (64 << 10, 431), (100 << 10, 431), (200 << 10, 431)] {
        let ask = server.ask("GET", "/health").header("connection", "close");
        let response = answer(&server, &ask.header("x-long", &"x".repeat(length)).text()).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{length}: {response}");
    }
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let server = TestServer::with(ServerLimits { connections: 2, ..ServerLimits::default() }).await;
    let (first, second) = (server.follow("*").await, server.follow("*").await);
    let refused = server.send(&server.ask("GET", "/health")).await;
    assert_eq!((refused.status(), refused.refusal().code), (503, Code::Unavailable));
    let over_socket = server.send_unix(&RawRequest::new("GET", "/health")).await;
    assert_eq!(over_socket.status(), 200, "the owner has a connection limit of their own");
    drop((first, second));
    let began = Instant::now();
    while server.get("/health").await.status() == 503 {
        assert!(began.elapsed() < DEADLINE, "no connection slot became free");
    }
}

#[tokio::test]
async fn a_crowd_of_strangers_keeps_nobody_out() {
    let server = TestServer::with(ServerLimits { connections: 8, ..ServerLimits::default() }).await;
    let mut before = server.follow("a:b").await;
    let mut crowd = Vec::new();
    for _ in 0..50 {
        crowd.push(server.tcp().await);
    }
    let began = Instant::now();
    // The last of them may still be in the accept queue.
    while server.metric("paned_connections_refused_total").await < 46 {
        assert!(began.elapsed() < DEADLINE, "the oldest connections are not evicted");
    }
    server.emit("a:b", &json!({})).await;
    assert_eq!(before.event().await.unwrap().get("event"), Some("a:b"));
    assert_eq!(server.send_unix(&RawRequest::new("GET", "/health")).await.status(), 200);
    let opened = server.ws().await.ask(json!({ "type": "ping" })).await;
    assert_eq!(opened["type"], "pong");
    drop(crowd);
}

#[tokio::test]
async fn a_connection_is_good_for_many_requests() {
    let server = TestServer::new().await;
    let one = server.ask("GET", "/health").text();
    let last = server.ask("GET", "/health").header("connection", "close").text();
    let response = answer(&server, &format!("{one}{one}{last}")).await;
    assert_eq!(response.matches("HTTP/1.1 200").count(), 3, "{response}");
}
