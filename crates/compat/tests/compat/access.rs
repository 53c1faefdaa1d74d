//! Authentication of opencode-pty's clients, the root of its own listener, and bodies of any type.

use paned_server::AcceptedBody;
use serde_json::json;
use tokio::net::TcpStream;

use crate::access_control::{is_agentmux, paths, routes};
use crate::client::{RawRequest, send};
use crate::test_server::TestServer;

#[tokio::test]
async fn an_open_listener_lets_in_anyone_but_foreign_pages_and_other_names() {
    let server = TestServer::new().await;
    let ask = server.pty_request("GET", "/api/sessions");
    assert_eq!(server.send_pty(&ask).await.status(), 200);
    let own = format!("http://{}", server.pty_open_addr());
    assert_eq!(server.send_pty(&ask.clone().header("origin", &own)).await.status(), 200);
    for origin in ["http://evil.example", "null"] {
        assert_eq!(server.send_pty(&ask.clone().header("origin", origin)).await.status(), 403);
    }
    let renamed = ask.clone().without("host").header("host", "evil.example");
    assert_eq!(server.send_pty(&renamed).await.status(), 421);
    let wrong = ask.header("authorization", "Bearer paned_x_y");
    assert_eq!(server.send_pty(&wrong).await.status(), 401);
    let text =
        server.pty_request("POST", "/api/sessions").body("text/plain", r#"{"command":"ls"}"#);
    assert_eq!(server.send_pty(&text).await.status(), 415);
}

#[tokio::test]
async fn a_listener_that_is_not_open_needs_a_token() {
    let server = TestServer::new().await;
    let host = server.pty_token_addr().to_string();
    for path in ["/api/sessions", "/health", "/ws", "/elsewhere", "/index.html"] {
        let ask = RawRequest::new("GET", path).header("host", &host);
        let stream = || TcpStream::connect(server.pty_token_addr());
        assert_eq!(send(stream().await.unwrap(), &ask).await.status(), 401, "{path}");
        let shown = ask.header("authorization", &format!("Bearer {}", server.token));
        assert_ne!(send(stream().await.unwrap(), &shown).await.status(), 401, "{path}");
    }
}

#[tokio::test]
async fn whoever_looks_for_something_else_is_shown_the_page_there_and_only_there() {
    let server = TestServer::new().await;
    for path in ["/", "/nothing", "/api/sessions/", "//api/sessions", "/actions", "/action/x"] {
        let answer = server.listener("GET", path, None).await;
        assert_eq!(answer.status(), 302, "{path}");
        assert_eq!(answer.head.get("location"), Some("/index.html"));
    }
    let page = server.listener("GET", "/index.html", None).await;
    assert_eq!(page.status(), 200);
    assert_eq!(page.head.get("x-frame-options"), Some("DENY"));
    assert_eq!(server.get("/compat/opencode-pty/nothing").await.status(), 404);
    let nothing = server.listener("POST", "/nothing", None).await;
    assert_eq!(nothing.status(), 404);
    assert!(nothing.refusal().sentence.contains("/index.html"), "{nothing:?}");
    assert_eq!(server.listener("PUT", "/api/sessions", None).await.status(), 405);
}

#[tokio::test]
async fn nothing_of_the_server_is_behind_an_open_listener() {
    let server = TestServer::new().await;
    for name in ["server:stop", "grant:create", "pane:list"] {
        let answer = server.listener("POST", &format!("/action/{name}"), Some(json!({}))).await;
        assert_eq!(answer.status(), 404, "{name}");
    }
}

#[tokio::test]
async fn a_grant_is_held_to_its_scopes_here_too() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let (_, token) = server.grant(json!({ "scopes": ["read"] })).await;
    let path = |rest: &str| format!("/compat/opencode-pty/api/sessions{rest}");
    let ask = |method: &str, rest: &str| server.request_as(&token, method, &path(rest));
    assert_eq!(server.send(&ask("GET", "")).await.status(), 200);
    let spawn = ask("POST", "").json(&json!({ "command": "/bin/sh" }));
    assert_eq!(server.send(&spawn).await.status(), 403);
    assert_eq!(server.send(&ask("DELETE", &format!("/{id}"))).await.status(), 403);
    let input = ask("POST", &format!("/{id}/input")).json(&json!({ "data": "x" }));
    assert_eq!(server.send(&input).await.status(), 403);
}

