//! The example runs on each substrate and prints what its doc says.

use std::process::Command;

use crate::test_substrate::{TestSubstrate, example};

#[track_caller]
fn check(server: &TestSubstrate, kind: &str) {
    let ran = Command::new(example()).arg(kind).arg(server.folder()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    let says = "agent.one says 42\nagent.two says 54\nagent.one has a second pane of 49x30\n\
                agent.one is 100x30 with 2 panes\nagent.two is 100x30 with 1 panes\n\
                0 sessions are left\n";
    assert_eq!(out, says);
}

#[test]
fn the_example_runs_on_native() {
    check(&TestSubstrate::native(), "native");
}

#[test]
fn the_example_runs_on_tmux() {
    check(&TestSubstrate::tmux(), "tmux");
}
