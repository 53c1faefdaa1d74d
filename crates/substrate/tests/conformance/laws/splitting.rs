//! Panes share the size of a session, and each can be addressed.

use paned_model::Size;
use paned_substrate::{Error, SplitOrientation, SubstratePane, Target};

use crate::programs;
use crate::test_substrate::{TestSubstrate, named};

fn sizes(panes: &[SubstratePane]) -> Vec<String> {
    panes.iter().map(|pane| pane.size.to_string()).collect()
}

fn active(panes: &[SubstratePane]) -> Vec<bool> {
    panes.iter().map(|pane| pane.active).collect()
}

pub(crate) async fn a_split_halves_a_pane(server: TestSubstrate) {
    let target = server.spawn("a", &programs::size()).await;
    let first = Target::from(&server.panes("a").await[0].id);
    let right = server
        .substrate()
        .split(&target, SplitOrientation::Horizontal, &programs::size())
        .await
        .unwrap();
    assert_eq!((right.size.to_string().as_str(), right.active), ("99x50", true));
    assert_eq!(right.session, named("a"));
    server.wait_for_size(&first, "50 100").await;
    let below = server
        .substrate()
        .split(&Target::from(&right.id), SplitOrientation::Vertical, &programs::cat())
        .await;
    assert_eq!(below.unwrap().size.to_string(), "99x24");
    let panes = server.panes("a").await;
    assert_eq!(sizes(&panes), ["100x50", "99x25", "99x24"]);
    assert_eq!(panes[1].id, right.id);
    server.wait_for_size(&Target::from(&right.id), "25 99").await;
    let session = &server.substrate().list().await.unwrap()[0];
    assert_eq!((session.panes, session.size.to_string().as_str()), (3, "200x50"));
}

pub(crate) async fn each_pane_is_reached_by_its_id(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("")).await;
    let first = Target::from(&server.panes("a").await[0].id);
    let second = server
        .substrate()
        .split(&target, SplitOrientation::Vertical, &programs::bytes(""))
        .await
        .unwrap();
    let second = Target::from(&second.id);
    for (pane, word) in [(&first, "one"), (&second, "two")] {
        server.wait_for_line(pane, "ready").await;
        server.substrate().send(pane, word).await.unwrap();
        server.substrate().key(pane, "C-c").await.unwrap();
    }
    server.wait_for_lines(&first, |lines| lines == ["ready", "one^M^C"]).await;
    server.wait_for_lines(&second, |lines| lines == ["ready", "two^M^C"]).await;
    let third = server
        .substrate()
        .split(&first, SplitOrientation::Horizontal, &programs::cat())
        .await
        .unwrap();
    assert_eq!(third.size.to_string(), "99x25", "the first was halved, not the active one");
}

pub(crate) async fn a_session_means_its_newest_pane(server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    let first = Target::from(&server.panes("a").await[0].id);
    let second = server
        .substrate()
        .split(&target, SplitOrientation::Vertical, &programs::cat())
        .await
        .unwrap();
    assert_eq!(active(&server.panes("a").await), [false, true]);
    server.substrate().send(&target, "new").await.unwrap();
    server.wait_for_line(&Target::from(&second.id), "new").await;
    assert_eq!(server.substrate().capture(&first, 5).await, Ok(Vec::new()));
    server.substrate().key(&target, "C-d").await.unwrap();
    server.until("one is left", || async { server.panes("a").await.len() == 1 }).await;
    assert_eq!(sizes(&server.panes("a").await), ["200x50"]);
    server.substrate().send(&target, "old").await.unwrap();
    server.wait_for_line(&first, "old").await;
    let refused = server.substrate().send(&Target::from(&second.id), "x").await.unwrap_err();
    assert!(matches!(refused, Error::SessionNotFound(_)), "{refused:?}");
}

pub(crate) async fn a_pane_that_ends_leaves_its_room(server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    let first = Target::from(&server.panes("a").await[0].id);
    server
        .substrate()
        .split(&target, SplitOrientation::Horizontal, &programs::size())
        .await
        .unwrap();
    server.wait_for_line(&target, "ready").await;
    server.substrate().key(&first, "C-d").await.unwrap();
    let left = || async { server.substrate().list().await.unwrap()[0].panes };
    server.until("one is left", || async { left().await == 1 }).await;
    server.wait_for_size(&target, "50 200").await;
    let session = &server.substrate().list().await.unwrap()[0];
    assert_eq!((session.panes, session.size.to_string().as_str()), (1, "200x50"));
}

pub(crate) async fn a_pane_can_be_too_small_to_split(server: TestSubstrate) {
    let (name, size) = (named("a"), Size { cols: 11, rows: 7 });
    server.substrate().spawn(&name, &programs::cat(), size).await.unwrap();
    let target = Target::from(&name);
    let mut made = Vec::new();
    for direction in [SplitOrientation::Horizontal, SplitOrientation::Vertical] {
        let refused = loop {
            match server.substrate().split(&target, direction, &programs::cat()).await {
                Ok(pane) => made.push(pane.size.to_string()),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Error::PaneLimit(_)), "{refused:?}");
        assert!(refused.to_string().contains("too few"), "{refused}");
    }
    assert_eq!(made, ["5x7", "2x7", "2x3", "2x1"]);
    assert_eq!(sizes(&server.panes("a").await), ["5x7", "2x7", "2x3", "2x1", "2x1"]);
}

pub(crate) async fn a_session_gets_another_size(server: TestSubstrate) {
    let target = server.spawn("a", &programs::size()).await;
    server.wait_for_line(&target, "ready").await;
    server.substrate().resize(&named("a"), Size { cols: 121, rows: 31 }).await.unwrap();
    server.wait_for_size(&target, "31 121").await;
    server
        .substrate()
        .split(&target, SplitOrientation::Horizontal, &programs::cat())
        .await
        .unwrap();
    server.substrate().resize(&named("a"), Size { cols: 161, rows: 20 }).await.unwrap();
    let panes = server.panes("a").await;
    let cols: u16 = panes.iter().map(|pane| pane.size.cols).sum();
    assert_eq!(cols + 1, 161, "{panes:?}");
    assert!(panes.iter().all(|pane| pane.size.rows == 20), "{panes:?}");
    let session = &server.substrate().list().await.unwrap()[0];
    assert_eq!(session.size.to_string(), "161x20");
    let refused =
        server.substrate().resize(&named("a"), Size { cols: 1, rows: 1 }).await.unwrap_err();
    assert!(matches!(refused, Error::InvalidCommand(_)), "{refused:?}");
}
