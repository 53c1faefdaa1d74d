//! Veto points.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_kernel::{ActionHook, HookCall, HookVerdict};
use paned_model::Code;
use serde_json::json;

use crate::test_kernel::{TestKernel, code, next};

/// Gives the same verdict to every `pane:new`, and allows everything else.
struct FixedHook(fn() -> BoxedFuture<'static, Result<HookVerdict, String>>);

impl ActionHook for FixedHook {
    fn name(&self) -> &str {
        "the test"
    }

    fn before(&self, start: HookCall) -> BoxedFuture<'_, Result<HookVerdict, String>> {
        match &*start.action {
            "pane:new" => (self.0)(),
            _ => Box::pin(async { Ok(HookVerdict::Allow) }),
        }
    }
}

async fn kernel_with_hook(
    says: fn() -> BoxedFuture<'static, Result<HookVerdict, String>>,
) -> TestKernel {
    let server = TestKernel::new().await;
    server.kernel.add_hook(Arc::new(FixedHook(says)));
    server
}

#[tokio::test(start_paused = true)]
async fn a_veto_stops_the_action_and_says_who_and_why() {
    let server =
        kernel_with_hook(|| Box::pin(async { Ok(HookVerdict::Cancel("not today".into())) })).await;
    let (refused, sentence) =
        code(server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await);
    assert_eq!(
        (refused, sentence.as_str()),
        (Code::Vetoed, "the test vetoed `pane:new`: not today")
    );
    assert!(server.fake.pane("a").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_or_fails_is_told_and_does_not_stop_the_house() {
    for says in [
        (|| Box::pin(std::future::pending()))
            as fn() -> BoxedFuture<'static, Result<HookVerdict, String>>,
        || Box::pin(async { Err("broken".into()) }),
    ] {
        let server = kernel_with_hook(says).await;
        let mut feed = server.feed("handler:error");
        let before = tokio::time::Instant::now();
        server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
        assert!(before.elapsed() <= Duration::from_secs(5));
        let told = next(&mut feed).await;
        assert!(told.payload.contains("\"source\":\"the test\""), "{}", told.payload);
    }
}
