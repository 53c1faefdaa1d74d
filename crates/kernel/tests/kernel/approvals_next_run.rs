//! What is left of approvals after a restart of the server.

use paned_backend::fake::FakeBackend;
use paned_kernel::journal::JournalRecord;
use serde_json::{Value, json};

use crate::approvals::{BEGUN, WAIT, approving, payload};
use crate::test_kernel::TestKernel;

#[tokio::test(start_paused = true)]
async fn the_next_server_says_that_what_waited_is_gone_and_keeps_answers_for_living_panes() {
    BEGUN.set(None);
    let record = |kind: &str, value: Value| JournalRecord {
        kind: kind.to_owned(),
        key: value["id"].as_str().unwrap().to_owned(),
        value: value.to_string(),
    };
    let open = json!({
        "id": "one", "kind": "action", "subject": "run `pane:kill`", "action": "pane:kill",
        "caller": "pane:a", "paneId": "a", "instance": "i",
    });
    let kept = json!({
        "id": "two", "paneId": "a", "instance": "i", "covers": "all", "key": "action pane:kill",
        "by": "owner", "at": "2026-01-01T00:00:00Z",
    });
    let records = vec![record("approval", open), record("approval-for-pane", kept)];
    let server = TestKernel::with_setup(approving(WAIT), FakeBackend::default(), records).await;
    let event = payload(&mut server.feed("approval:answered")).await;
    assert_eq!(
        (&event["id"], &event["outcome"], &event["by"]),
        (&json!("one"), &json!("withdrawn"), &json!("paned"))
    );
    assert!(event["reason"].as_str().unwrap().contains("restarted"));
    let list = server.act("approval:list", json!({})).await.unwrap();
    assert_eq!(list, json!({ "approvals": [], "remembered": [] }), "its pane is gone");
}
