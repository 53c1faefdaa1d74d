//! Veto points.

use std::sync::Arc;
use std::time::Duration;

use paned_kernel::{Hook, Start, Verdict};
use paned_model::Code;
use paned_substrate::Boxed;
use serde_json::json;

use crate::house::{House, code, next};

/// Says the same to everything but what the test itself needs.
struct Says(fn() -> Boxed<'static, Result<Verdict, String>>);

impl Hook for Says {
    fn name(&self) -> &str {
        "the test"
    }

    fn before(&self, start: Start) -> Boxed<'_, Result<Verdict, String>> {
        match start.action {
            "pane:new" => (self.0)(),
            _ => Box::pin(async { Ok(Verdict::Allow) }),
        }
    }
}

async fn house(says: fn() -> Boxed<'static, Result<Verdict, String>>) -> House {
    let house = House::new().await;
    house.kernel.add_hook(Arc::new(Says(says)));
    house
}

#[tokio::test(start_paused = true)]
async fn a_veto_stops_the_action_and_says_who_and_why() {
    let house = house(|| Box::pin(async { Ok(Verdict::Cancel("not today".into())) })).await;
    let (refused, sentence) =
        code(house.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await);
    assert_eq!(
        (refused, sentence.as_str()),
        (Code::Vetoed, "the test vetoed `pane:new`: not today")
    );
    assert!(house.fake.pane("a").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_or_fails_is_told_and_does_not_stop_the_house() {
    for says in [
        (|| Box::pin(std::future::pending())) as fn() -> Boxed<'static, Result<Verdict, String>>,
        || Box::pin(async { Err("broken".into()) }),
    ] {
        let house = house(says).await;
        let mut feed = house.feed("handler:error");
        let before = tokio::time::Instant::now();
        house.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
        assert!(before.elapsed() <= Duration::from_secs(5));
        let told = next(&mut feed).await;
        assert!(told.payload.contains("\"source\":\"the test\""), "{}", told.payload);
    }
}
