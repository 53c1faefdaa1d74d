//! Veto points.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_kernel::{ActionHook, Caller, HookCall, HookRegistration, HookVerdict};
use paned_model::{Code, Scope};
use serde_json::{Value, json};

use crate::test_kernel::{TestKernel, code, names, next};

type Verdict = Result<HookVerdict, String>;

/// Gives the same verdict to every `pane:new`.
struct FixedHook {
    says: fn() -> BoxedFuture<'static, Verdict>,
    is_required: bool,
}

impl ActionHook for FixedHook {
    fn name(&self) -> &str {
        "guard"
    }

    fn wants(&self, action: &str, caller: &Caller) -> bool {
        action == "pane:new" && caller.extension.as_deref() != Some("guard")
    }

    fn is_required(&self) -> bool {
        self.is_required
    }

    fn before(&self, _: HookCall) -> BoxedFuture<'_, Verdict> {
        (self.says)()
    }
}

fn cancel() -> BoxedFuture<'static, Verdict> {
    Box::pin(async { Ok(HookVerdict::Cancel("not today".into())) })
}

fn fail() -> BoxedFuture<'static, Verdict> {
    Box::pin(async { Err("broken".into()) })
}

fn hang() -> BoxedFuture<'static, Verdict> {
    Box::pin(std::future::pending())
}

async fn kernel_with_hook(
    says: fn() -> BoxedFuture<'static, Verdict>,
    is_required: bool,
) -> (TestKernel, HookRegistration) {
    let server = TestKernel::new().await;
    let hook = server.kernel.add_hook(Arc::new(FixedHook { says, is_required }));
    (server, hook)
}

fn new_pane() -> Value {
    json!({ "id": "a", "argv": ["sh"] })
}

#[tokio::test(start_paused = true)]
async fn a_veto_stops_the_action_and_says_who_and_why() {
    let (server, hook) = kernel_with_hook(cancel, false).await;
    let refusal = server.act("pane:new", new_pane()).await.unwrap_err();
    let sentence = "the extension `guard` vetoed `pane:new`: not today";
    assert_eq!((refusal.code, refusal.sentence.as_str()), (Code::Vetoed, sentence));
    let details = json!({ "extension": "guard", "reason": "not today" });
    assert_eq!(refusal.details, Some(details));
    assert!(server.fake.pane("a").is_none());
    drop(hook);
    server.act("pane:new", new_pane()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_or_fails_is_reported_and_does_not_stop_the_action() {
    for says in [hang, fail] {
        let (server, _hook) = kernel_with_hook(says, false).await;
        let mut feed = server.feed("handler:error");
        let before = tokio::time::Instant::now();
        server.act("pane:new", new_pane()).await.unwrap();
        assert!(before.elapsed() <= Duration::from_secs(5));
        let error = next(&mut feed).await;
        assert!(error.payload.contains("\"source\":\"guard\""), "{}", error.payload);
    }
}

#[tokio::test(start_paused = true)]
async fn a_required_hook_that_hangs_or_fails_stops_the_action() {
    for (says, cause) in [(hang as fn() -> _, "no answer within 5000 ms"), (fail, "broken")] {
        let (server, _hook) = kernel_with_hook(says, true).await;
        let (refused, sentence) = code(server.act("pane:new", new_pane()).await);
        assert_eq!(refused, Code::Vetoed);
        assert!(sentence.contains("`guard`") && sentence.contains(cause), "{sentence}");
        assert!(server.fake.pane("a").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn an_extension_is_not_asked_about_its_own_calls_and_named_in_their_events() {
    let (server, _hook) = kernel_with_hook(cancel, true).await;
    let scopes = BTreeSet::from([Scope::Read, Scope::Spawn]);
    let grant = server.kernel.extension_grant("guard", scopes);
    let mut feed = server.feed("action:*");
    server.act_as(grant.caller(), "pane:new", new_pane()).await.unwrap();
    for _ in 0..2 {
        let event: Value = serde_json::from_str(&next(&mut feed).await.payload).unwrap();
        assert_eq!(event["caller"], "ext:guard");
    }
    let other = server.kernel.extension_grant("other", BTreeSet::from([Scope::Spawn]));
    let refused = server.act_as(other.caller(), "pane:new", json!({ "argv": ["sh"] })).await;
    assert_eq!(code(refused).0, Code::Vetoed);
}

#[tokio::test(start_paused = true)]
async fn the_grant_of_an_extension_has_its_scopes_is_not_listed_and_ends_when_dropped() {
    let server = TestKernel::new().await;
    let grant = server.kernel.extension_grant("guard", BTreeSet::from([Scope::Read]));
    let caller = grant.caller().clone();
    let refused = server.act_as(&caller, "pane:new", new_pane()).await;
    assert_eq!(code(refused).0, Code::Forbidden);
    server.act_as(&caller, "pane:list", json!({})).await.unwrap();
    let listed = server.act("grant:list", json!({})).await.unwrap();
    assert!(!listed.to_string().contains("ext:guard"), "{listed}");
    assert!(server.kernel.authenticate("paned_ext:guard_").is_err());
    let emit = json!({ "name": "guard:seen" });
    assert_eq!(code(server.act_as(&caller, "event:emit", emit.clone()).await).0, Code::Forbidden);
    server.act_as(&grant.emitter(), "event:emit", emit).await.unwrap();
    drop(grant);
    let refused = server.act_as(&caller, "pane:list", json!({})).await;
    assert_eq!(code(refused).0, Code::Unauthorized);
}

#[tokio::test(start_paused = true)]
async fn questions_and_input_that_no_hook_wants_are_not_recorded() {
    let (server, _hook) = kernel_with_hook(cancel, false).await;
    server.act("pane:list", json!({})).await.unwrap();
    server.act("event:emit", json!({ "name": "a:b" })).await.unwrap();
    let mut feed = server.feed("*");
    assert_eq!(names(&mut feed, 2).await, ["server:started", "a:b"]);
}
