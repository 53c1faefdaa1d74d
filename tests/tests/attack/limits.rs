//! The limits of the machine: descriptors, ptys, processes, disk; and work that a program makes for
//! the server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::TcpStream;

use paned_e2e::{Server, wait_for};
use paned_model::Refusal;
use serde_json::json;

/// How many bytes a refused look says are not drawn yet.
fn left(sentence: &str) -> u64 {
    let (before, _) = sentence.split_once(" bytes are still").unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_screen_that_is_costly_to_draw_is_drawn_bit_by_bit_and_others_are_served() {
    let server = Server::start();
    // 32 KB that fill a screen of a million cells 8,000 times.
    let fill = r#"import sys; sys.stdout.write("\x1b#8x" * 8000); sys.stdout.flush(); input()"#;
    let size = json!({ "cols": 1000, "rows": 1000 });
    let argv = json!(["python3", "-c", fill]);
    server.act("pane:new", json!({ "id": "bomb", "argv": argv, "size": size }));
    wait_for("all of it", || (32_000 <= server.pane("bomb")["bytes"].as_u64()?).then_some(()));
    let look = || server.try_act("pane:screen", json!({ "paneId": "bomb" }));
    let first = look().expect_err("it takes longer than a look may");
    assert_eq!(first.code.as_str(), "limit", "{first}");
    server.act("pane:list", json!({}));
    let second = look().expect_err("it takes longer than two looks may");
    assert!(left(&second.sentence) < left(&first.sentence), "{first} {second}");
    let above = server.try_act("pane:screen", json!({ "paneId": "bomb", "history": 5 }));
    assert_eq!(above.expect_err("so do rows above it").code.as_str(), "limit");
}

/// Starts panes until one is refused; checks that nothing of it is left, and that the server still
/// works.
fn fill(server: &Server, most: usize) -> Refusal {
    let new =
        |n: usize| server.try_act("pane:new", json!({ "id": format!("p{n}"), "argv": ["cat"] }));
    let (n, refusal) = (0..most).find_map(|n| new(n).err().map(|refusal| (n, refusal))).unwrap();
    let left = server.state().join("panes").join(format!("p{n}"));
    assert!(!left.exists(), "{} is left", left.display());
    let listed = server.act("pane:list", json!({}));
    assert_eq!(listed.as_array().unwrap().len(), n, "{listed}");
    // With one less there is room for another.
    server.act("pane:close", json!({ "paneId": "p0" }));
    let again = || {
        let outcome = new(most);
        if let Err(refusal) = &outcome {
            assert_ne!(refusal.code.as_str(), "internal", "{refusal}");
        }
        outcome.ok()
    };
    wait_for("room for another pane", again);
    refusal
}

#[test]
fn few_descriptors_are_a_limit_with_a_name() {
    let server = Server::start_after(&[], "ulimit -n 72");
    let refusal = fill(&server, 100);
    assert!(["limit", "unavailable"].contains(&refusal.code.as_str()), "{refusal:?}");
    assert!(refusal.sentence.contains("ulimit -n"), "{refusal}");
}

#[test]
fn a_session_that_cannot_be_started_names_the_limit() {
    let server = Server::start_after(&[], "ulimit -n 64");
    // Each of these takes descriptors of the server.
    let crowd = (0..100).find_map(|n| {
        let new = json!({ "id": format!("p{n}"), "argv": ["cat"] });
        server.try_act("pane:new", new).err()
    });
    assert!(crowd.is_some());
    let refusal = server.try_act("session:start", json!({})).expect_err("there are none left");
    assert_eq!(refusal.code.as_str(), "limit", "{refusal}");
    assert!(refusal.sentence.contains("ulimit -n"), "{refusal}");
}

#[test]
fn few_ptys_are_a_limit_with_a_name() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can have ptys of its own");
        return;
    }
    let own = "mount -t devpts -o newinstance,ptmxmode=0666,max=6 devpts /dev/pts && \
               mount --bind /dev/pts/ptmx /dev/ptmx || exit 9";
    let server = Server::start_after(&["unshare", "-m"], own);
    let refusal = fill(&server, 20);
    assert_eq!(refusal.code.as_str(), "unavailable", "{refusal:?}");
    assert!(refusal.sentence.contains("kernel.pty.max"), "{refusal}");
}

#[test]
fn a_crowd_that_only_sits_there_keeps_nobody_out() {
    let server = Server::start_after(&[], "ulimit -n 256");
    let crowd: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(server.authority()).unwrap()).collect();
    for _ in 0..20 {
        assert_eq!(server.ask("GET", "/actions").status, 200);
        server.act("pane:list", json!({}));
    }
    server.act("pane:new", json!({ "argv": ["cat"] }));
    drop(crowd);
}
