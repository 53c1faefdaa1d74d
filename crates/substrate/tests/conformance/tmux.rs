//! What only tmux can show.

use std::os::unix::fs::PermissionsExt as _;

use paned_backend::tmux::{SessionId, TmuxServerAddr};
use paned_substrate::Substrate as _;
use paned_substrate::{Error, Target, TmuxSubstrate, check_tmux, tmux_version};

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
async fn without_tmux_every_call_says_so() {
    let server = TestSubstrate::tmux();
    let addr = TmuxServerAddr::own(server.folder()).with_program("/no/such/tmux");
    let missing = TmuxSubstrate::new(addr);
    let refused = missing.list().await.unwrap_err();
    assert!(matches!(refused, Error::TmuxNotFound(_)), "{refused:?}");
    let refused = missing.destroy(&named("x")).await.unwrap_err();
    assert!(matches!(refused, Error::TmuxNotFound(_)), "{refused:?}");
}

#[tokio::test]
async fn the_version_of_tmux_is_told() {
    let version = tmux_version().await.unwrap();
    let said = std::process::Command::new("tmux").arg("-V").output().unwrap().stdout;
    assert_eq!(format!("tmux {version}\n"), String::from_utf8(said).unwrap());
    assert_eq!(check_tmux().await, Ok(()));
}

/// Ends the session that the client on a foreign server is attached to, by every call that can
/// follow.
#[tokio::test]
async fn the_call_after_the_end_of_our_own_session_works() {
    let server = TestSubstrate::tmux();
    let addr = || TmuxServerAddr::foreign(&server.folder().join("tmux.sock"), None);
    server.spawn("kept", &programs::cat()).await;
    for round in 0..5 {
        // tmux attaches a client to the session that was used last.
        server.run_tmux(&["new-session", "-d", "-s", "ours", "cat"]).unwrap();
        let ids = server.run_tmux(&["display-message", "-p", "-t", "ours:", "#{session_id}"]);
        let id = ids.unwrap().trim().trim_start_matches('$').parse().unwrap();
        let addr = TmuxServerAddr::foreign(addr().socket(), Some(SessionId(id)));
        let foreign = TmuxSubstrate::new(addr);
        foreign.list().await.unwrap();
        foreign.destroy(&named("ours")).await.unwrap();
        match round {
            0 => drop(foreign.list().await.unwrap()),
            1 => drop(foreign.panes(&named("kept")).await.unwrap()),
            2 => foreign.send(&Target::from(&named("kept")), "hello").await.unwrap(),
            3 => drop(foreign.spawn(&named("next"), &programs::cat(), SIZE).await.unwrap()),
            _ => foreign.destroy(&named("next")).await.unwrap(),
        }
        let list = foreign.list().await.unwrap();
        assert!(list.iter().any(|it| it.name == named("kept")), "{round}: {list:?}");
    }
}

#[tokio::test]
async fn the_end_of_the_last_session_is_an_empty_list() {
    let server = TestSubstrate::tmux();
    server.run_tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "only", "cat"]).unwrap();
    let addr = TmuxServerAddr::foreign(&server.folder().join("tmux.sock"), None);
    let foreign = TmuxSubstrate::new(addr);
    assert_eq!(foreign.list().await.unwrap().len(), 1);
    foreign.destroy(&named("only")).await.unwrap();
    assert_eq!(foreign.list().await, Ok(Vec::new()));
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
