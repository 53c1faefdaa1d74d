//! Panes share the room of a session, and each can be addressed.

use paned_model::Size;
use paned_substrate::sessions::{Error, SplitOrientation, SubstratePane, Target};

use crate::programs;
use crate::test_substrate::{TestSubstrate, named};

fn sizes(panes: &[SubstratePane]) -> Vec<String> {
    panes.iter().map(|pane| pane.size.to_string()).collect()
}

fn active(panes: &[SubstratePane]) -> Vec<bool> {
    panes.iter().map(|pane| pane.active).collect()
}

pub(crate) async fn a_split_halves_a_pane(house: TestSubstrate) {
    let target = house.spawn("a", &programs::size()).await;
    let first = Target::from(&house.panes("a").await[0].id);
    let right = house
        .substrate()
        .split(&target, SplitOrientation::Horizontal, &programs::size())
        .await
        .unwrap();
    assert_eq!((right.size.to_string().as_str(), right.active), ("99x50", true));
    assert_eq!(right.session, named("a"));
    house.wait_for_size(&first, "50 100").await;
    let below = house
        .substrate()
        .split(&Target::from(&right.id), SplitOrientation::Vertical, &programs::cat())
        .await;
    assert_eq!(below.unwrap().size.to_string(), "99x24");
    let panes = house.panes("a").await;
    assert_eq!(sizes(&panes), ["100x50", "99x25", "99x24"]);
    assert_eq!(panes[1].id, right.id);
    house.wait_for_size(&Target::from(&right.id), "25 99").await;
    let session = &house.substrate().list().await.unwrap()[0];
    assert_eq!((session.panes, session.size.to_string().as_str()), (3, "200x50"));
}

pub(crate) async fn each_pane_is_reached_by_its_id(house: TestSubstrate) {
    let target = house.spawn("a", &programs::bytes("")).await;
    let first = Target::from(&house.panes("a").await[0].id);
    let second = house
        .substrate()
        .split(&target, SplitOrientation::Vertical, &programs::bytes(""))
        .await
        .unwrap();
    let second = Target::from(&second.id);
    for (pane, word) in [(&first, "one"), (&second, "two")] {
        house.wait_for_line(pane, "ready").await;
        house.substrate().send(pane, word).await.unwrap();
        house.substrate().key(pane, "C-c").await.unwrap();
    }
    house.wait_for_lines(&first, |lines| lines == ["ready", "one^M^C"]).await;
    house.wait_for_lines(&second, |lines| lines == ["ready", "two^M^C"]).await;
    let third = house
        .substrate()
        .split(&first, SplitOrientation::Horizontal, &programs::cat())
        .await
        .unwrap();
    assert_eq!(third.size.to_string(), "99x25", "the first was halved, not the active one");
}

pub(crate) async fn a_session_means_its_newest_pane(house: TestSubstrate) {
    let target = house.spawn("a", &programs::cat()).await;
    let first = Target::from(&house.panes("a").await[0].id);
    let second = house
        .substrate()
        .split(&target, SplitOrientation::Vertical, &programs::cat())
        .await
        .unwrap();
    assert_eq!(active(&house.panes("a").await), [false, true]);
    house.substrate().send(&target, "new").await.unwrap();
    house.wait_for_line(&Target::from(&second.id), "new").await;
    assert_eq!(house.substrate().capture(&first, 5).await, Ok(Vec::new()));
    house.substrate().key(&target, "C-d").await.unwrap();
    house.until("one is left", || async { house.panes("a").await.len() == 1 }).await;
    assert_eq!(sizes(&house.panes("a").await), ["200x50"]);
    house.substrate().send(&target, "old").await.unwrap();
    house.wait_for_line(&first, "old").await;
    let refused = house.substrate().send(&Target::from(&second.id), "x").await.unwrap_err();
    assert!(matches!(refused, Error::SessionNotFound(_)), "{refused:?}");
}

pub(crate) async fn a_pane_that_ends_leaves_its_room(house: TestSubstrate) {
    let target = house.spawn("a", &programs::cat()).await;
    let first = Target::from(&house.panes("a").await[0].id);
    house
        .substrate()
        .split(&target, SplitOrientation::Horizontal, &programs::size())
        .await
        .unwrap();
    house.wait_for_line(&target, "ready").await;
    house.substrate().key(&first, "C-d").await.unwrap();
    let left = || async { house.substrate().list().await.unwrap()[0].panes };
    house.until("one is left", || async { left().await == 1 }).await;
    house.wait_for_size(&target, "50 200").await;
    let session = &house.substrate().list().await.unwrap()[0];
    assert_eq!((session.panes, session.size.to_string().as_str()), (1, "200x50"));
}

pub(crate) async fn a_pane_can_be_too_small_to_split(house: TestSubstrate) {
    let (name, size) = (named("a"), Size { cols: 11, rows: 7 });
    house.substrate().spawn(&name, &programs::cat(), size).await.unwrap();
    let target = Target::from(&name);
    let mut made = Vec::new();
    for direction in [SplitOrientation::Horizontal, SplitOrientation::Vertical] {
        let refused = loop {
            match house.substrate().split(&target, direction, &programs::cat()).await {
                Ok(pane) => made.push(pane.size.to_string()),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Error::PaneLimit(_)), "{refused:?}");
        assert!(refused.to_string().contains("too few"), "{refused}");
    }
    assert_eq!(made, ["5x7", "2x7", "2x3", "2x1"]);
    assert_eq!(sizes(&house.panes("a").await), ["5x7", "2x7", "2x3", "2x1", "2x1"]);
}

pub(crate) async fn a_session_gets_another_size(house: TestSubstrate) {
    let target = house.spawn("a", &programs::size()).await;
    house.wait_for_line(&target, "ready").await;
    house.substrate().resize(&named("a"), Size { cols: 121, rows: 31 }).await.unwrap();
    house.wait_for_size(&target, "31 121").await;
    house.substrate().split(&target, SplitOrientation::Horizontal, &programs::cat()).await.unwrap();
    house.substrate().resize(&named("a"), Size { cols: 161, rows: 20 }).await.unwrap();
    let panes = house.panes("a").await;
    let cols: u16 = panes.iter().map(|pane| pane.size.cols).sum();
    assert_eq!(cols + 1, 161, "{panes:?}");
    assert!(panes.iter().all(|pane| pane.size.rows == 20), "{panes:?}");
    let session = &house.substrate().list().await.unwrap()[0];
    assert_eq!(session.size.to_string(), "161x20");
    let refused =
        house.substrate().resize(&named("a"), Size { cols: 1, rows: 1 }).await.unwrap_err();
    assert!(matches!(refused, Error::InvalidCommand(_)), "{refused:?}");
}
