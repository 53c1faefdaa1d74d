//! Each message and its answer, and what a grant does not allow.

use std::time::Instant;

use paned_model::{Code, Exit, Size};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use super::client::WsClient;
use crate::client::DEADLINE;
use crate::test_server::TestServer;

#[tokio::test]
async fn each_message_does_what_its_action_does() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    for (message, answer) in [
        (json!({ "type": "input", "pane": "a", "text": "hi\n" }), json!({ "bytes": 3 })),
        (json!({ "type": "input", "pane": "a", "base64": "AP8=" }), json!({ "bytes": 2 })),
        (
            json!({ "type": "resize", "pane": "a", "cols": 90, "rows": 30 }),
            json!({ "id": "a", "size": { "cols": 90, "rows": 30 }, "changed": true }),
        ),
        (
            json!({ "type": "action", "name": "pane:get-meta", "params": { "paneId": "a" } }),
            json!({}),
        ),
    ] {
        let mut message = message;
        message["id"] = json!(7);
        let reply = ws.ask(message).await;
        assert_eq!((&reply["type"], &reply["id"]), (&json!("ok"), &json!(7)), "{reply}");
        if answer != json!({}) {
            assert_eq!(reply["answer"], answer);
        }
    }
    let pane = server.fake.pane("a").unwrap();
    assert_eq!(pane.typed(), b"hi\n\x00\xff");
    let shown = server.act("pane:get", json!({ "paneId": "a" })).await;
    assert_eq!(shown["size"], json!(Size { cols: 90, rows: 30 }));
}

#[tokio::test]
async fn keys_are_typed() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    let message = json!({ "type": "keys", "pane": "a", "keys": ["ctrl+c", "enter"], "id": 1 });
    assert_eq!(ws.ask(message).await["type"], "ok");
    assert_eq!(server.fake.pane("a").unwrap().typed(), b"\x03\r");
}

