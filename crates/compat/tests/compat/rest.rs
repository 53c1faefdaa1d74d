//! `/api/sessions` and `/health`: every endpoint with its statuses and texts.

use paned_kernel::journal::JournalRead;
use paned_model::frame::Survivor;
use paned_model::{EventId, Exit, Size};
use serde_json::{Value, json};

use crate::test_server::TestServer;

/// The open listener answers with this status and text.
async fn check(
    server: &TestServer,
    (method, path): (&str, &str),
    body: Option<Value>,
    expect: (u16, &str),
) {
    let answer = server.listener(method, path, body).await;
    let text = answer.json()["error"].as_str().unwrap_or_default().to_owned();
    assert_eq!((answer.status(), text.as_str()), expect, "{method} {path}");
}

/// The first event of a name.
async fn first_event(server: &TestServer, name: &str) -> Value {
    let owner = server.kernel.owner(None);
    let mut feed = server.kernel.events(Some(EventId(0)), name.parse().unwrap(), &owner).unwrap();
    match feed.next(1).await {
        JournalRead::Entries(entries) => serde_json::from_str(&entries[0].payload).unwrap(),
        other => panic!("no event but {other:?}"),
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn a_session_is_created_with_everything_that_was_asked_for() {
    let server = TestServer::new().await;
    let body = json!({
        "command": "/bin/sh", "args": ["-c", "x"], "workdir": "/tmp", "env": { "COLOUR": "red" },
        "title": "Build", "description": "Builds it", "notifyOnExit": true, "timeoutSeconds": 7,
        "parentSessionId": "ses_1",
    });
    let answer = server.listener("POST", "/api/sessions", Some(body)).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.head.get("content-type"), Some("application/json"));
    let mut info = answer.json();
    let id = info["id"].as_str().unwrap().to_owned();
    let digits = id.strip_prefix("pty_").unwrap();
    assert!(digits.len() == 8 && digits.bytes().all(|c| c.is_ascii_hexdigit()), "{id}");
    let created = info.as_object_mut().unwrap().remove("createdAt").unwrap();
    assert!(created.as_str().unwrap().ends_with('Z'));
    let expect = json!({
        "id": id, "title": "Build", "description": "Builds it", "command": "/bin/sh",
        "args": ["-c", "x"], "workdir": "/tmp", "status": "running", "notifyOnExit": true,
        "timeoutSeconds": 7, "timedOut": false, "pid": paned_backend::fake::FAKE_PID, "lineCount": 0,
    });
    assert_eq!(info, expect);
    let order = server.fake.pane(&id).unwrap().spec.clone();
    assert_eq!(order.size, Size { cols: 120, rows: 40 });
    assert!(order.env.contains(&("COLOUR".to_owned(), "red".to_owned())));
    assert_eq!(order.timeout.unwrap().as_secs(), 7);
    let pane = server.act("pane:get", json!({ "paneId": id })).await;
    assert_eq!(pane["meta"]["opencode.description"], "Builds it");
}

#[tokio::test]
async fn an_end_is_told_in_the_words_that_clients_know() {
    let server = TestServer::new().await;
    let body = json!({
        "command": "/bin/sh", "title": "Build", "description": "Builds it", "notifyOnExit": true,
    });
    let info = server.listener("POST", "/api/sessions", Some(body)).await.json();
    let pane = server.fake.pane(info["id"].as_str().unwrap()).unwrap();
    pane.print(b"made\r\n");
    pane.exit(Exit::Code(0));
    let notice = first_event(&server, "pane:notice").await;
    let expect = format!(
        "<pty_exited>\nID: {}\nDescription: Builds it\nExit Code: 0\nTimeoutSeconds: none\nTimed Out: no\n\
         Output Lines: 1\nLast Line: made\n</pty_exited>\n\nUse pty_read to check the full output.",
        info["id"].as_str().unwrap()
    );
    assert_eq!(notice["text"], expect);
}

#[tokio::test]
async fn sessions_of_a_deleted_parent_are_cleaned_up_and_no_others() {
    let server = TestServer::new().await;
    let start = async |parent: Value| {
        let body =
            json!({ "command": "/bin/sh", "parentSessionId": parent, "parentAgent": "build" });
        let info = server.listener("POST", "/api/sessions", Some(body)).await.json();
        info["id"].as_str().unwrap().to_owned()
    };
    let (one, two) = (start(json!("ses_1")).await, start(json!("ses_1")).await);
    let (other, none) = (start(json!("ses_2")).await, start(Value::Null).await);
    let pane = server.act("pane:get", json!({ "paneId": one })).await;
    assert_eq!(pane["meta"]["opencode.parentSessionId"], "ses_1");
    assert_eq!(pane["meta"]["opencode.parentAgent"], "build");
    let list = async |query: &str| -> Vec<String> {
        let all = server.listener("GET", &format!("/api/sessions{query}"), None).await.json();
        let ids = all.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    assert_eq!(list("?parentSessionId=ses_1").await, [one.clone(), two.clone()]);
    let empty = server.listener("DELETE", "/api/sessions?parentSessionId=", None).await;
    assert_eq!(empty.status(), 400, "it must not mean all");
    let cleared = server.listener("DELETE", "/api/sessions?parentSessionId=ses_1", None).await;
    assert_eq!(cleared.json(), json!({ "success": true }));
    assert_eq!(list("").await, [other, none]);
}

#[tokio::test]
async fn a_notice_says_which_session_of_opencode_it_is_for() {
    let server = TestServer::new().await;
    let body = json!({
        "command": "/bin/sh", "notifyOnExit": true, "parentSessionId": "ses_7", "parentAgent": "plan",
    });
    let info = server.listener("POST", "/api/sessions", Some(body)).await.json();
    server.fake.pane(info["id"].as_str().unwrap()).unwrap().exit(Exit::Code(1));
    let notice = first_event(&server, "pane:notice").await;
    assert_eq!(notice["recipient"], json!({ "sessionId": "ses_7", "agent": "plan" }));
    assert_eq!(notice["paneId"], info["id"]);
}

#[tokio::test]
async fn what_is_not_known_is_left_out() {
    let server = TestServer::new().await;
    let body = json!({ "command": "/bin/sh", "args": ["-i"] });
    let info = server.listener("POST", "/api/sessions", Some(body)).await.json();
    let expect = [
        "args",
        "command",
        "createdAt",
        "id",
        "lineCount",
        "notifyOnExit",
        "pid",
        "status",
        "timedOut",
        "title",
        "workdir",
    ];
    assert_eq!(keys(&info), expect);
    assert_eq!(info["title"], "/bin/sh -i");
    let body = json!({ "command": "/bin/sh", "description": "d" });
    assert_eq!(server.listener("POST", "/api/sessions", Some(body)).await.json()["title"], "d");
}

#[tokio::test]
async fn a_bad_request_is_refused_in_known_words() {
    let server = TestServer::new().await;
    let path = ("POST", "/api/sessions");
    let broken = server.pty_request("POST", "/api/sessions").body("application/json", "{");
    let answer = server.send_pty(&broken).await;
    assert_eq!(answer.json()["error"], "Invalid JSON in request body");
    check(&server, path, Some(json!({})), (400, "Command is required")).await;
    let body = json!({ "command": "/no/such" });
    check(&server, path, Some(body), (400, "PTY spawn failed")).await;
    let body = json!({ "command": "/bin/sh", "workdir": "/no/such" });
    check(&server, path, Some(body), (400, "PTY spawn failed")).await;
    let body = json!({ "command": "/bin/sh", "timeoutSeconds": 0 });
    let text = "timeoutSeconds must be a positive integer in seconds";
    check(&server, path, Some(body), (400, text)).await;
}

#[tokio::test]
async fn only_sessions_of_the_listener_are_there() {
    let server = TestServer::new().await;
    server.pane("other").await;
    let id = server.session().await;
    let list = server.listener("GET", "/api/sessions", None).await.json();
    let ids: Vec<_> = list.as_array().unwrap().iter().map(|info| info["id"].clone()).collect();
    assert_eq!(ids, [json!(id)]);
    let one = server.listener("GET", &format!("/api/sessions/{id}"), None).await.json();
    assert_eq!(one, list[0]);
    for none in ["other", "pty_00000000", "-x", "%20"] {
        let path = |rest: &str| format!("/api/sessions/{none}{rest}");
        let missing = (404, "Session not found");
        check(&server, ("GET", &path("")), None, missing).await;
        check(&server, ("GET", &path("/buffer/raw")), None, missing).await;
        check(&server, ("GET", &path("/buffer/plain")), None, missing).await;
        let failed = (400, "Failed to kill session");
        check(&server, ("DELETE", &path("")), None, failed).await;
        check(&server, ("DELETE", &path("/cleanup")), None, failed).await;
        let (data, failed) = (json!({ "data": "x" }), (400, "Failed to write to session"));
        check(&server, ("POST", &path("/input")), Some(data), failed).await;
    }
    assert!(server.fake.pane("other").unwrap().typed().is_empty());
}

#[tokio::test]
async fn input_is_typed_as_it_is_and_passed_over_once_the_program_ended() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let path = format!("/api/sessions/{id}/input");
    let data = || Some(json!({ "data": "a\\n\r" }));
    let answer = server.listener("POST", &path, data()).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
    assert_eq!(server.fake.pane(&id).unwrap().typed(), b"a\\n\r");
    for body in [json!({}), json!({ "data": "" }), json!({ "data": 7 }), json!([])] {
        let text = "Data field is required and must be a string";
        check(&server, ("POST", &path), Some(body), (400, text)).await;
    }
    server.fake.pane(&id).unwrap().exit(Exit::Code(0));
    server.act("pane:wait", json!({ "paneId": id, "exit": true })).await;
    assert_eq!(server.listener("POST", &path, data()).await.json(), json!({ "success": true }));
}

#[tokio::test]
async fn output_is_shown_raw_and_plain_each_with_its_length() {
    let server = TestServer::new().await;
    let id = server.session().await;
    server.fake.pane(&id).unwrap().print("\x1b[31m\u{e4}\u{1f600}\x1b[0m\r\n".as_bytes());
    let get = |view: &str| {
        let path = format!("/api/sessions/{id}/buffer/{view}");
        let server = &server;
        async move { server.listener("GET", &path, None).await.json() }
    };
    let raw = json!({ "raw": "\x1b[31m\u{e4}\u{1f600}\x1b[0m\r\n", "byteLength": 14 });
    assert_eq!(get("raw").await, raw);
    assert_eq!(get("plain").await, json!({ "plain": "\u{e4}\u{1f600}\r\n", "byteLength": 8 }));
}

#[tokio::test]
async fn a_last_line_that_has_not_ended_counts() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let count = async || {
        let one = server.listener("GET", &format!("/api/sessions/{id}"), None).await.json();
        let all = server.listener("GET", "/api/sessions", None).await.json();
        assert_eq!(all[0]["lineCount"], one["lineCount"]);
        one["lineCount"].as_u64().unwrap()
    };
    for (text, lines) in [("", 0), ("a", 1), ("b\r\n", 1), ("\r\nc\r\nd", 4), ("\n", 4)] {
        server.fake.pane(&id).unwrap().print(text.as_bytes());
        assert_eq!(count().await, lines, "{text:?}");
    }
}

