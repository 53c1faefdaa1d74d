//! Actions that extensions register, and what they call.

use std::time::{Duration, Instant};

use paned_model::Code;
use serde_json::json;

use crate::test_runtime::{TestRuntime, payload, wait_for};

/// Answers `NAME:hello` with its parameters and its caller.
const HELLO: &str = r#"
for message in messages():
    if message["method"] == "initialize":
        notify("registerAction", name="hello", description="Say hello.", kind="question",
               parameters={"type": "object", "properties": {"to": {"type": "string"}},
                           "required": ["to"], "additionalProperties": False})
        answer(message)
    elif message["method"] == "runAction":
        answer(message, {"hello": message["params"]})
    elif message["method"] == "shutdown":
        break
"#;

#[tokio::test]
async fn an_action_is_called_checked_and_gone_with_its_extension() {
    let server = TestRuntime::new().await;
    server.start("greeter", HELLO).await;
    let answer = server.act("greeter:hello", json!({ "to": "you" })).await.unwrap();
    let expect = json!({ "action": "greeter:hello", "params": { "to": "you" },
                         "caller": { "label": "owner" } });
    assert_eq!(answer["hello"], expect);
    let refused = server.act("greeter:hello", json!({})).await.unwrap_err();
    assert_eq!(refused.code, Code::Invalid);
    let state = server.state("greeter");
    assert_eq!(state.actions, ["greeter:hello"]);
    server.runtime.shutdown().await;
    let gone = server.act("greeter:hello", json!({ "to": "you" })).await.unwrap_err();
    assert_eq!(gone.code, Code::NotFound);
}

#[tokio::test]
async fn an_extension_calls_actions_with_its_scopes_and_emits_under_its_name() {
    let server = TestRuntime::new().await;
    let mut feed = server.feed("caller:*");
    server
        .start(
            "caller",
            r#"
replies = []
for message in messages():
    if message.get("method") == "initialize":
        first = message
        send(id=1, method="executeAction", params={"action": "pane:list"})
        send(id=2, method="executeAction", params={"action": "pane:new", "params": {"argv": ["sh"]}})
        send(id=3, method="emit", params={"name": "other:thing"})
        send(id=4, method="nonsense")
        send(id=5, method="registerAction", params={"name": "pane:x", "description": "x"})
    elif "method" not in message:
        replies.append(message)
        if len(replies) == 5:
            notify("emit", name="replies", payload={"replies": replies})
            answer(first)
"#,
        )
        .await;
    let payload = payload(&mut feed).await;
    let mut replies = payload["replies"].as_array().unwrap().clone();
    replies.sort_by_key(|reply| reply["id"].as_u64());
    assert_eq!(replies[0]["result"], json!([]));
    let code = |at: usize| replies[at]["error"]["data"]["code"].as_str().unwrap_or_default();
    assert_eq!((code(1), code(2), code(4)), ("forbidden", "invalid", "invalid"), "{payload}");
    assert_eq!(replies[3]["error"]["code"], -32601);
}

#[tokio::test]
async fn a_call_ends_as_unavailable_when_the_program_dies_and_works_again_after_the_restart() {
    let server = TestRuntime::new().await;
    server
        .start(
            "crashy",
            r#"
for message in messages():
    if message["method"] == "initialize":
        notify("registerAction", name="crash", description="End.")
        notify("registerAction", name="id", description="Process.", kind="question")
        answer(message)
    elif message["params"]["action"] == "crashy:crash":
        os._exit(3)
    else:
        answer(message, os.getpid())
"#,
        )
        .await;
    let refusal = server.act("crashy:crash", json!({})).await.unwrap_err();
    assert_eq!(refusal.code, Code::Unavailable);
    assert!(refusal.sentence.contains("`crashy` ended before"), "{refusal}");
    let refusal = server.act("crashy:id", json!({})).await.unwrap_err();
    assert_eq!(refusal.code, Code::Unavailable, "{refusal}");
    assert!(server.log("crashy").contains("it exited with status 3"));
    let state = server.until("crashy", |state| state.restarts == 1 && state.reason.is_none()).await;
    assert_eq!(server.act("crashy:id", json!({})).await.unwrap(), json!(state.pid));
    let mut feed = server.feed("action:added,handler:error");
    let names =
        [&payload(&mut feed).await, &payload(&mut feed).await].map(|it| it["actionName"].clone());
    assert_eq!(names, ["crashy:crash", "crashy:id"]);
    let error = payload(&mut feed).await;
    assert_eq!(error["source"], "crashy", "the actions stayed registered: {error}");
}