#[tokio::test]
async fn what_has_no_id_is_only_done() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    for text in ["o", "n", "e"] {
        ws.send(json!({ "type": "input", "pane": "a", "text": text })).await;
    }
    let reply = ws.ask(json!({ "type": "input", "pane": "a", "text": "!", "id": "x" })).await;
    assert_eq!((&reply["type"], &reply["id"]), (&json!("ok"), &json!("x")));
    assert_eq!(server.fake.pane("a").unwrap().typed(), b"one!");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_the_socket_lives_on() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    for (message, code) in [
        ("", Code::Invalid),
        ("[]", Code::Invalid),
        ("{}", Code::Invalid),
        (r#"{"type":"dance"}"#, Code::Invalid),
        (r#"{"type":"ping","x":1}"#, Code::Invalid),
        (r#"{"type":"ping","id":{}}"#, Code::Invalid),
        (r#"{"type":"subscribe"}"#, Code::Invalid),
        (r#"{"type":"subscribe","pane":"a/b"}"#, Code::Invalid),
        (r#"{"type":"subscribe","pane":"a","since":"end"}"#, Code::Invalid),
        (r#"{"type":"subscribe","pane":"a","since":-1}"#, Code::Invalid),
        (r#"{"type":"subscribe","pane":"a","window":0}"#, Code::Invalid),
        (r#"{"type":"subscribe","pane":"a","window":16777217}"#, Code::Invalid),
        (r#"{"type":"subscribe","pane":"none"}"#, Code::NotFound),
        (r#"{"type":"unsubscribe","channel":1}"#, Code::NotFound),
        (r#"{"type":"ack","channel":1,"offset":0}"#, Code::NotFound),
        (r#"{"type":"input","pane":"none","text":"x"}"#, Code::NotFound),
        (r#"{"type":"input","pane":"none"}"#, Code::NotFound),
        (r#"{"type":"resize","pane":"a","cols":80}"#, Code::Invalid),
        (r#"{"type":"events","include":"*x"}"#, Code::Invalid),
        (r#"{"type":"action","name":"no:such"}"#, Code::NotFound),
        (r#"{"type":"auth","token":"x"}"#, Code::Conflict),
    ] {
        ws.send_raw(Message::text(message)).await;
        assert_eq!(ws.refusal().await.code, code, "{message}");
    }
    ws.send_raw(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(ws.refusal().await.code, Code::Invalid);
    let long = json!({ "type": "ping", "id": "x".repeat(1 << 20) });
    ws.send(long).await;
    assert_eq!(ws.refusal().await.code, Code::Limit);
    ws.expect_quiet().await;
}

#[tokio::test]
async fn a_refusal_says_what_it_refuses() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    let reply = ws.ask(json!({ "type": "dance", "id": "x" })).await;
    assert_eq!(
        (&reply["type"], &reply["id"], &reply["code"]),
        (&json!("error"), &json!("x"), &json!("invalid"))
    );
    assert!(reply["error"].as_str().unwrap().contains("subscribe"), "{reply}");
}

/// Checks that this grant is refused with this code for each of these messages.
async fn check(grant: Value, messages: &[Value], code: Code) {
    let server = TestServer::new().await;
    server.pane("a").await;
    server.pane("b").await;
    let before = server.act("pane:list", json!({})).await;
    let (_, token) = server.grant(grant).await;
    let mut ws = server.ws_as(&token).await;
    for message in messages {
        ws.send(message.clone()).await;
        assert_eq!(ws.refusal().await.code, code, "{message}");
    }
    ws.expect_quiet().await;
    assert_eq!(server.fake.pane("a").unwrap().typed(), b"");
    assert_eq!(server.act("pane:list", json!({})).await, before);
}

fn changes() -> Vec<Value> {
    let new = json!({ "id": "c", "argv": ["/bin/sh"] });
    vec![
        json!({ "type": "input", "pane": "a", "text": "x" }),
        json!({ "type": "keys", "pane": "a", "keys": ["enter"] }),
        json!({ "type": "resize", "pane": "a", "cols": 90, "rows": 30 }),
        json!({ "type": "action", "name": "pane:write", "params": { "paneId": "a", "text": "x" } }),
        json!({ "type": "action", "name": "pane:new", "params": new }),
        json!({ "type": "action", "name": "pane:kill", "params": { "paneId": "a" } }),
    ]
}

fn looks() -> Vec<Value> {
    let froms = [json!("screen"), json!("start"), json!("now"), json!(0)];
    froms.map(|from| json!({ "type": "subscribe", "pane": "a", "since": from })).to_vec()
}

#[tokio::test]
async fn whoever_may_only_read_changes_nothing() {
    check(json!({ "scopes": ["read"] }), &changes(), Code::Forbidden).await;
}

#[tokio::test]
async fn whoever_may_not_read_sees_nothing() {
    let mut messages = looks();
    messages.push(json!({ "type": "events", "include": "*" }));
    check(json!({ "scopes": ["input"] }), &messages, Code::Forbidden).await;
}

#[tokio::test]
async fn a_grant_for_one_pane_reaches_no_other() {
    let grant = json!({ "scopes": ["read", "input"], "panes": ["b"] });
    let messages: Vec<_> = looks().into_iter().chain(changes().into_iter().take(4)).collect();
    check(grant, &messages, Code::Forbidden).await;
}

#[tokio::test]
async fn events_come_over_the_same_socket() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    let id = server.emit("a:x", &json!({ "n": 1 })).await;
    let follow = json!({ "type": "events", "include": "a:*", "since": id - 1, "id": 1 });
    assert_eq!(ws.ask(follow).await, json!({ "type": "ok", "id": 1 }));
    let event = ws.text().await;
    assert_eq!((&event["type"], &event["id"]), (&json!("event"), &json!(id)));
    assert_eq!((&event["name"], &event["payload"]), (&json!("a:x"), &json!({ "n": 1 })));
    assert!(event["time"].is_string());
    server.emit("b:x", &json!({})).await;
    server.emit("a:y", &json!({})).await;
    assert_eq!(ws.text().await["name"], "a:y");
    assert_eq!(ws.ask(json!({ "type": "events", "include": "", "id": 2 })).await["type"], "ok");
    server.emit("a:z", &json!({})).await;
    ws.expect_quiet().await;
}

#[tokio::test]
async fn a_thousand_events_come_in_order() {
    let server = TestServer::new().await;
    let mut ws = server.ws().await;
    ws.ask(json!({ "type": "events", "include": "a:x", "id": 1 })).await;
    let owner = server.kernel.owner(None);
    let payload = "x".repeat(1000);
    for n in 0..1000 {
        let params = json!({ "name": "a:x", "payload": { "n": n, "x": payload } }).to_string();
        server.kernel.dispatch("event:emit", params.as_bytes(), &owner).await.unwrap();
    }
    for n in 0..1000 {
        assert_eq!(ws.text().await["payload"]["n"], n);
    }
}

#[tokio::test]
async fn an_action_that_waits_holds_up_nothing() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    let until = json!({ "paneId": "a", "pattern": "ready" });
    ws.send(json!({ "type": "action", "name": "pane:wait", "params": until, "id": "wait" })).await;
    let reply = ws.ask(json!({ "type": "input", "pane": "a", "text": "x", "id": "input" })).await;
    assert_eq!((&reply["type"], &reply["id"]), (&json!("ok"), &json!("input")));
    server.fake.pane("a").unwrap().print(b"ready\r\n");
    let reply = ws.text().await;
    assert_eq!((&reply["type"], &reply["id"]), (&json!("ok"), &json!("wait")), "{reply}");
}

#[tokio::test]
async fn more_than_may_be_under_way_is_read_when_some_is_done() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    for id in 0..500 {
        ws.send(json!({ "type": "input", "pane": "a", "text": "x", "id": id })).await;
    }
    for id in 0..500 {
        assert_eq!(ws.text().await["id"], id);
    }
    assert_eq!(server.fake.pane("a").unwrap().typed(), [b'x'; 500]);
}

/// A socket with 64 waits under way.
async fn waiting(server: &TestServer) -> WsClient<TcpStream> {
    let mut ws = server.ws().await;
    for id in 0..64 {
        let until = json!({ "paneId": "a", "pattern": "ready", "timeoutMs": 600_000 });
        ws.send(json!({ "type": "action", "name": "pane:wait", "params": until, "id": id })).await;
    }
    ws
}

#[tokio::test]
async fn however_much_waits_a_client_is_heard() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = waiting(&server).await;
    assert_eq!(ws.ask(json!({ "type": "ping" })).await["type"], "pong");
    let typed = ws.ask(json!({ "type": "input", "pane": "a", "text": "x", "id": "i" })).await;
    assert_eq!((&typed["type"], &typed["id"]), (&json!("ok"), &json!("i")));
    let emit = json!({ "name": "a:b" });
    let action = json!({ "type": "action", "name": "event:emit", "params": emit, "id": "e" });
    assert_eq!(ws.ask(action).await["id"], "e");
    let more = ws.ask(json!({ "type": "action", "name": "pane:list", "id": "more" })).await;
    assert_eq!((&more["code"], &more["id"]), (&json!("limit"), &json!("more")), "{more}");
    server.fake.pane("a").unwrap().print(b"ready\r\n");
    for _ in 0..64 {
        assert_eq!(ws.text().await["type"], "ok");
    }
    let more = ws.ask(json!({ "type": "action", "name": "pane:list", "id": "more" })).await;
    assert_eq!(more["type"], "ok", "{more}");
}

#[tokio::test]
async fn a_client_that_is_gone_holds_no_size_whatever_it_waited_for() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = waiting(&server).await;
    let resize = json!({ "type": "resize", "pane": "a", "cols": 90, "rows": 30, "id": "r" });
    assert_eq!(ws.ask(resize).await["type"], "ok");
    let run = json!({ "id": "r", "argv": ["/bin/sh"] });
    ws.send(json!({ "type": "action", "name": "pane:run", "params": run })).await;
    let began = Instant::now();
    drop(ws);
    let other = json!({ "type": "resize", "pane": "a", "cols": 80, "rows": 24, "id": 1 });
    while server.ws().await.ask(other.clone()).await["type"] != "ok" {
        assert!(began.elapsed() < DEADLINE, "its size is still held");
    }
    while server.metric("paned_ws_sockets").await != 0 {
        assert!(began.elapsed() < DEADLINE, "it is still there");
    }
}

#[tokio::test]
async fn what_was_typed_before_a_goodbye_is_typed() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    for _ in 0..40 {
        ws.send(json!({ "type": "input", "pane": "a", "text": "x" })).await;
    }
    ws.send_raw(Message::Close(None)).await;
    let began = Instant::now();
    while server.fake.pane("a").unwrap().typed().len() < 40 {
        assert!(began.elapsed() < DEADLINE, "{:?}", server.fake.pane("a").unwrap().typed());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_exit_says_how_it_ended() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    ws.subscribe("a", json!("now")).await;
    let pane = server.fake.pane("a").unwrap();
    pane.print(b"bye");
    pane.exit(Exit::Code(3));
    assert_eq!(ws.bytes().await.bytes, b"bye");
    let exit = ws.text().await;
    assert_eq!((&exit["type"], &exit["channel"]), (&json!("exit"), &json!(1)));
    assert_eq!((&exit["status"], &exit["exitCode"]), (&json!("exited"), &json!(3)));
    assert_eq!((&exit["timedOut"], &exit["offset"]), (&json!(false), &json!(3)));
    ws.send(json!({ "type": "ack", "channel": 1, "offset": 3 })).await;
    ws.expect_quiet().await;
}
