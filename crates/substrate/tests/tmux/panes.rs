//! Panes as they are made, arranged, read and ended.

use std::time::Instant;

use paned_model::Size;
use paned_substrate::tmux::act::{LayoutPreset, SplitSide, SplitSize, TmuxProgram, TmuxSplit};
use paned_substrate::tmux::command::TmuxTarget;
use paned_substrate::tmux::query::{TmuxExit, TmuxPaneInfo, TmuxProgramState};
use paned_substrate::tmux::read::CaptureStyle;
use paned_substrate::tmux::{Error, SessionName, TmuxEvent, TmuxPane};

use crate::test_tmux::{TIMEOUT, TestTmuxServer, pause, program};

const RIGHT: TmuxSplit = TmuxSplit { side: SplitSide::Right, size: None, focus: false };

async fn pane(house: &TestTmuxServer, id: TmuxPane) -> TmuxPaneInfo {
    let panes = house.client.panes(None).await.unwrap();
    panes.into_iter().find(|pane| pane.id == id).unwrap()
}

#[tokio::test]
async fn a_pane_is_described() {
    let house = TestTmuxServer::open().await;
    let cwd = Some(house.folder().canonicalize().unwrap());
    let size = Size { cols: 100, rows: 30 };
    let name = SessionName::new("work").unwrap();
    let run = TmuxProgram { cwd: cwd.clone(), ..program(&["sh", "-c", "echo up; exec cat"]) };
    let made = house.client.new_session(&name, size, &run).await.unwrap();
    house.wait_for_screen(made.pane, |screen| screen.contains("up")).await;
    let split = TmuxSplit { side: SplitSide::Left, size: Some(SplitSize::Cells(40)), focus: true };
    let left = house.client.split(made.pane, split, &program(&["cat", "-"])).await.unwrap();
    assert_eq!((left.session, left.window), (made.session, made.window));
    let (first, second) = (pane(&house, made.pane).await, pane(&house, left.pane).await);
    assert_eq!((first.left, first.top, first.size), (41, 0, Size { cols: 59, rows: 30 }));
    assert_eq!((second.left, second.size.cols, second.active), (0, 40, true));
    assert!(!first.active && !first.zoomed && !first.in_mode);
    assert_eq!(
        (first.life, first.command.as_str(), Some(first.cwd)),
        (TmuxProgramState::Alive, "cat", cwd)
    );
    assert!(first.pid.is_some());
    house.client.select_pane(made.pane).await.unwrap();
    assert!(pane(&house, made.pane).await.active);
    let windows = house.client.windows(Some(made.session)).await.unwrap();
    assert_eq!((windows.len(), windows[0].panes, windows[0].active), (1, 2, true));
}

#[tokio::test]
async fn panes_are_arranged_and_resized() {
    let house = TestTmuxServer::open().await;
    let made = house.session("work", &["cat"]).await;
    let other = house.client.split(made.pane, RIGHT, &program(&["cat", "-"])).await.unwrap();
    house.client.resize_pane(made.pane, Some(30), None).await.unwrap();
    assert_eq!(pane(&house, made.pane).await.size.cols, 30);
    house.client.arrange(made.window, LayoutPreset::EvenVertical).await.unwrap();
    assert_eq!(pane(&house, other.pane).await.left, 0);
    let size = Size { cols: 120, rows: 40 };
    house.client.resize_window(made.window, size).await.unwrap();
    let windows = house.client.windows(Some(made.session)).await.unwrap();
    assert_eq!(windows[0].size, size);
    let of = Some(TmuxTarget::Window(made.window));
    assert_eq!(house.client.panes(of).await.unwrap().len(), 2);
    house.client.kill_pane(other.pane).await.unwrap();
    assert_eq!(house.client.panes(Some(made.session.into())).await.unwrap().len(), 1);
}

