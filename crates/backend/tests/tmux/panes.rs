//! Panes are made, arranged, read and killed.

use std::time::Instant;

use paned_backend::tmux::capture::CaptureStyle;
use paned_backend::tmux::command::TmuxTarget;
use paned_backend::tmux::operations::{LayoutPreset, SplitSide, SplitSize, TmuxProgram, TmuxSplit};
use paned_backend::tmux::query::{TmuxExit, TmuxPaneInfo, TmuxProgramState};
use paned_backend::tmux::{Error, SessionName, TmuxEvent, TmuxPane};
use paned_model::Size;

use crate::test_tmux::{TIMEOUT, TestTmuxServer, pause, program};

const RIGHT: TmuxSplit = TmuxSplit { side: SplitSide::Right, size: None, focus: false };

async fn pane(test: &TestTmuxServer, id: TmuxPane) -> TmuxPaneInfo {
    let panes = test.client.panes(None).await.unwrap();
    panes.into_iter().find(|pane| pane.id == id).unwrap()
}

#[tokio::test]
async fn a_pane_is_described() {
    let test = TestTmuxServer::open().await;
    let cwd = Some(test.folder().canonicalize().unwrap());
    let size = Size { cols: 100, rows: 30 };
    let name = SessionName::new("work").unwrap();
    let run = TmuxProgram { cwd: cwd.clone(), ..program(&["sh", "-c", "echo up; exec cat"]) };
    let made = test.client.new_session(&name, size, &run).await.unwrap();
    test.wait_for_screen(made.pane, |screen| screen.contains("up")).await;
    let split = TmuxSplit { side: SplitSide::Left, size: Some(SplitSize::Cells(40)), focus: true };
    let left = test.client.split(made.pane, split, &program(&["cat", "-"])).await.unwrap();
    assert_eq!((left.session, left.window), (made.session, made.window));
    let (first, second) = (pane(&test, made.pane).await, pane(&test, left.pane).await);
    assert_eq!((first.left, first.top, first.size), (41, 0, Size { cols: 59, rows: 30 }));
    assert_eq!((second.left, second.size.cols, second.active), (0, 40, true));
    assert!(!first.active && !first.zoomed && !first.in_mode);
    assert_eq!(
        (first.life, first.command.as_str(), Some(first.cwd)),
        (TmuxProgramState::Alive, "cat", cwd)
    );
    assert!(first.pid.is_some());
    test.client.select_pane(made.pane).await.unwrap();
    assert!(pane(&test, made.pane).await.active);
    let windows = test.client.windows(Some(made.session)).await.unwrap();
    assert_eq!((windows.len(), windows[0].panes, windows[0].active), (1, 2, true));
}

#[tokio::test]
async fn panes_are_arranged_and_resized() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let other = test.client.split(made.pane, RIGHT, &program(&["cat", "-"])).await.unwrap();
    test.client.resize_pane(made.pane, Some(30), None).await.unwrap();
    assert_eq!(pane(&test, made.pane).await.size.cols, 30);
    test.client.arrange(made.window, LayoutPreset::EvenVertical).await.unwrap();
    assert_eq!(pane(&test, other.pane).await.left, 0);
    let size = Size { cols: 120, rows: 40 };
    test.client.resize_window(made.window, size).await.unwrap();
    let windows = test.client.windows(Some(made.session)).await.unwrap();
    assert_eq!(windows[0].size, size);
    let of = Some(TmuxTarget::Window(made.window));
    assert_eq!(test.client.panes(of).await.unwrap().len(), 2);
    test.client.kill_pane(other.pane).await.unwrap();
    assert_eq!(test.client.panes(Some(made.session.into())).await.unwrap().len(), 1);
}

