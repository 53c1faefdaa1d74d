//! `/ws`: every message with its answer, and what is told unasked.

use paned_model::Exit;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use crate::house::House;
use crate::ws::client::Ws;

impl House {
    async fn door_ws(&self) -> Ws<TcpStream> {
        let stream = TcpStream::connect(self.open_door).await.unwrap();
        Ws::open(stream, &format!("ws://{}/ws", self.open_door), &[]).await.unwrap()
    }
}

fn subscribe(id: &str) -> Value {
    json!({ "type": "subscribe", "sessionId": id })
}

#[track_caller]
fn says(frame: &Value, text: &str) {
    assert_eq!(frame["type"], "error", "{frame}");
    let message = frame["error"]["message"].as_str().unwrap();
    assert!(message.contains(text), "{message}");
}

#[tokio::test]
async fn sessions_are_listed() {
    let house = House::new().await;
    let id = house.session().await;
    let list = house.door_ws().await.ask(json!({ "type": "session_list" })).await;
    let rest = house.door("GET", "/api/sessions", None).await.json();
    assert_eq!(list, json!({ "type": "session_list", "sessions": rest }));
    assert_eq!(list["sessions"][0]["id"], id);
}

#[tokio::test]
async fn whoever_subscribes_is_told_what_is_printed_from_then_on() {
    let house = House::new().await;
    let id = house.session().await;
    let pane = house.fake.pane(&id).unwrap();
    pane.print(b"before");
    let mut ws = house.door_ws().await;
    let subscribed = ws.ask(subscribe(&id)).await;
    assert_eq!(subscribed, json!({ "type": "subscribed", "sessionId": id }));
    pane.print(b"a\xc3");
    let told = ws.text().await;
    assert_eq!((&told["type"], &told["rawData"]), (&json!("raw_data"), &json!("a")));
    assert_eq!(told["session"]["id"], id);
    pane.print(b"\xa4");
    assert_eq!(ws.text().await["rawData"], "\u{e4}");
    let read = ws.ask(json!({ "type": "readRaw", "sessionId": id })).await;
    let expect = json!({ "type": "readRawResponse", "sessionId": id, "rawData": "beforea\u{e4}" });
    assert_eq!(read, expect);
    let gone = ws.ask(json!({ "type": "unsubscribe", "sessionId": id })).await;
    assert_eq!(gone, json!({ "type": "unsubscribed", "sessionId": id }));
    pane.print(b"more");
    assert_eq!(ws.ask(json!({ "type": "session_list" })).await["type"], "session_list");
}

#[tokio::test]
async fn a_spawn_is_told_to_all_and_then_subscribed_to() {
    let house = House::new().await;
    let (mut ws, mut other) = (house.door_ws().await, house.door_ws().await);
    // Both are there once they answer.
    other.ask(json!({ "type": "session_list" })).await;
    let spawn = json!({
        "type": "spawn", "command": "/bin/sh", "title": "T", "parentSessionId": "s",
        "notifyOnExit": true, "subscribe": true,
    });
    let update = ws.ask(spawn).await;
    assert_eq!(
        (&update["type"], &update["session"]["title"]),
        (&json!("session_update"), &json!("T"))
    );
    assert_eq!(update["session"]["notifyOnExit"], true);
    let id = update["session"]["id"].as_str().unwrap();
    assert_eq!(ws.text().await, json!({ "type": "subscribed", "sessionId": id }));
    assert_eq!(other.text().await, update);
    house.fake.pane(id).unwrap().print(b"x");
    assert_eq!(ws.text().await["rawData"], "x");
    house.fake.pane(id).unwrap().exit(Exit::Code(3));
    for ws in [&mut ws, &mut other] {
        let update = ws.text().await;
        let session = &update["session"];
        assert_eq!(update["type"], "session_update");
        assert_eq!((&session["status"], &session["exitCode"]), (&json!("exited"), &json!(3)));
    }
}

#[tokio::test]
async fn other_panes_are_never_told_of() {
    let house = House::new().await;
    let mut ws = house.door_ws().await;
    ws.ask(json!({ "type": "session_list" })).await;
    house.pane("other").await;
    house.act("pane:close", json!({ "paneId": "other" })).await;
    says(&ws.ask(subscribe("other")).await, "Session other not found");
    let id = house.session().await;
    assert_eq!(ws.text().await["session"]["id"], id);
}

#[tokio::test]
async fn no_ghost_is_left_after_a_cleanup() {
    let house = House::new().await;
    let id = house.session().await;
    let mut ws = house.door_ws().await;
    ws.ask(json!({ "type": "session_list" })).await;
    house.door("DELETE", &format!("/api/sessions/{id}/cleanup"), None).await;
    // Whatever was told of its end was told before it was forgotten: the list comes last, and is empty.
    ws.send(json!({ "type": "session_list" })).await;
    let mut told = ws.text().await;
    if told["type"] == "session_update" {
        assert_eq!(told["session"]["status"], "killed");
        told = ws.text().await;
    }
    assert_eq!(told, json!({ "type": "session_list", "sessions": [] }));
    says(&ws.ask(subscribe(&id)).await, "not found");
}

#[tokio::test]
async fn input_is_typed_in_order_and_never_answered() {
    let house = House::new().await;
    let id = house.session().await;
    let mut ws = house.door_ws().await;
    for (session, data) in [(id.as_str(), "a"), ("pty_00000000", "b"), (id.as_str(), "c")] {
        ws.send(json!({ "type": "input", "sessionId": session, "data": data })).await;
    }
    assert_eq!(ws.ask(json!({ "type": "session_list" })).await["type"], "session_list");
    assert_eq!(house.fake.pane(&id).unwrap().typed(), b"ac");
}

#[tokio::test]
async fn what_is_not_understood_is_told_and_ends_nothing() {
    let house = House::new().await;
    let mut ws = house.door_ws().await;
    says(&ws.ask(json!({ "type": "dance" })).await, "Unknown message type");
    ws.send_raw(Message::text("{")).await;
    says(&ws.text().await, "JSON Parse error");
    ws.send_raw(Message::binary(vec![1])).await;
    says(&ws.text().await, "Binary messages are not supported");
    says(&ws.ask(json!({ "type": "spawn" })).await, "Command is required");
    says(&ws.ask(json!({ "type": "spawn", "command": "/no/such" })).await, "PTY spawn failed");
    says(&ws.ask(json!({ "type": "readRaw", "sessionId": "x" })).await, "Session x not found");
    let unknown = ws.ask(json!({ "type": "unsubscribe", "sessionId": "x" })).await;
    assert_eq!(unknown, json!({ "type": "unsubscribed", "sessionId": "x" }));
}

#[tokio::test]
async fn a_foreign_page_is_kept_out_and_a_plain_request_told_to_upgrade() {
    let house = House::new().await;
    let stream = TcpStream::connect(house.open_door).await.unwrap();
    let url = format!("ws://{}/ws", house.open_door);
    let refused = Ws::open(stream, &url, &[("origin", "http://evil.example")]).await;
    assert_eq!(refused.err().unwrap(), 403);
    assert_eq!(house.door("GET", "/ws", None).await.status(), 426);
    let upgrade = house.knock("GET", "/ws").header("upgrade", "websocket");
    assert_eq!(house.send_door(&upgrade).await.status(), 400);
}