#[tokio::test]
async fn two_hundred_calls_of_its_own_action_at_once_do_not_block_the_connection() {
    let server = TestRuntime::new().await;
    let mut feed = server.feed("echo:done");
    server
        .start(
            "echo",
            r#"
answered, refused = 0, 0
for message in messages():
    if message.get("method") == "initialize":
        notify("registerAction", name="echo", description="x", kind="question")
        answer(message)
        for number in range(200):
            send(id=number, method="executeAction", params={"action": "echo"})
    elif message.get("method") == "runAction":
        answer(message, message["id"])
    elif "method" not in message:
        answered += "result" in message
        refused += message.get("error", {}).get("data", {}).get("code") == "limit"
        if answered + refused == 200:
            notify("emit", name="done", payload={"answered": answered})
"#,
        )
        .await;
    let done = payload(&mut feed).await;
    assert!(64 <= done["answered"].as_u64().unwrap(), "{done}");
}

#[tokio::test]
async fn the_environment_has_the_extension_and_nothing_of_the_server() {
    let server = TestRuntime::new().await;
    let mut feed = server.feed("env:*");
    server
        .start(
            "env",
            r#"
for message in messages():
    if message["method"] == "initialize":
        first = message["params"]
        payload = {"env": dict(os.environ), "cwd": os.getcwd(), "params": first}
        notify("emit", name="seen", payload=payload)
        answer(message)
"#,
        )
        .await;
    let seen = payload(&mut feed).await;
    let env = &seen["env"];
    assert_eq!((&env["PANED_EXTENSION"], &env["PANED_URL"]), (&json!("env"), &json!("http://x")));
    assert!(env.get("PANED_PANE").is_none() && env.get("PANED_TOKEN").is_none(), "{env}");
    assert_eq!(seen["cwd"], seen["params"]["folder"]);
    assert_eq!(env["PANED_EXTENSION_DATA"], seen["params"]["dataFolder"]);
    assert!(std::path::Path::new(env["PANED_EXTENSION_DATA"].as_str().unwrap()).is_dir());
    let fields = ["protocol", "name", "timeoutMs"].map(|field| seen["params"][field].clone());
    assert_eq!(fields, [json!(1), json!("env"), json!(30_000)]);
    assert_eq!(seen["params"]["scopes"], json!(["read"]));
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_a_refusal_at_once() {
    let server = TestRuntime::new().await;
    let code = r#"
for message in messages():
    if message.get("method") == "initialize":
        for name in ["nan", "long", "other"]:
            notify("registerAction", name=name, description="x", kind="question")
        answer(message)
    elif message.get("method") == "runAction":
        action = message["params"]["action"]
        if action == "broken:nan":
            answer(message, float("nan"))
        elif action == "broken:long":
            answer(message, "x" * 10_000_000)
        else:
            send(id=str(message["id"]), result=1)
            answer(message, 2)
"#;
    server.start("broken", code).await;
    for (action, why) in [("nan", "not JSON"), ("long", "longer than 8 MiB")] {
        let refusal = server.act(&format!("broken:{action}"), json!({})).await.unwrap_err();
        assert_eq!(refusal.code, Code::Internal, "{refusal}");
        assert!(refusal.sentence.contains(why), "{refusal}");
        assert!(refusal.sentence.contains("paned ext logs broken"), "{refusal}");
    }
    assert_eq!(server.act("broken:other", json!({})).await.unwrap(), 2);
    assert!(server.log("broken").contains("an answer is ignored"), "{}", server.log("broken"));
}

#[tokio::test]
async fn a_schema_of_many_large_patterns_is_refused_and_not_compiled() {
    let server = TestRuntime::new().await;
    let code = r#"
for message in messages():
    if message.get("method") == "initialize":
        first = message
        fields = {"f%d" % at: {"pattern": "\\w{100}"} for at in range(300)}
        send(id="a", method="registerAction",
             params={"name": "bomb", "parameters": {"type": "object", "properties": fields}})
    elif message.get("id") == "a":
        print(message["error"]["message"], file=sys.stderr)
        answer(first)
"#;
    let started = Instant::now();
    server.start("bomber", code).await;
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    let is_logged = || server.log("bomber").contains("too large").then_some(());
    wait_for(is_logged).await.expect("the refusal in the log");
    assert!(server.state("bomber").actions.is_empty());
}