#[tokio::test]
async fn exactly_as_many_lines_come_as_were_asked_for() {
    let test = TestTmuxServer::open().await;
    let script = "for n in $(seq 1 500); do echo line $n; done; exec cat";
    let made = test.session("work", &["sh", "-c", script]).await;
    test.wait_for_screen(made.pane, |screen| screen.contains("line 500")).await;
    for (asked, expect) in
        [(1, 1), (10, 10), (29, 29), (100, 100), (470, 470), (500, 500), (501, 500), (90_000, 500)]
    {
        let lines = test.client.last_lines(made.pane, asked, CaptureStyle::Plain).await.unwrap();
        assert_eq!(lines.len(), expect, "of {asked}");
        assert_eq!(lines[expect - 1], b"line 500");
        assert_eq!(lines[0], format!("line {}", 501 - expect).as_bytes());
    }
    for wrong in [0, 1_000_001] {
        let error =
            test.client.last_lines(made.pane, wrong, CaptureStyle::Plain).await.unwrap_err();
        assert!(matches!(error, Error::InvalidLines(_)), "{error:?}");
    }
    assert_eq!(test.client.screen(made.pane, CaptureStyle::Coloured).await.unwrap().len(), 30);
}

#[tokio::test]
async fn refusals_have_names() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let nowhere = TmuxPane(9999);
    for error in [
        test.client.kill_pane(nowhere).await.unwrap_err(),
        test.client.send(nowhere, b"x").await.unwrap_err(),
        test.client.screen(nowhere, CaptureStyle::Plain).await.unwrap_err(),
        test.client.last_lines(nowhere, 3, CaptureStyle::Plain).await.unwrap_err(),
        test.client.split(nowhere, RIGHT, &program(&["cat"])).await.unwrap_err(),
        test.client.select_pane(nowhere).await.unwrap_err(),
        test.client.set_title(nowhere, "x").await.unwrap_err(),
        test.client
            .panes(Some(TmuxTarget::Window(paned_backend::tmux::WindowId(9999))))
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(error, Error::SessionNotFound(_)), "{error:?}");
    }
    let size = Size { cols: 80, rows: 24 };
    let (name, shell) = (SessionName::new("work").unwrap(), TmuxProgram::default());
    let again = test.client.new_session(&name, size, &shell).await;
    assert!(matches!(again, Err(Error::SessionExists(_))), "{again:?}");
    let full = loop {
        match test.client.split(made.pane, RIGHT, &program(&["cat", "-"])).await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::PaneLimit(_)), "{full:?}");
    // And the connection still works.
    assert_eq!(test.client.sessions().await.unwrap().len(), 1);
}

#[tokio::test]
async fn every_ending_is_known() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let keep = paned_backend::tmux::TmuxCommand::new("set-option").word("-g").word("-w");
    test.client.run(&keep.word("remain-on-exit").word("on")).await.unwrap();
    let mut expect = Vec::new();
    for code in 0..30 {
        let run = program(&["sh", "-c", &format!("exit {code}")]);
        let made = test.client.new_window(made.session, "x", &run).await.unwrap();
        expect.push((made.pane, TmuxProgramState::Ended(Some(TmuxExit::Code(code)))));
    }
    let run = program(&["sh", "-c", "kill -9 $$"]);
    let killed = test.client.new_window(made.session, "x", &run).await.unwrap();
    expect.push((killed.pane, TmuxProgramState::Ended(Some(TmuxExit::Signal(9)))));
    let end = Instant::now() + TIMEOUT;
    loop {
        let panes = test.client.panes(None).await.unwrap();
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
    let mut test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let changed = |fact: &TmuxEvent| (*fact == TmuxEvent::Changed).then_some(());
    // The first of them may still come from making the session.
    for _ in 0..2 {
        let other = test.client.split(made.pane, RIGHT, &program(&["cat", "-"])).await.unwrap();
        test.wait_for_event("a split", changed).await;
        while test.events.try_recv().is_ok() {}
        test.client.send(other.pane, b"\x04").await.unwrap();
        test.wait_for_event("an ending", changed).await;
    }
}
