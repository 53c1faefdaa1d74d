//! Dispatch: what is refused, what is recorded, in which order.

use paned_model::Code;
use serde_json::json;

use crate::test_kernel::{TestKernel, code, names, next};

#[tokio::test(start_paused = true)]
async fn a_change_is_told_before_and_after_and_in_between_is_the_fact() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("*");
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let told = names(&mut feed, 4).await;
    assert_eq!(told, ["server:started", "action:start", "pane:created", "action:success"]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_change_is_told_as_an_error_with_its_code() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("action:error");
    let refused = server.act("pane:close", json!({ "paneId": "nobody" })).await;
    assert_eq!(code(refused).0, Code::NotFound);
    let told = next(&mut feed).await;
    let payload: serde_json::Value = serde_json::from_str(&told.payload).unwrap();
    assert_eq!(payload["actionName"], "pane:close");
    assert_eq!(payload["params"]["paneId"], "nobody");
    assert_eq!(payload["errorInfo"]["code"], "not_found");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_told_only_while_somebody_listens() {
    let server = TestKernel::new().await;
    server.act("pane:list", json!({})).await.unwrap();
    let mut feed = server.feed("action:*");
    server.act("pane:list", json!({ "tag": "x" })).await.unwrap();
    let told = next(&mut feed).await;
    assert_eq!((told.name.as_str(), told.id.0), ("action:start", 2));
    assert!(told.payload.contains("\"tag\":\"x\""));
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_recorded_comes_alone_unless_somebody_listens_for_actions() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("t:*");
    server.act("event:emit", json!({ "name": "t:a" })).await.unwrap();
    assert_eq!(next(&mut feed).await.id.0, 2);
    let _actions = server.feed("action:success");
    server.act("event:emit", json!({ "name": "t:b" })).await.unwrap();
    // Between its start and its end.
    assert_eq!(next(&mut feed).await.id.0, 4);
}

#[tokio::test(start_paused = true)]
async fn ids_are_dense_and_rise() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("*");
    for n in 0..20 {
        server.act("event:emit", json!({ "name": "t:n", "payload": n })).await.unwrap();
    }
    for id in 1..=61 {
        assert_eq!(next(&mut feed).await.id.0, id);
    }
}

#[tokio::test(start_paused = true)]
async fn parameters_are_refused_with_the_place_of_the_mistake() {
    let server = TestKernel::new().await;
    for (params, sentence) in [
        (json!({ "argv": ["sh"], "sise": {} }), "unknown parameter `sise`; did you mean `size`?"),
        (
            json!({ "argv": ["sh"], "size": { "cols": "x", "rows": 2 } }),
            "`size.cols` must be a whole number from 0 to 65535, not \"x\"",
        ),
        (json!({ "argv": "sh" }), "`argv` must be an array, not \"sh\""),
        (json!({ "argv": [] }), "`argv` must not be empty"),
        (json!({ "argv": ["sh", 5] }), "`argv[1]` must be a string, not 5"),
        (json!({ "id": "a/b" }), "`id`: invalid pane id `a/b`"),
        (json!({ "argv": ["sh"], "size": { "cols": 1, "rows": 24 } }), "a pane cannot be 1x24"),
        (
            json!({ "argv": ["no-such-program"] }),
            "no program `no-such-program` on the server's PATH",
        ),
        (json!({ "argv": ["sh"], "cwd": "/etc/passwd" }), "`cwd` is not a folder"),
        (json!({ "argv": ["sh"], "env": { "A=B": "" } }), "invalid variable name `A=B`"),
        (json!({ "argv": ["sh", "a\u{0}b"] }), "contains a NUL"),
        (json!({ "argv": ["sh"], "title": "a\nb" }), "`title` must be a single line"),
        (json!({ "argv": ["sh"], "timeoutSeconds": 0 }), "`timeoutSeconds`"),
        (
            json!({ "argv": ["sh"], "substrate": "screen" }),
            "`substrate`: invalid value `screen`; \
            expected `pty` or `tmux`",
        ),
    ] {
        let (refused, got) = code(server.act("pane:new", params).await);
        assert_eq!(refused, Code::Invalid, "{got}");
        assert!(got.contains(sentence), "{got}");
    }
    assert_eq!(server.act("pane:list", json!({})).await.unwrap(), json!([]));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_object_or_no_action_is_refused() {
    let server = TestKernel::new().await;
    assert_eq!(
        code(server.act("pane:list", json!([1])).await).1,
        "parameters must be a JSON \
        object"
    );
    assert_eq!(code(server.act("pane:fly", json!({})).await).0, Code::NotFound);
    let dispatch = |body: &'static [u8]| server.kernel.dispatch("pane:list", body, &server.owner);
    assert!(dispatch(b"").await.is_ok());
    assert!(dispatch(b"  ").await.is_ok());
    assert!(dispatch(b"{} x").await.is_err());
    assert!(dispatch(b"{").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn secrets_are_in_no_event() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("*");
    let env = json!({ "KEY": "hunter2" });
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"], "env": env })).await.unwrap();
    server.act("pane:write", json!({ "paneId": "a", "text": "hunter2\r" })).await.unwrap();
    let made = server.act("grant:create", json!({ "scopes": ["read"] })).await.unwrap();
    server.act("event:emit", json!({ "name": "t:last" })).await.unwrap();
    let token = made["token"].as_str().unwrap();
    loop {
        let entry = next(&mut feed).await;
        assert!(!entry.payload.contains("hunter2"), "{}", entry.payload);
        assert!(!entry.payload.contains(token), "{}", entry.payload);
        if entry.name == "t:last" {
            break;
        }
    }
}
