//! Events: in order, at least once, from a place of the extension's own.

use std::time::Duration;

use paned_ext::ExtensionRunner;
use serde_json::{Value, json};

use crate::test_runtime::{TestRuntime, payload, wait_for};

/// Writes down the payload of every event.
const RECORDER: &str = r#"
path = os.path.join(os.environ["PANED_EXTENSION_DATA"], "seen")
for message in messages():
    if message.get("method") == "initialize":
        notify("subscribe", events=["test:*", "action:*", "gap"])
        answer(message)
    elif message.get("method") == "handleEvent":
        event = message["params"]
        number = event["payload"].get("number")
        if number == "hang":
            continue
        with open(path, "a") as file:
            file.write(json.dumps(event) + "\n")
        if number == "crash":
            os._exit(1)
        if number == "error":
            send(id=message["id"], error={"code": 1, "message": "cannot"})
        elif number == "call":
            send(id="x", method="emit", params={"name": "pong"})
            answer(message)
        else:
            answer(message)
    elif message.get("method") == "shutdown":
        break
"#;

async fn emit(server: &TestRuntime, number: impl Into<Value>) {
    let event = json!({ "name": "test:event", "payload": { "number": number.into() } });
    server.act("event:emit", event).await.unwrap();
}

/// What was seen, once there are so many.
async fn seen(server: &TestRuntime, name: &str, count: usize) -> Vec<Value> {
    let path = server.dir.path().join("extensions").join(name).join("data/seen");
    let look = || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().filter_map(|it| serde_json::from_str(it).ok());
        let events: Vec<Value> =
            lines.filter(|event: &Value| event["name"] == "test:event").collect();
        (count <= events.len()).then_some(events)
    };
    match wait_for(look).await {
        Some(events) => events,
        None => panic!("not {count} events: {}", server.log(name)),
    }
}

fn numbers(events: &[Value]) -> Vec<Value> {
    events.iter().map(|event| event["payload"]["number"].clone()).collect()
}

#[tokio::test]
async fn events_come_in_order_from_the_start_of_the_server_on_and_once_over_a_reload() {
    let server = TestRuntime::new().await;
    for number in 0..100 {
        emit(&server, number).await;
    }
    let setup = server.setup("recorder", RECORDER);
    server.start_setup(setup.clone()).await;
    for number in 100..200 {
        emit(&server, number).await;
    }
    seen(&server, "recorder", 200).await;
    server.start_setup(setup.clone()).await;
    server.runtime.stop("recorder", true).await;
    for number in 200..210 {
        emit(&server, number).await;
    }
    server.start_setup(setup).await;
    let events = seen(&server, "recorder", 210).await;
    assert_eq!(numbers(&events), (0..210).map(Value::from).collect::<Vec<_>>());
    assert!(events[0]["time"].is_string() && events[0]["id"].is_u64(), "{}", events[0]);
}

#[tokio::test]
async fn an_event_that_fails_is_reported_and_the_next_one_comes() {
    let server = TestRuntime::new().await;
    let mut setup = server.setup("recorder", RECORDER);
    setup.manifest.timeout = Some(Duration::from_millis(200));
    server.start_setup(setup).await;
    let mut errors = server.feed("handler:error");
    emit(&server, "error").await;
    assert_eq!(
        payload(&mut errors).await,
        json!({ "source": "recorder", "event": "test:event", "error": "cannot" })
    );
    emit(&server, "hang").await;
    emit(&server, 1).await;
    let late = payload(&mut errors).await;
    let expect = json!("no answer within 200 ms");
    assert_eq!((&late["event"], &late["error"]), (&json!("test:event"), &expect));
    let events = seen(&server, "recorder", 2).await;
    assert_eq!(numbers(&events), [json!("error"), json!(1)]);
    assert_eq!(server.state("recorder").restarts, 0);
}

#[tokio::test]
async fn after_a_crash_it_continues_with_the_event_that_was_not_handled() {
    let server = TestRuntime::new().await;
    server.start("recorder", RECORDER).await;
    emit(&server, 1).await;
    seen(&server, "recorder", 1).await;
    emit(&server, "crash").await;
    emit(&server, 2).await;
    server.until("recorder", |state| state.restarts == 1).await;
    let events = seen(&server, "recorder", 3).await;
    let numbers = numbers(&events);
    assert_eq!(numbers[..3], [json!(1), json!("crash"), json!("crash")], "{numbers:?}");
}

#[tokio::test]
async fn its_own_calls_are_no_events_for_it_but_those_of_others_are() {
    let server = TestRuntime::new().await;
    server.start("recorder", RECORDER).await;
    emit(&server, "call").await;
    seen(&server, "recorder", 1).await;
    let mut pong = server.feed("recorder:pong");
    payload(&mut pong).await;
    emit(&server, 1).await;
    seen(&server, "recorder", 2).await;
    let path = server.dir.path().join("extensions/recorder/data/seen");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(r#""caller": "owner""#), "{text}");
    assert!(!text.contains("ext:recorder"), "{text}");
}

#[tokio::test]
async fn a_slow_extension_holds_up_no_other() {
    let server = TestRuntime::new().await;
    let slow = RECORDER.replace(r#"        event = message["params"]"#, "        time.sleep(1000)");
    server.start("slow", &slow).await;
    server.start("quick", &RECORDER.replace("\"action:*\", ", "")).await;
    for number in 0..300 {
        emit(&server, number).await;
    }
    let events = seen(&server, "quick", 300).await;
    assert_eq!(events.len(), 300);
    server.runtime.shutdown().await;
}