#[tokio::test]
async fn an_act_needs_its_own_scope_and_no_other() {
    let server = TestServer::new().await;
    let id = server.session().await;
    server.pane("other").await;
    let path = |rest: &str| format!("/compat/opencode-pty/api/sessions{rest}");
    let (_, types) = server.grant(json!({ "scopes": ["input"] })).await;
    for (pane, status) in [(id.as_str(), 200), ("other", 400), ("pty_00000000", 400)] {
        let ask = server.request_as(&types, "POST", &path(&format!("/{pane}/input")));
        let answer = server.send(&ask.json(&json!({ "data": "x" }))).await;
        assert_eq!(answer.status(), status, "{pane}: {answer:?}");
    }
    assert_eq!(server.fake.pane(&id).unwrap().typed(), b"x");
    let (_, kills) = server.grant(json!({ "scopes": ["kill"], "panes": [id] })).await;
    for (rest, status) in [("", 200), ("/cleanup", 200), ("/cleanup", 403)] {
        let ask = server.request_as(&kills, "DELETE", &path(&format!("/{id}{rest}")));
        let answer = server.send(&ask).await;
        assert_eq!(answer.status(), status, "{rest}: {answer:?}");
    }
}

#[tokio::test]
async fn a_narrow_grant_is_not_told_which_sessions_there_are() {
    let server = TestServer::new().await;
    let other = server.session().await;
    server.pane("plain").await;
    let mine = server.session().await;
    let scopes = ["read", "input", "kill"];
    let (_, token) = server.grant(json!({ "scopes": scopes, "panes": [mine] })).await;
    for (method, rest) in [
        ("GET", ""),
        ("GET", "/buffer/raw"),
        ("POST", "/input"),
        ("DELETE", ""),
        ("DELETE", "/cleanup"),
    ] {
        let mut seen = Vec::new();
        for id in [other.as_str(), "plain", "pty_00000000"] {
            let path = format!("/compat/opencode-pty/api/sessions/{id}{rest}");
            let mut ask = server.request_as(&token, method, &path);
            if method == "POST" {
                ask = ask.json(&json!({ "data": "x" }));
            }
            let answer = server.send(&ask).await;
            let text = answer.json().to_string().replace(id, "ID");
            seen.push((answer.status(), text));
        }
        assert_eq!(seen[0].0, 403, "{method} {rest}: {seen:?}");
        assert!(seen.iter().all(|it| *it == seen[0]), "{method} {rest}: {seen:?}");
    }
    assert_eq!(server.fake.pane(&other).unwrap().typed(), b"");
}

#[tokio::test]
async fn any_type_is_taken_only_where_a_browser_must_say_that_the_page_is_ours() {
    let server = TestServer::new().await;
    let routes = routes();
    let rows = routes.iter().zip(paths()).filter(|(row, _)| row.takes == AcceptedBody::Anything);
    let asks = rows.map(|(row, path)| (row.method.as_str(), path));
    let asks: Vec<_> = asks.chain([("POST", "/compat/agentmux/nothing".to_owned())]).collect();
    assert!(10 < asks.len());
    for (method, path) in asks {
        assert!(is_agentmux(&path) || path.ends_with("/upload"), "{path} takes anything");
        let form = server.ask(method, &path).body("application/x-www-form-urlencoded", "{}");
        for site in ["cross-site", "same-site"] {
            let ask = form.clone().header("sec-fetch-site", site);
            assert_eq!(server.send(&ask).await.status(), 403, "{ask:?}");
            let empty = server.ask(method, &path).header("sec-fetch-site", site);
            assert_eq!(server.send(&empty).await.status(), 403, "{empty:?}");
        }
        let foreign = form.clone().header("origin", "http://evil.example");
        assert_eq!(server.send(&foreign).await.status(), 403, "{foreign:?}");
        for site in ["same-origin", "none"] {
            let ask = form.clone().header("sec-fetch-site", site);
            assert_ne!(server.send(&ask).await.status(), 403, "{ask:?}");
        }
        assert_ne!(server.send(&form).await.status(), 415, "{form:?}");
    }
}
