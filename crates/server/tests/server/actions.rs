//! Actions and events by POST.

use paned_model::Code;
use serde_json::{Value, json};

use crate::test_server::TestServer;

#[track_caller]
fn post(path: &str, body: &str, status: u16, expect: &str) -> impl Future<Output = ()> {
    let (path, body, expect) = (path.to_owned(), body.to_owned(), expect.to_owned());
    async move {
        let server = TestServer::new().await;
        let ask = server.ask("POST", &path).body("application/json; charset=utf-8", &body);
        let answer = server.send(&ask).await;
        assert_eq!(answer.status(), status, "{path}: {answer:?}");
        assert!(answer.body.contains(&expect), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn an_action_is_answered_as_it_is() {
    let server = TestServer::new().await;
    let answer = server.act("pane:new", json!({ "id": "a", "argv": ["/bin/sh"] })).await;
    assert_eq!(answer["id"], "a");
    assert_eq!(server.act("pane:list", json!({})).await[0]["id"], "a");
    assert_eq!(server.act("pane:kill", json!({ "paneId": "a" })).await["id"], "a");
}

#[tokio::test]
async fn a_name_may_be_written_as_a_url_wants_it() {
    let server = TestServer::new().await;
    let answer = server.act("server%3Astatus", json!({})).await;
    assert_eq!(answer["version"], "1.2.3");
}

#[tokio::test]
async fn no_body_is_no_parameters() {
    let server = TestServer::new().await;
    let answer = server.send(&server.ask("POST", "/action/pane:list")).await;
    assert_eq!((answer.status(), answer.json()), (200, json!([])));
}

#[tokio::test]
async fn what_makes_no_sense_is_answered() {
    post("/action/no:such", "{}", 404, "no action `no:such`").await;
    post("/action/pane%2Flist", "{}", 404, "no action `pane/list`").await;
    post("/action/%ff", "{}", 400, "not UTF-8").await;
    post("/action/pane:list", "[]", 400, "JSON object").await;
    post("/action/pane:list", "{", 400, "EOF").await;
    post("/action/pane:list", "{\"x\":1}", 400, "unknown parameter `x`").await;
    post("/action/pane:get", "{\"paneId\":\"nope\"}", 404, "nope").await;
    post("/emit/a:b", "{", 400, "not valid JSON").await;
    post("/emit/pane:exited", "{}", 400, "reserved for paned").await;
}

#[tokio::test]
async fn a_deep_body_is_refused_and_does_no_harm() {
    let deep = format!("{{\"meta\":{{\"a\":{}{}}}}}", "[".repeat(100_000), "]".repeat(100_000));
    post("/action/pane:list", &deep, 400, "recursion limit").await;
    post("/emit/a:b", &deep, 400, "recursion limit").await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    use crate::client::{DEADLINE, RawRequest};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let server = TestServer::new().await;
    let RawRequest { headers, .. } = server.ask("POST", "/action/pane:list");
    let ask = RawRequest { headers, ..RawRequest::new("POST", "/action/pane:list") };
    let ask = ask.body("application/json", "{\"tag\":\"??\"}").header("connection", "close");
    let bytes = ask.text().into_bytes().into_iter();
    let bytes: Vec<u8> = bytes.map(|byte| if byte == b'?' { 0xff } else { byte }).collect();
    let mut stream = server.tcp().await;
    stream.write_all(&bytes).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(DEADLINE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 400") && answer.contains("\"code\":\"invalid\""),
        "{answer}"
    );
}

#[tokio::test]
async fn an_emitted_event_carries_the_body() {
    let server = TestServer::new().await;
    let mut events = server.follow("build:*").await;
    for (body, payload) in
        [("{\"ok\":\n true}", json!({ "ok": true })), ("", json!({})), ("[1]", json!([1]))]
    {
        let ask = server.ask("POST", "/emit/build:done");
        let ask = if body.is_empty() { ask } else { ask.body("application/json", body) };
        let id = server.send(&ask).await.json()["id"].as_u64();
        let event = events.event().await.unwrap();
        assert_eq!((event.id(), event.get("event")), (id, Some("build:done")));
        assert_eq!(serde_json::from_str::<Value>(event.get("data").unwrap()).unwrap(), payload);
    }
}

#[tokio::test]
async fn a_refusal_of_the_kernel_is_shown_as_it_is() {
    let server = TestServer::new().await;
    let ask = server.ask("POST", "/action/pane:get").json(&json!({ "paneId": 7 }));
    let refusal = server.send(&ask).await.refusal();
    assert_eq!((refusal.code, refusal.details), (Code::Invalid, Some(json!({ "path": "paneId" }))));
}
