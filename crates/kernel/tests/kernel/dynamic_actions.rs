//! Actions that are added and removed at run time.

use std::sync::Arc;

use paned_kernel::{AccessRequest, ActionHandler, ActionKind, ActionSpec, BoxedFuture, Caller};
use paned_model::{Code, PaneId, Refusal, Scope};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code, next};

/// Answers with its parameters and its caller's grant, once it may go on.
#[derive(Default)]
struct EchoHandler {
    started: Notify,
    may_finish: Notify,
    waits: bool,
}

impl ActionHandler for EchoHandler {
    fn access(&self, params: &Value) -> AccessRequest {
        let pane = params["paneId"].as_str().map(|id| id.parse::<PaneId>().unwrap());
        AccessRequest::panes(&pane)
    }

    fn run(&self, caller: Caller, params: Value) -> BoxedFuture<'_, Result<Value, Refusal>> {
        Box::pin(async move {
            self.started.notify_one();
            if self.waits {
                self.may_finish.notified().await;
            }
            Ok(json!({ "echo": params["text"], "grant": caller.grant.id }))
        })
    }
}

fn spec(name: &str, handler: Arc<EchoHandler>) -> ActionSpec {
    ActionSpec {
        name: name.to_owned(),
        doc: "Say it again.".to_owned(),
        scope: Scope::Input,
        kind: ActionKind::Change,
        params: json!({
            "type": "object",
            "properties": { "text": { "type": "string" }, "paneId": { "type": "string" } },
            "required": ["text"],
            "additionalProperties": false,
        }),
        answer: json!({
            "type": "object",
            "properties": { "echo": { "type": "string" }, "grant": { "type": "string" } },
        }),
        secrets: vec!["text".to_owned(), "echo".to_owned()],
        handler,
    }
}

#[tokio::test(start_paused = true)]
async fn an_action_is_added_called_listed_and_removed() {
    let server = TestKernel::new().await;
    let mut feed = server.feed("action:*");
    let before = server.kernel.registry();
    let registration = server.kernel.register_action(spec("echo:say", Arc::default())).unwrap();
    assert_eq!(registration.name(), "echo:say");
    let added = next(&mut feed).await;
    assert_eq!(added.name, "action:added");
    let payload: Value = serde_json::from_str(&added.payload).unwrap();
    assert_eq!(payload, json!({ "actionName": "echo:say", "scope": "input", "kind": "change" }));
    let answer = server.act("echo:say", json!({ "text": "hello" })).await.unwrap();
    assert_eq!(answer, json!({ "echo": "hello", "grant": "owner" }));
    let started = next(&mut feed).await;
    assert!(started.payload.contains("echo:say"), "{}", started.payload);
    assert!(!started.payload.contains("hello"), "{}", started.payload);
    assert!(!next(&mut feed).await.payload.contains("hello"));
    let is_listed = || server.kernel.registry().iter().any(|action| &*action.name == "echo:say");
    assert!(is_listed());
    assert!(before.get("echo:say").is_err(), "a snapshot does not change");
    registration.remove();
    assert!(!is_listed());
    let refused = server.act("echo:say", json!({ "text": "hello" })).await;
    assert_eq!(code(refused).0, Code::NotFound);
    let removed = next(&mut feed).await;
    assert_eq!(
        (removed.name.as_str(), removed.payload.as_str()),
        ("action:removed", r#"{"actionName":"echo:say"}"#)
    );
}

#[tokio::test(start_paused = true)]
async fn calls_are_checked_as_those_of_built_in_actions() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let _echo = server.kernel.register_action(spec("echo:say", Arc::default())).unwrap();
    for (params, sentence) in [
        (json!({}), "missing parameter `text`"),
        (json!({ "text": 7 }), "`text` must be of type string, not 7"),
        (json!({ "text": "", "x": 1 }), "unknown parameter `x`; expected `paneId` or `text`"),
        (json!([]), "parameters must be a JSON object"),
    ] {
        let refused = code(server.act("echo:say", params).await);
        assert_eq!(refused, (Code::Invalid, sentence.to_owned()));
    }
    let (_, reader) = create_caller(&server, json!({ "scopes": ["read"] })).await;
    let refused = server.act_as(&reader, "echo:say", json!({ "text": "" })).await;
    assert_eq!(code(refused).0, Code::Forbidden);
    let narrow = json!({ "scopes": ["input"], "panes": [] });
    let (_, narrow) = create_caller(&server, narrow).await;
    assert!(server.act_as(&narrow, "echo:say", json!({ "text": "" })).await.is_ok());
    let refused = server.act_as(&narrow, "echo:say", json!({ "text": "", "paneId": "a" })).await;
    assert_eq!(code(refused).0, Code::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn a_running_call_outlives_its_action() {
    let server = TestKernel::new().await;
    let handler = Arc::new(EchoHandler { waits: true, ..EchoHandler::default() });
    let registration = server.kernel.register_action(spec("echo:say", handler.clone())).unwrap();
    let kernel = server.kernel.clone();
    let owner = server.owner.clone();
    let call =
        tokio::spawn(
            async move { kernel.dispatch("echo:say", br#"{"text":"late"}"#, &owner).await },
        );
    handler.started.notified().await;
    drop(registration);
    assert!(server.kernel.action("echo:say").is_err());
    handler.may_finish.notify_one();
    let answer = call.await.unwrap().unwrap();
    assert_eq!(answer.get(), r#"{"echo":"late","grant":"owner"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_when_its_caller_disconnects() {
    let server = TestKernel::new().await;
    let handler = Arc::new(EchoHandler { waits: true, ..EchoHandler::default() });
    let _echo = server.kernel.register_action(spec("echo:say", handler.clone())).unwrap();
    let mut feed = server.feed("action:error");
    let kernel = server.kernel.clone();
    let owner = server.owner.clone();
    let call =
        tokio::spawn(async move { kernel.dispatch("echo:say", br#"{"text":""}"#, &owner).await });
    handler.started.notified().await;
    call.abort();
    let error = next(&mut feed).await;
    assert!(error.payload.contains("the caller disconnected"), "{}", error.payload);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_an_action_is_refused() {
    let server = TestKernel::new().await;
    let refused = |spec| server.kernel.register_action(spec).err().unwrap().code;
    let echo = || spec("echo:say", Arc::default());
    let first = server.kernel.register_action(echo()).unwrap();
    assert_eq!(refused(echo()), Code::Conflict);
    drop(first);
    let again = server.kernel.register_action(echo()).unwrap();
    again.remove();
    for name in ["pane:say", "event:say", "ext:say", "say", "Echo:say"] {
        assert_eq!(refused(spec(name, Arc::default())), Code::Invalid, "{name}");
    }
    assert_eq!(refused(ActionSpec { doc: " ".into(), ..echo() }), Code::Invalid);
    assert_eq!(refused(ActionSpec { kind: ActionKind::Event, ..echo() }), Code::Invalid);
    assert_eq!(refused(ActionSpec { params: json!({}), ..echo() }), Code::Invalid);
    let unknown = json!({ "type": "object", "$ref": "#" });
    assert_eq!(refused(ActionSpec { params: unknown.clone(), ..echo() }), Code::Invalid);
    assert_eq!(refused(ActionSpec { answer: unknown, ..echo() }), Code::Invalid);
}
