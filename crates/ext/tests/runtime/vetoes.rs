//! Extensions that refuse actions.

use std::time::Duration;

use paned_ext::ExtensionRunner;
use paned_kernel::extensions::ExtensionStatus;
use paned_model::Code;
use serde_json::json;

use crate::test_runtime::{TestRuntime, payload};

/// Refuses panes that are called `bad`, and never answers about those called `slow`.
const GUARD: &str = r#"
for message in messages():
    if message["method"] == "initialize":
        notify("subscribe", veto=["pane:new"])
        answer(message)
    elif message["method"] == "beforeAction":
        name = message["params"]["params"].get("id")
        if name == "exit":
            os._exit(0)
        elif name == "bad":
            answer(message, {"cancel": True, "reason": "bad name"})
        elif name != "slow":
            answer(message, {})
"#;

#[tokio::test]
async fn a_veto_names_the_extension_and_its_reason() {
    let server = TestRuntime::new().await;
    server.start("guard", GUARD).await;
    let new = |id: &str| server.act("pane:new", json!({ "id": id, "argv": ["sh"] }));
    new("good").await.unwrap();
    let refusal = new("bad").await.unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert_eq!(refusal.sentence, "the extension `guard` vetoed `pane:new`: bad name");
    assert_eq!(server.state("guard").veto, ["pane:new"]);
    server.act("pane:list", json!({})).await.unwrap();
    server.runtime.stop("guard", true).await;
    new("bad").await.unwrap();
}

#[tokio::test]
async fn silence_is_a_yes_unless_the_extension_is_required() {
    for required in [false, true] {
        let server = TestRuntime::new().await;
        let mut setup = server.setup("guard", GUARD);
        setup.manifest.required = required;
        setup.manifest.timeout = Some(Duration::from_millis(300));
        server.start_setup(setup).await;
        let mut feed = server.feed("handler:error");
        let outcome = server.act("pane:new", json!({ "id": "slow", "argv": ["sh"] })).await;
        let error = payload(&mut feed).await;
        assert_eq!(error["error"], "no answer within 300 ms");
        match required {
            false => assert!(outcome.is_ok(), "{outcome:?}"),
            true => assert_eq!(outcome.unwrap_err().code, Code::Vetoed),
        }
        server.runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_required_extension_that_is_down_refuses_what_it_vetoed_before() {
    let server = TestRuntime::new().await;
    let mut setup = server.setup("guard", GUARD);
    setup.manifest.required = true;
    server.start_setup(setup.clone()).await;
    let new = |id: &str| server.act("pane:new", json!({ "id": id, "argv": ["sh"] }));
    let refusal = new("exit").await.unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed, "it ended instead of an answer");
    server.until("guard", |state| state.status == ExtensionStatus::Restarting).await;
    let refusal = new("good").await.unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert!(refusal.sentence.contains("it is restarting"), "{refusal}");
    server.until("guard", |state| state.status == ExtensionStatus::Running).await;
    new("good").await.unwrap();
    server.runtime.stop("guard", true).await;
    // Its next start: the code is broken, and what it vetoed is known from its last run.
    std::fs::write(setup.manifest.folder.join("main.py"), "import sys; sys.exit(1)").unwrap();
    drop(server.runtime.start(setup));
    let refusal = new("other").await.unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    server.act("pane:list", json!({})).await.unwrap();
    server.runtime.shutdown().await;
}

#[tokio::test]
async fn a_program_that_does_not_answer_three_times_is_started_again() {
    let server = TestRuntime::new().await;
    let mut setup = server.setup("guard", GUARD);
    setup.manifest.timeout = Some(Duration::from_millis(50));
    server.start_setup(setup).await;
    for number in 0..3 {
        let params = json!({ "id": "slow", "title": number.to_string(), "argv": ["sh"] });
        // The name is taken from the second time on, which is noticed after the hooks.
        let _ = server.act("pane:new", params).await;
    }
    let state = server.until("guard", |state| 1 <= state.restarts).await;
    assert!(server.log("guard").contains("did not answer 3 times in a row"), "{state:?}");
}

#[tokio::test]
async fn one_that_refuses_everything_is_not_asked_about_its_own_end() {
    let server = TestRuntime::new().await;
    let code = r#"
for message in messages():
    if message["method"] == "initialize":
        notify("subscribe", veto=["*"])
        answer(message)
    elif message["method"] == "beforeAction":
        answer(message, {"cancel": True, "reason": "mine"})
"#;
    server.start("tyrant", code).await;
    for action in ["pane:list", "grant:list", "ext:install"] {
        let params = if action == "ext:install" { json!({ "source": "/x" }) } else { json!({}) };
        let refusal = server.act(action, params).await.unwrap_err();
        assert_eq!(refusal.code, Code::Vetoed, "{action}: {refusal}");
    }
    // There is no manager of the folder here, which is the refusal that is expected.
    for action in ["ext:info", "ext:logs", "ext:reload", "ext:remove", "ext:list"] {
        let params = if action == "ext:list" { json!({}) } else { json!({ "name": "tyrant" }) };
        let refusal = server.act(action, params).await.err();
        assert!(refusal.as_ref().is_none_or(|it| it.code != Code::Vetoed), "{refusal:?}");
    }
    let status = server.act("server:status", json!({})).await;
    assert!(status.is_ok(), "{status:?}");
    server.runtime.shutdown().await;
}