#[tokio::test]
async fn ends_are_told_as_they_were() {
    let server = TestServer::new().await;
    let get = async |id: &str| {
        server.act("pane:wait", json!({ "paneId": id, "exit": true })).await;
        server.listener("GET", &format!("/api/sessions/{id}"), None).await.json()
    };
    let id = server.session().await;
    server.fake.pane(&id).unwrap().exit(Exit::Code(3));
    let info = get(&id).await;
    assert_eq!((&info["status"], &info["exitCode"]), (&json!("exited"), &json!(3)));
    assert!(info.get("exitSignal").is_none(), "{info}");
    let id = server.session().await;
    server.fake.pane(&id).unwrap().exit(Exit::Signal(9));
    let info = get(&id).await;
    assert_eq!((&info["status"], &info["exitSignal"]), (&json!("exited"), &json!("SIGKILL")));
    assert!(info.get("exitCode").is_none(), "{info}");
}

#[tokio::test]
async fn a_kill_keeps_and_a_cleanup_forgets() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let (one, cleanup) = (format!("/api/sessions/{id}"), format!("/api/sessions/{id}/cleanup"));
    for _ in 0..2 {
        let killed = server.listener("DELETE", &one, None).await;
        assert_eq!((killed.status(), killed.json()), (200, json!({ "success": true })));
    }
    let info = server.listener("GET", &one, None).await.json();
    assert_eq!((&info["status"], &info["exitSignal"]), (&json!("killed"), &json!("SIGTERM")));
    assert_eq!(server.listener("DELETE", &cleanup, None).await.json(), json!({ "success": true }));
    check(&server, ("GET", &one), None, (404, "Session not found")).await;
    check(&server, ("DELETE", &cleanup), None, (400, "Failed to kill session")).await;
}

