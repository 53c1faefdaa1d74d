//! What only tmux can show.

use std::os::unix::fs::PermissionsExt as _;

use paned_backend::tmux::TmuxServerAddr;
use paned_substrate::Substrate as _;
use paned_substrate::{Error, Target, TmuxSubstrate};

use crate::programs;
use crate::test_substrate::{SIZE, TestSubstrate, named};

#[tokio::test]
async fn no_server_has_its_name_and_no_tmux_too() {
    let server = TestSubstrate::tmux();
    let name = named("x");
    let refused = server.substrate().destroy(&name).await.unwrap_err();
    assert!(matches!(refused, Error::NoServer(_)), "{refused:?}");
    let place = TmuxServerAddr::own(server.folder()).with_program("/no/such/tmux");
    let refused = TmuxSubstrate::new(place).spawn(&name, &programs::cat(), SIZE).await.unwrap_err();
    let says = "tmux not found: cannot run `/no/such/tmux`";
    assert_eq!(refused.to_string(), says);
}

#[tokio::test]
async fn somebody_elses_server_is_used_and_never_started() {
    let server = TestSubstrate::tmux();
    let foreign =
        || TmuxSubstrate::new(TmuxServerAddr::foreign(&server.folder().join("tmux.sock"), None));
    let (name, cat) = (named("x"), programs::cat());
    assert_eq!(foreign().list().await, Ok(Vec::new()));
    let refused = foreign().spawn(&name, &cat, SIZE).await.unwrap_err();
    assert!(matches!(refused, Error::NoServer(_)), "{refused:?}");
    server.spawn("a", &cat).await;
    let foreign = foreign();
    foreign.spawn(&name, &cat, SIZE).await.unwrap();
    assert_eq!(server.names().await, ["a", "x"]);
    foreign.end_server().await.unwrap();
    assert_eq!(server.names().await, ["a", "x"], "it is not ours to end");
}

/// The server dies without our doing: nothing is listed, and the next session starts it again.
#[tokio::test]
async fn a_server_that_went_is_an_empty_list() {
    let server = TestSubstrate::tmux();
    server.spawn("a", &programs::cat()).await;
    assert_eq!(server.names().await, ["a"]);
    server.run_tmux(&["kill-server"]).unwrap();
    server.until("empty", || async { server.substrate().list().await == Ok(Vec::new()) }).await;
    server.spawn("b", &programs::cat()).await;
    assert_eq!(server.names().await, ["b"]);
}

/// A session whose name is not valid here is not listed, and does no harm.
#[tokio::test]
async fn a_session_without_a_name_for_us_is_left_alone() {
    let server = TestSubstrate::tmux();
    server.spawn("a", &programs::cat()).await;
    server.run_tmux(&["new-session", "-d", "-s", "two words", "cat"]).unwrap();
    assert_eq!(server.names().await, ["a"]);
}

#[tokio::test]
async fn a_dot_and_a_line_are_one_to_tmux() {
    let server = TestSubstrate::tmux();
    server.spawn("a.b", &programs::cat()).await;
    let refused =
        server.substrate().spawn(&named("a_b"), &programs::cat(), SIZE).await.unwrap_err();
    assert!(matches!(refused, Error::SessionExists(_)), "{refused:?}");
    let refused = server.substrate().destroy(&named("a_b")).await.unwrap_err();
    assert!(matches!(refused, Error::SessionNotFound(_)), "{refused:?}");
}

/// A tmux that records the input of its control client.
fn listening_tmux(server: &TestSubstrate) -> TmuxServerAddr {
    let (program, folder) = (server.folder().join("tmux"), server.folder().display());
    // The client itself is the child that is killed with its connection.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -V ] && exec tmux -V\nmkfifo '{folder}/pipe'\nexec 3<&0\n\
         tee '{folder}/told' <&3 >'{folder}/pipe' &\nexec tmux \"$@\" <'{folder}/pipe' 3<&-\n",
    );
    std::fs::write(&program, script).unwrap();
    let mut mode = std::fs::metadata(&program).unwrap().permissions();
    mode.set_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    TmuxServerAddr::own(server.folder()).with_program(program)
}

#[tokio::test]
async fn enter_is_a_write_of_its_own() {
    let server = TestSubstrate::tmux();
    let tmux = TmuxSubstrate::new(listening_tmux(&server));
    let name = named("a");
    tmux.spawn(&name, &programs::cat(), SIZE).await.unwrap();
    tmux.send(&Target::from(&name), "one\ntwo").await.unwrap();
    server.wait_for_lines(&Target::from(&name), |lines| lines.ends_with(&["two".to_owned()])).await;
    let told = std::fs::read_to_string(server.folder().join("told")).unwrap();
    let pastes: Vec<&str> = told.lines().filter(|line| line.contains("paste-buffer")).collect();
    let typed = |paste: &str, text: &str| paste.contains(&format!(" \"{text}\" ;"));
    assert_eq!(pastes.len(), 2, "{pastes:?}");
    assert!(typed(pastes[0], "one\\012two") && typed(pastes[1], "\\015"), "{pastes:?}");
}
