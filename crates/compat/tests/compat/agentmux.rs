//! The agentmux API: every endpoint with every rule about bodies, authentication, and unknown
//! paths.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::SECRET;
use crate::client::{RawRequest, RawResponse, send};
use crate::test_server::TestServer;

const GETS: [&str; 4] = ["/health", "/sessions", "/idle", "/capture"];
const POSTS: [&str; 6] = ["/send", "/run", "/key", "/restart", "/cleanup", "/kill"];

impl TestServer {
    /// A request to the open listener.
    fn agentmux_request(&self, method: &str, path: &str) -> RawRequest {
        RawRequest::new(method, path).header("host", &self.agentmux_addr().to_string())
    }

    async fn send_agentmux(&self, ask: &RawRequest) -> RawResponse {
        send(TcpStream::connect(self.agentmux_addr()).await.unwrap(), ask).await
    }

    /// The same through the main port.
    async fn send_main(&self, ask: &RawRequest) -> RawResponse {
        let ask = ask.clone().without("host").header("host", &self.address.to_string());
        let ask = ask.header("authorization", &format!("Bearer {}", self.token));
        self.send(&RawRequest { path: format!("/compat/agentmux{}", ask.path), ..ask }).await
    }
}

/// Both listeners answer with this status and exactly this body.
async fn check(server: &TestServer, ask: &RawRequest, status: u16, body: Value) {
    for answer in [server.send_agentmux(ask).await, server.send_main(ask).await] {
        assert_eq!((answer.status(), answer.json()), (status, body.clone()), "{ask:?}");
        let media = answer.head.get("content-type");
        assert_eq!(media, Some("application/json; charset=utf-8"), "{ask:?}");
    }
}

async fn refused(server: &TestServer, ask: &RawRequest, status: u16, text: &str) {
    check(server, ask, status, json!({ "error": text })).await;
}