#[tokio::test]
async fn a_kill_that_leaves_something_alive_is_no_success() {
    let server = TestServer::new().await;
    let id = server.session().await;
    let survivor = Survivor { pid: 9, command: "stubborn".into() };
    server.fake.pane(&id).unwrap().leave_survivors(vec![survivor]);
    let path = format!("/api/sessions/{id}");
    check(&server, ("DELETE", &path), None, (400, "Failed to kill session")).await;
    assert_eq!(server.listener("GET", &path, None).await.json()["status"], "running");
}

#[tokio::test]
async fn all_are_cleared_and_nothing_else_is() {
    let server = TestServer::new().await;
    server.pane("other").await;
    server.session().await;
    server.session().await;
    let cleared = server.listener("DELETE", "/api/sessions", None).await;
    assert_eq!((cleared.status(), cleared.json()), (200, json!({ "success": true })));
    assert_eq!(server.listener("GET", "/api/sessions", None).await.json(), json!([]));
    assert_eq!(server.act("pane:list", json!({})).await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn health_counts_sessions() {
    let server = TestServer::new().await;
    let id = server.session().await;
    server.session().await;
    server.listener("DELETE", &format!("/api/sessions/{id}"), None).await;
    let health = server.listener("GET", "/health", None).await.json();
    assert_eq!(health["status"], "healthy");
    assert_eq!(health["sessions"], json!({ "total": 2, "active": 1 }));
    assert_eq!(health["websocket"], json!({ "connections": 0 }));
    assert_eq!(keys(&health["memory"]), ["heapTotal", "heapUsed", "rss"]);
    assert!(health["uptime"].is_f64() && health["responseTime"].is_u64(), "{health}");
    assert!(health["timestamp"].as_str().unwrap().ends_with('Z'));
}
