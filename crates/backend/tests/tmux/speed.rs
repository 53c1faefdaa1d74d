//! Many commands at once, and commands beside a flood.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use paned_backend::tmux::{ControlClient, Notice, TmuxCommand, TmuxEvent};

use crate::test_tmux::TestTmuxServer;

/// Runs a hundred queries; returns the median time of their replies, for people to read. It is not
/// asserted, because the machine may do other work; `make bench` has figures.
async fn latency(client: &ControlClient) -> Duration {
    let mut times = Vec::new();
    for _ in 0..100 {
        let since = Instant::now();
        let question = TmuxCommand::new("list-sessions");
        client.run_within(&question, crate::test_tmux::TIMEOUT).await.unwrap();
        times.push(since.elapsed());
    }
    times.sort_unstable();
    times[50]
}

#[tokio::test]
async fn a_thousand_commands_are_answered_in_order() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let since = Instant::now();
    let ask = |number: i32| {
        let client = test.client.clone();
        let text = format!("{number};#{{pid}}\n%end {number} $HOME");
        async move {
            let key = "@note";
            let set = TmuxCommand::new("set-option")
                .word("-p")
                .target(made.pane)
                .argument(key)
                .argument(&text);
            let show = TmuxCommand::new("show-options")
                .word("-p")
                .word("-v")
                .target(made.pane)
                .argument(key);
            let replies =
                client.run_within(&set.then(show), crate::test_tmux::TIMEOUT).await.unwrap();
            assert_eq!(replies.len(), 2);
            assert_eq!(replies[1].lines.join(&b'\n'), text.as_bytes());
        }
    };
    join_all((0..1000).map(ask)).await;
    println!("1000 pairs of commands in {:?}", since.elapsed());
}

#[tokio::test]
async fn errors_are_answered_to_whom_they_belong() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let ask = |number: u32| {
        let client = test.client.clone();
        async move {
            let pane = paned_backend::tmux::TmuxPane(if number.is_multiple_of(2) {
                made.pane.0
            } else {
                9999
            });
            (number, client.run(&TmuxCommand::new("list-panes").target(pane)).await.is_ok())
        }
    };
    for (number, ok) in join_all((0..200).map(ask)).await {
        assert_eq!(ok, number.is_multiple_of(2), "{number}");
    }
}

#[tokio::test]
async fn a_flood_in_a_pane_does_not_hold_up_commands() {
    let test = TestTmuxServer::open().await;
    let made = test.session("quiet", &["cat"]).await;
    let quiet = latency(&test.client).await;
    test.session("flood", &["yes", "a flood of output that nobody asked for"]).await;
    test.client.send(made.pane, b"x").await.unwrap();
    let flooded = latency(&test.client).await;
    println!("median {quiet:?} in quiet, {flooded:?} in a flood");
}

#[tokio::test]
async fn facts_that_nobody_takes_hold_up_nothing() {
    let mut test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    for number in 0..3000 {
        test.client.rename_window(made.window, &number.to_string()).await.unwrap();
    }
    latency(&test.client).await;
    test.wait_for_event("told of what was missed", |fact| {
        (*fact == TmuxEvent::Resync).then_some(())
    })
    .await;
    let last = |fact: &TmuxEvent| match fact {
        TmuxEvent::Notice(Notice::WindowRenamed(_, _, name)) => (name == "2999").then_some(()),
        _ => None,
    };
    test.wait_for_event("the last name", last).await;
}
