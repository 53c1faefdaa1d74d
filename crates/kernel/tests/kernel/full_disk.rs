//! A journal that cannot be written: what is refused, what is undone, what continues, and how it
//! recovers.

use std::time::Duration;

use paned_kernel::journal::{FakeDisk, JournalRead, RecordChange};
use paned_model::{Code, EventId};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::test_kernel::{TestKernel, code, next};

const SENTENCE: &str = "the journal cannot be written: no space left on device";

/// A kernel with a pane `a`, whose disk is full from now on; it does not know that yet.
async fn filled() -> (TestKernel, FakeDisk) {
    let disk = FakeDisk::default();
    let server = TestKernel::on_disk(&disk).await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"], "title": "old" })).await.unwrap();
    disk.set_full(true);
    (server, disk)
}

/// The change that finds the disk full is refused.
#[track_caller]
fn check_refused(outcome: Result<Value, paned_model::Refusal>) {
    assert_eq!(code(outcome), (Code::Unavailable, SENTENCE.to_owned()));
}

/// Frees space and waits until the journal is written again.
async fn recover(server: &TestKernel, disk: &FakeDisk) {
    disk.set_full(false);
    let is_well = async {
        while server.act("server:status", json!({})).await.unwrap().get("trouble").is_some() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), is_well).await.expect("it recovers by itself");
}

/// All events, as `id name`.
async fn events(server: &TestKernel) -> Vec<(u64, String)> {
    let end = server.act("event:emit", json!({ "name": "test:end" })).await.unwrap();
    let mut feed = server.feed("*");
    let mut seen = Vec::new();
    loop {
        let entry = next(&mut feed).await;
        if json!(entry.id) == end["id"] {
            return seen;
        }
        seen.push((entry.id.0, entry.name.clone()));
    }
}

fn count(events: &[(u64, String)], name: &str) -> usize {
    events.iter().filter(|(_, found)| found == name).count()
}

#[tokio::test]
async fn an_event_that_cannot_be_written_is_refused_and_never_seen() {
    let (server, disk) = filled().await;
    let mut feed = server.kernel.events(None, "*".parse().unwrap(), &server.owner).unwrap();
    check_refused(server.act("event:emit", json!({ "name": "build:done" })).await);
    assert!(timeout(Duration::from_millis(50), feed.next(1)).await.is_err(), "it was shown");
    recover(&server, &disk).await;
    let events = events(&server).await;
    assert_eq!(count(&events, "build:done"), 0);
    assert_eq!(count(&events, "journal:withdrawn"), 1);
    let ids: Vec<u64> = events.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, (1..=events.len() as u64).collect::<Vec<_>>(), "ids stay dense");
}

#[tokio::test]
async fn a_rename_under_way_is_undone() {
    let (server, disk) = filled().await;
    check_refused(server.act("pane:rename", json!({ "paneId": "a", "title": "new" })).await);
    let title =
        async || server.act("pane:get", json!({ "paneId": "a" })).await.unwrap()["title"].clone();
    assert_eq!(title().await, "old");
    recover(&server, &disk).await;
    assert_eq!(title().await, "old");
    let events = events(&server).await;
    assert_eq!(count(&events, "pane:title"), 0);
    assert_eq!(count(&events, "action:error"), 1, "{events:?}");
    let Some(RecordChange::Put { value, .. }) = disk.changes().pop() else { panic!("no record") };
    assert!(value.contains("old") && !value.contains("new"), "{value}");
}

#[tokio::test]
async fn meta_under_way_is_undone() {
    let (server, _disk) = filled().await;
    let set = json!({ "paneId": "a", "key": "k", "value": "new" });
    check_refused(server.act("pane:set-meta", set).await);
    let meta = server.act("pane:get-meta", json!({ "paneId": "a" })).await.unwrap();
    assert!(!meta.to_string().contains("new"), "{meta}");
}

#[tokio::test]
async fn a_grant_under_way_is_never_given() {
    let (server, disk) = filled().await;
    check_refused(server.act("grant:create", json!({ "scopes": ["read"] })).await);
    let grants = async || server.act("grant:list", json!({})).await.unwrap().to_string();
    let before = grants().await;
    recover(&server, &disk).await;
    assert_eq!(grants().await, before);
    let is_grant =
        |change: &RecordChange| matches!(change, RecordChange::Put { kind: "grant", .. });
    assert!(!disk.changes().iter().any(is_grant));
}

#[tokio::test]
async fn what_cannot_be_undone_stays_and_the_answer_says_that_it_is_in_memory() {
    let (server, disk) = filled().await;
    let made = server.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    assert!(made["unwritten"].as_str().unwrap().starts_with(SENTENCE), "{made}");
    assert!(server.act("pane:get", json!({ "paneId": "b" })).await.is_ok());
    recover(&server, &disk).await;
    let of_b =
        |change: &RecordChange| matches!(change, RecordChange::Put { key, .. } if key == "b");
    assert!(disk.changes().iter().any(of_b), "its record was written when there was room");
}

#[tokio::test]
async fn once_it_is_known_changes_are_refused_and_questions_input_and_endings_are_not() {
    let (server, disk) = filled().await;
    check_refused(server.act("event:emit", json!({ "name": "build:done" })).await);
    for (action, params) in [
        ("event:emit", json!({ "name": "build:done" })),
        ("pane:new", json!({ "id": "b", "argv": ["sh"] })),
        ("pane:rename", json!({ "paneId": "a", "title": "new" })),
        ("grant:create", json!({ "scopes": ["read"] })),
    ] {
        check_refused(server.act(action, params).await);
    }
    let status = server.act("server:status", json!({})).await.unwrap();
    assert_eq!(status["trouble"], SENTENCE);
    server.act("pane:list", json!({})).await.unwrap();
    server.act("pane:write", json!({ "paneId": "a", "text": "x" })).await.unwrap();
    let closed = server.act("pane:close", json!({ "paneId": "a" })).await.unwrap();
    assert!(closed["unwritten"].as_str().unwrap().starts_with(SENTENCE), "{closed}");
    assert_eq!(code(server.act("pane:get", json!({ "paneId": "a" })).await).0, Code::NotFound);
    recover(&server, &disk).await;
    let events = events(&server).await;
    assert_eq!(count(&events, "pane:removed") + count(&events, "pane:closed"), 1, "{events:?}");
}

#[tokio::test]
async fn a_reader_that_waits_gets_what_waited_when_there_is_room() {
    let (server, disk) = filled().await;
    let last = server.act("server:status", json!({})).await.unwrap()["lastEvent"].as_u64().unwrap();
    let include = "pane:created".parse().unwrap();
    let mut feed = server.kernel.events(Some(EventId(last)), include, &server.owner).unwrap();
    server.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    assert!(timeout(Duration::from_millis(50), feed.next(1)).await.is_err());
    recover(&server, &disk).await;
    assert!(matches!(feed.next(1).await, JournalRead::Entries(_)));
}