#[tokio::test]
async fn every_endpoint_that_takes_a_body_has_the_same_rules_about_it() {
    let server = TestServer::new().await;
    let rules = [
        ("{", "invalid JSON body"),
        ("nope", "invalid JSON body"),
        (" ", "invalid JSON body"),
        ("[]", "JSON body must be an object"),
        ("\"text\"", "JSON body must be an object"),
        ("null", "JSON body must be an object"),
    ];
    for path in POSTS.into_iter().chain(["/unknown", "/health", "/"]) {
        if path == "/" {
            continue;
        }
        for (body, text) in rules {
            for media in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
                let ask = server.agentmux_request("POST", path).body(media, body);
                refused(&server, &ask, 400, text).await;
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_is_no_text_and_a_length_that_is_none_are_told() {
    let server = TestServer::new().await;
    for (head, body, text) in [
        ("Content-Length: 2", &b"\xff\xfe"[..], "request body must be utf-8"),
        ("Content-Length: abc", b"{}", "invalid Content-Length"),
        ("content-length: -1", b"", "invalid Content-Length"),
    ] {
        for path in POSTS.into_iter().chain(["/unknown"]) {
            let mut stream = TcpStream::connect(server.agentmux_addr()).await.unwrap();
            let host = server.agentmux_addr();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{head}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(body).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 400"), "{head}: {answer}");
            assert!(answer.ends_with(&json!({ "error": text }).to_string()), "{head}: {answer}");
        }
    }
}

#[tokio::test]
async fn what_is_required_must_be_a_text_that_is_not_blank() {
    let server = TestServer::new().await;
    for (path, field) in
        [("/send", "text"), ("/run", "text"), ("/key", "key"), ("/kill", "session")]
    {
        let post = |body: Value| server.agentmux_request("POST", path).json(&body);
        refused(
            &server,
            &server.agentmux_request("POST", path),
            400,
            &format!("{field} is required"),
        )
        .await;
        for blank in ["", " \n\t"] {
            let ask = post(json!({ field: blank }));
            refused(&server, &ask, 400, &format!("{field} is required")).await;
        }
        for other in [json!(1), json!(null), json!([]), json!({}), json!(true)] {
            let ask = post(json!({ field: other }));
            refused(&server, &ask, 400, &format!("{field} must be a string")).await;
        }
    }
}

#[tokio::test]
async fn numbers_and_targets_are_looked_at_before_sessions_are() {
    let server = TestServer::new().await;
    let key = |more: Value| {
        let mut body = json!({ "key": "enter" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.agentmux_request("POST", "/key").json(&body)
    };
    for bad in [json!(true), json!("x"), json!(1.5), json!(null)] {
        let ask = key(json!({ "repeat": bad }));
        refused(&server, &ask, 400, "repeat must be an integer").await;
    }
    for low in [json!(0), json!("-3")] {
        refused(&server, &key(json!({ "repeat": low })), 400, "repeat must be >= 1").await;
    }
    refused(&server, &key(json!({ "target": 1 })), 400, "target must be a string").await;
    let send = server.agentmux_request("POST", "/send").json(&json!({ "text": "x", "target": [] }));
    refused(&server, &send, 400, "target must be a string").await;
    for (query, text) in [
        ("lines=x", "lines must be an integer"),
        ("lines=1.5", "lines must be an integer"),
        ("lines=true", "lines must be an integer"),
        ("lines=0", "lines must be >= 1"),
        ("lines=-7", "lines must be >= 1"),
    ] {
        let ask = server.agentmux_request("GET", &format!("/capture?{query}"));
        refused(&server, &ask, 400, text).await;
    }
}

#[tokio::test]
async fn without_a_session_there_is_no_active_one() {
    let server = TestServer::new().await;
    for path in ["/idle", "/capture", "/capture?lines=3&target=%20"] {
        refused(&server, &server.agentmux_request("GET", path), 404, "no active session").await;
    }
    for body in [json!({ "text": "x" }), json!({ "text": "x", "target": " " })] {
        let ask = server.agentmux_request("POST", "/send").json(&body);
        refused(&server, &ask, 404, "no active session").await;
    }
    // An unknown key is refused only where there is a session.
    let key = server.agentmux_request("POST", "/key").json(&json!({ "key": "f1", "repeat": "2" }));
    refused(&server, &key, 404, "no active session").await;
    let other = json!({ "text": "x", "target": "other:0.0" });
    let ask = server.agentmux_request("POST", "/send").json(&other);
    refused(&server, &ask, 400, "target is not managed by agentmux").await;
    let capture = server.agentmux_request("GET", "/capture?target=other:0.0");
    refused(&server, &capture, 400, "target is not managed by agentmux").await;
    let kill = server.agentmux_request("POST", "/kill").json(&json!({ "session": " other " }));
    refused(&server, &kill, 404, "session 'other' not found").await;
    let empty = json!({
        "ok": true, "agent": "claude", "active_session": null, "total_sessions": 0, "sessions": [],
    });
    check(&server, &server.agentmux_request("GET", "/health"), 200, empty).await;
    let none = json!({ "sessions": [], "active": "" });
    check(&server, &server.agentmux_request("GET", "/sessions"), 200, none).await;
    let cleaned = json!({ "ok": true, "action": "cleanup", "killed": [] });
    check(&server, &server.agentmux_request("POST", "/cleanup"), 200, cleaned).await;
}

#[tokio::test]
async fn what_is_not_there_is_told_in_agentmuxs_words() {
    let server = TestServer::new().await;
    for path in ["/nothing", "/health/", "/send/x", "/action/pane:list"] {
        refused(&server, &server.agentmux_request("GET", path), 404, "not found").await;
        refused(&server, &server.agentmux_request("POST", path), 404, "not found").await;
    }
    for path in GETS {
        refused(&server, &server.agentmux_request("POST", path), 404, "not found").await;
    }
    for path in POSTS {
        refused(&server, &server.agentmux_request("GET", path), 404, "not found").await;
    }
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "BREW"] {
        for path in GETS.into_iter().chain(POSTS) {
            let text = format!("agentmux takes GET and POST, not {method}");
            refused(&server, &server.agentmux_request(method, path), 405, &text).await;
        }
        refused(&server, &server.agentmux_request(method, "/nothing"), 404, "not found").await;
    }
    assert_eq!(server.send_agentmux(&server.agentmux_request("GET", "/")).await.status(), 404);
}

#[tokio::test]
async fn who_does_not_show_what_was_agreed_on_is_forbidden_everything() {
    let server = TestServer::new().await;
    let host = server.agentmux_secret_addr().to_string();
    let own = format!("Bearer {}", server.token);
    let good = [
        ("authorization", "Bearer s3cret"),
        ("AUTHORIZATION", "bearer s3cret"),
        ("X-Bridge-Token", SECRET),
    ];
    let bad = [
        ("authorization", "Bearer x"),
        ("x-bridge-token", "x"),
        ("authorization", own.as_str()),
        ("x", "y"),
    ];
    let methods = ["GET", "POST", "PUT"];
    for path in GETS.into_iter().chain(POSTS).chain(["/nothing", "/"]) {
        for method in methods {
            let ask = RawRequest::new(method, path).header("host", &host);
            let send = async |ask: &RawRequest| {
                send(TcpStream::connect(server.agentmux_secret_addr()).await.unwrap(), ask).await
            };
            for (name, value) in bad {
                let answer = send(&ask.clone().header(name, value)).await;
                assert_eq!(
                    (answer.status(), answer.json()),
                    (403, json!({ "error": "forbidden" }))
                );
            }
            if path == "/restart" {
                continue;
            }
            for (name, value) in good {
                assert_ne!(send(&ask.clone().header(name, value)).await.status(), 403, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn an_open_listener_is_guarded_and_shows_nothing_of_the_server() {
    let server = TestServer::new().await;
    let ask = server.agentmux_request("GET", "/health");
    // Without a secret, agentmux ignores credentials.
    let shown = ask.clone().header("authorization", "Bearer anything");
    assert_eq!(server.send_agentmux(&shown).await.status(), 200);
    let foreign = ask.clone().header("origin", "http://evil.example");
    assert_eq!(server.send_agentmux(&foreign).await.status(), 403);
    let renamed = ask.without("host").header("host", "evil.example");
    assert_eq!(server.send_agentmux(&renamed).await.status(), 421);
    // A form on a foreign page is refused, whichever header its browser sends.
    let form = server.agentmux_request("POST", "/run").body("text/plain", r#"{"text":"x"}"#);
    for (name, value) in
        [("origin", "null"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site")]
    {
        assert_eq!(server.send_agentmux(&form.clone().header(name, value)).await.status(), 403);
    }
    let panes = server.act("pane:list", json!({})).await;
    assert_eq!(panes, json!([]));
}
