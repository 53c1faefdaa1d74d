//! What only keepers can show.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use paned_model::Size;
use paned_model::frame::{ClientRole, FrameMessage as _, Hello, Resize, ToKeeper, VERSION};
use paned_substrate::Substrate as _;
use paned_substrate::{Program, SplitOrientation, Target};

use crate::programs;
use crate::test_substrate::{SIZE, TestSubstrate, named};

/// Much more output than is kept, and no client reads it.
#[tokio::test]
async fn a_program_that_prints_much_does_not_wait_and_the_end_is_exact() {
    let server = TestSubstrate::native();
    let flood = Program::new(["sh", "-c", "seq 1 3000000; exec cat"]);
    let target = server.spawn("a", &flood).await;
    server.wait_for_line(&target, "3000000").await;
    let lines = server.substrate().capture(&target, 10_000).await.unwrap();
    let expect: Vec<String> = (2_990_001..=3_000_000).map(|n: u32| n.to_string()).collect();
    assert!(lines == expect, "from {:?} on {}", lines.first(), lines.len());
}

#[tokio::test]
async fn the_files_of_a_session_go_with_it() {
    let server = TestSubstrate::native();
    let target = server.spawn("a", &programs::cat()).await;
    server.substrate().split(&target, SplitOrientation::Vertical, &programs::cat()).await.unwrap();
    let left = || std::fs::read_dir(server.folder().join("panes")).unwrap().count();
    assert_eq!(left(), 2);
    server.substrate().destroy(&named("a")).await.unwrap();
    assert_eq!(left(), 0);
    let target = server.spawn("b", &programs::cat()).await;
    server.substrate().key(&target, "C-d").await.unwrap();
    server.until("over", || async { server.names().await.is_empty() }).await;
    assert_eq!(left(), 0, "one that ended by itself is cleared away by who looks");
}

/// Two processes split one pane at the same time; each gets a pane of its own.
#[tokio::test]
async fn two_that_split_at_once_each_get_a_pane() {
    let server = TestSubstrate::native();
    let target = server.spawn("a", &programs::cat()).await;
    let (other, cat) = (server.second_handle(), programs::cat());
    let (one, two) = tokio::join!(
        server.substrate().split(&target, SplitOrientation::Vertical, &cat),
        other.split(&target, SplitOrientation::Horizontal, &cat),
    );
    assert_ne!(one.unwrap().id, two.unwrap().id);
    assert_eq!(server.panes("a").await.len(), 3);
}

#[tokio::test]
async fn a_keeper_that_is_killed_takes_its_session_from_the_list() {
    let server = TestSubstrate::native();
    server.spawn("a", &programs::cat()).await;
    let tape = server.folder().join("panes/0.a/tape");
    let keeper = paned_keeper::tape::TapeReader::open(&tape).unwrap().keeper();
    let pid = rustix::process::Pid::from_raw(keeper.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    server.until("gone", || async { server.names().await.is_empty() }).await;
    let refused = server.substrate().send(&Target::from(&named("a")), "x").await.unwrap_err();
    assert_eq!(refused.to_string(), "session not found: no session `a`");
}

/// A client that shows a pane holds its size; for all others the session is attached.
#[tokio::test]
async fn a_session_is_attached_while_somebody_holds_its_size() {
    let server = TestSubstrate::native();
    server.spawn("a", &programs::cat()).await;
    let is_attached = || async { server.substrate().list().await.unwrap()[0].attached };
    assert!(!is_attached().await);
    let mut viewer = UnixStream::connect(server.folder().join("panes/0.a/keeper.sock")).unwrap();
    let (holder, size) = (Some("me".to_owned()), Size { cols: 90, rows: 20 });
    let mut words = Vec::new();
    ToKeeper::Hello(Hello { version: VERSION, role: ClientRole::Viewer }).encode(&mut words);
    ToKeeper::Resize(Resize { id: 1, size: SIZE, holder, force: false }).encode(&mut words);
    viewer.write_all(&words).unwrap();
    server.until("attached", is_attached).await;
    server.substrate().resize(&named("a"), size).await.unwrap();
    assert_eq!(server.panes("a").await[0].size, size, "the session's owner has the last word");
    assert!(!is_attached().await, "and has taken the size");
}

/// Two handles in one process, each with a fork server of its own.
#[tokio::test]
async fn a_second_handle_sees_and_steers_what_the_first_made() {
    let server = TestSubstrate::native();
    let other = crate::test_substrate::native(server.folder());
    let target = server.spawn("a", &programs::cat()).await;
    other.send(&target, "from the other").await.unwrap();
    server.wait_for_line(&target, "from the other").await;
    other.spawn(&named("b"), &programs::cat(), SIZE).await.unwrap();
    assert_eq!(server.names().await, ["a", "b"]);
}
