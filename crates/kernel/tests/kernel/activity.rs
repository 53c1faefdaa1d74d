//! The end of a pane's output in lists, and which panes have printed.

use std::time::Duration;

use paned_kernel::{ActivityFeed, PaneActivity};
use paned_model::Code;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::grants::create_caller;
use crate::test_kernel::TestKernel;

async fn with_panes(ids: &[&str]) -> TestKernel {
    let server = TestKernel::new().await;
    for id in ids {
        server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap();
    }
    server
}

/// The next report; time is paused, so it passes only while every task is idle.
async fn report(feed: &mut ActivityFeed) -> Vec<PaneActivity> {
    timeout(Duration::from_secs(60), feed.next()).await.expect("a report")
}

#[tokio::test(start_paused = true)]
async fn a_list_shows_the_last_line_and_when_it_was_printed() {
    let server = with_panes(&["a", "b"]).await;
    server.pane("a").print(b"one\r\n\x1b[31mtwo\x1b[0m\r\n\r\n");
    server.heard("a").await;
    let listed = server.act("pane:list", json!({})).await.unwrap();
    let [a, b] = [&listed[0], &listed[1]];
    assert_eq!(a["lastLine"], "two");
    assert!(a["printedAt"].is_string(), "{a}");
    assert!(b.get("lastLine").is_none() && b.get("printedAt").is_none(), "{b}");
    server.pane("a").print(b"three");
    server.heard("a").await;
    let listed = server.act("pane:list", json!({})).await.unwrap();
    assert_eq!(listed[0]["lastLine"], "three");
    assert_eq!(server.act("pane:get", json!({ "paneId": "a" })).await.unwrap(), listed[0]);
}

#[tokio::test(start_paused = true)]
async fn a_program_that_draws_the_whole_screen_has_no_last_line() {
    let server = with_panes(&["a"]).await;
    server.pane("a").print(b"one\r\n\x1b[?1049h\x1b[5;5Hmenu");
    server.heard("a").await;
    let info = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
    assert!(info.get("lastLine").is_none() && info["printedAt"].is_string(), "{info}");
    server.pane("a").print(b"\x1b[?1049l\r\nback\r\n");
    server.heard("a").await;
    let info = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!(info["lastLine"], "back");
}

/// Those who may not read get no output from answers of other actions, and neither does the
/// journal.
#[tokio::test(start_paused = true)]
async fn changes_answer_and_record_no_output() {
    let server = with_panes(&["a"]).await;
    server.pane("a").print(b"a secret\r\n");
    server.heard("a").await;
    let mut feed = server.feed("*");
    let (_, caller) = create_caller(&server, json!({ "scopes": ["input"] })).await;
    let rename = json!({ "paneId": "a", "title": "new" });
    let renamed = server.act_as(&caller, "pane:rename", rename).await.unwrap();
    assert!(!renamed.to_string().contains("secret"), "{renamed}");
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "pane:title") {
        let told = crate::test_kernel::next(&mut feed).await;
        assert!(!told.payload.contains("secret"), "{told:?}");
        names.push(told.name.to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_reports_what_was_printed_once_a_second_at_most() {
    let server = with_panes(&["a", "b"]).await;
    server.pane("a").print(b"before\r\n");
    server.heard("a").await;
    let mut feed = server.kernel.activity(&server.owner).unwrap();
    assert!(timeout(Duration::from_secs(10), feed.next()).await.is_err(), "nothing was printed");
    server.pane("b").print(b"hello\r\n");
    let first = report(&mut feed).await;
    assert_eq!((first.len(), first[0].pane.as_str()), (1, "b"));
    assert_eq!((first[0].bytes, first[0].lines), (7, 1));
    assert_eq!(first[0].last_line.as_deref(), Some("hello"));

    let began = Instant::now();
    for n in 0..100 {
        server.pane("a").print(format!("{n}\r\n").as_bytes());
        server.pane("b").print(b"x\r\n");
        server.heard("a").await;
    }
    let second = report(&mut feed).await;
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(second.len(), 2);
    let a = second.iter().find(|it| it.pane.as_str() == "a").unwrap();
    assert_eq!(a.last_line.as_deref(), Some("99"));
    assert!(timeout(Duration::from_secs(10), feed.next()).await.is_err(), "nothing was printed");
}

#[tokio::test(start_paused = true)]
async fn a_feed_needs_the_scope_read_and_has_what_the_grant_reaches() {
    let server = with_panes(&["a", "b"]).await;
    let (_, typist) = create_caller(&server, json!({ "scopes": ["input"] })).await;
    assert_eq!(server.kernel.activity(&typist).err().unwrap().code, Code::Forbidden);
    let (_, reader) = create_caller(&server, json!({ "scopes": ["read"], "panes": ["a"] })).await;
    let mut feed = server.kernel.activity(&reader).unwrap();
    server.pane("b").print(b"not yours\r\n");
    server.heard("b").await;
    assert!(timeout(Duration::from_secs(10), feed.next()).await.is_err());
    server.pane("a").print(b"yours\r\n");
    assert_eq!(report(&mut feed).await[0].last_line.as_deref(), Some("yours"));
}