#[tokio::test]
async fn exactly_as_many_lines_come_as_were_asked_for() {
    let house = TestTmuxServer::open().await;
    let script = "for n in $(seq 1 500); do echo line $n; done; exec cat";
    let made = house.session("work", &["sh", "-c", script]).await;
    house.wait_for_screen(made.pane, |screen| screen.contains("line 500")).await;
    for (asked, expect) in
        [(1, 1), (10, 10), (29, 29), (100, 100), (470, 470), (500, 500), (501, 500), (90_000, 500)]
    {
        let lines = house.client.last_lines(made.pane, asked, CaptureStyle::Plain).await.unwrap();
        assert_eq!(lines.len(), expect, "of {asked}");
        assert_eq!(lines[expect - 1], b"line 500");
        assert_eq!(lines[0], format!("line {}", 501 - expect).as_bytes());
    }
    for wrong in [0, 1_000_001] {
        let error =
            house.client.last_lines(made.pane, wrong, CaptureStyle::Plain).await.unwrap_err();
        assert!(matches!(error, Error::InvalidLines(_)), "{error:?}");
    }
    assert_eq!(house.client.screen(made.pane, CaptureStyle::Coloured).await.unwrap().len(), 30);
}

#[tokio::test]
async fn refusals_have_names() {
    let house = TestTmuxServer::open().await;
    let made = house.session("work", &["cat"]).await;
    let nowhere = TmuxPane(9999);
    for error in [
        house.client.kill_pane(nowhere).await.unwrap_err(),
        house.client.send(nowhere, b"x").await.unwrap_err(),
        house.client.screen(nowhere, CaptureStyle::Plain).await.unwrap_err(),
        house.client.last_lines(nowhere, 3, CaptureStyle::Plain).await.unwrap_err(),
        house.client.split(nowhere, RIGHT, &program(&["cat"])).await.unwrap_err(),
        house.client.select_pane(nowhere).await.unwrap_err(),
        house.client.set_title(nowhere, "x").await.unwrap_err(),
        house
            .client
            .panes(Some(TmuxTarget::Window(paned_substrate::tmux::WindowId(9999))))
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(error, Error::SessionNotFound(_)), "{error:?}");
    }
    let size = Size { cols: 80, rows: 24 };
    let (name, shell) = (SessionName::new("work").unwrap(), TmuxProgram::default());
    let again = house.client.new_session(&name, size, &shell).await;
    assert!(matches!(again, Err(Error::SessionExists(_))), "{again:?}");
    let full = loop {
        match house.client.split(made.pane, RIGHT, &program(&["cat", "-"])).await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::PaneLimit(_)), "{full:?}");
    // And the connection is as good as before.
    assert_eq!(house.client.sessions().await.unwrap().len(), 1);
}

#[tokio::test]
async fn every_ending_is_known() {
    let house = TestTmuxServer::open().await;
    let made = house.session("work", &["cat"]).await;
    let keep = paned_substrate::tmux::TmuxCommand::new("set-option").word("-g").word("-w");
    house.client.run(&keep.word("remain-on-exit").word("on")).await.unwrap();
    let mut expect = Vec::new();
    for code in 0..30 {
        let run = program(&["sh", "-c", &format!("exit {code}")]);
        let made = house.client.new_window(made.session, "x", &run).await.unwrap();
        expect.push((made.pane, TmuxProgramState::Ended(Some(TmuxExit::Code(code)))));
    }
    let run = program(&["sh", "-c", "kill -9 $$"]);
    let killed = house.client.new_window(made.session, "x", &run).await.unwrap();
    expect.push((killed.pane, TmuxProgramState::Ended(Some(TmuxExit::Signal(9)))));
    let end = Instant::now() + TIMEOUT;
    loop {
        let panes = house.client.panes(None).await.unwrap();
        let ended: Vec<(TmuxPane, TmuxProgramState)> = panes
            .iter()
            .filter(|pane| pane.life != TmuxProgramState::Alive)
            .map(|pane| (pane.id, pane.life))
            .collect();
        if ended.len() == expect.len() {
            assert_eq!(ended, expect);
            return;
        }
        assert!(Instant::now() < end, "{ended:?}");
        pause().await;
    }
}

#[tokio::test]
async fn changes_in_every_session_are_told() {
    let mut house = TestTmuxServer::open().await;
    let made = house.session("work", &["cat"]).await;
    let changed = |fact: &TmuxEvent| (*fact == TmuxEvent::Changed).then_some(());
    // The first of them may still be of making the session.
    for _ in 0..2 {
        let other = house.client.split(made.pane, RIGHT, &program(&["cat", "-"])).await.unwrap();
        house.wait_for_event("a split", changed).await;
        while house.events.try_recv().is_ok() {}
        house.client.send(other.pane, b"\x04").await.unwrap();
        house.wait_for_event("an ending", changed).await;
    }
}
