//! What a terminal shows while a command takes longer than a second.

use std::fs;

use paned_e2e::{Server, binary, decode_output, wait_for};
use serde_json::{Value, json};

use crate::{script, start, until, until_exit};

/// What a pane's terminal shows, as one text.
fn screen(server: &Server, id: &str) -> String {
    let screen = server.act("pane:screen", json!({ "paneId": id }));
    let rows = screen["rows"].as_array().unwrap().iter();
    rows.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// A program that ends only when it is killed.
fn stubborn(server: &Server, id: &str) {
    script(server, id, "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done");
    until(server, id, "^ready$");
}

/// Runs a command in a terminal until it shows this, and to its end; answers what is left.
#[track_caller]
fn shows(server: &Server, args: &[&str], expect: &str) -> String {
    let program = binary();
    let argv: Vec<&str> =
        [program.to_str().unwrap()].into_iter().chain(args.iter().copied()).collect();
    start(server, "terminal", &argv);
    wait_for(expect, || screen(server, "terminal").contains(expect).then_some(()));
    until_exit(server, "terminal");
    let left = screen(server, "terminal");
    server.ok(&["rm", "terminal"]);
    left
}

#[test]
fn a_command_that_takes_longer_than_a_second_says_so_in_a_terminal() {
    let server = Server::start();
    let grace = ["--grace-ms", "3000"];
    stubborn(&server, "a");
    let left = shows(&server, &["kill", "a", grace[0], grace[1]], "stopping the program (1s)");
    assert!(left.starts_with("a killed (SIGKILL)"), "the line is gone afterwards: {left}");
    server.ok(&["rm", "a"]);
    stubborn(&server, "b");
    let left = shows(&server, &["restart", "b", grace[0], grace[1]], "starting the program (1s)");
    assert!(left.starts_with("restarted b"), "{left}");
    let agent = ["agent", "new", "--id", "c", "--timeout", "3s", "--", "sleep", "1000"];
    shows(&server, &agent, "starting the agent (1s)");
    let send = ["agent", "send", "c", "hello", "--wait", "--timeout", "3s"];
    shows(&server, &send, "handing over the prompt (1s)");
    // Not in a pipe.
    until(&server, "b", "^ready$");
    let (out, err, code) = decode_output(&server.cli(&["kill", "b", grace[0], "1500"]));
    assert_eq!((out.as_str(), code), ("b killed (SIGKILL)\n", 0), "{err}");
    assert!(!err.contains("stopping"), "{err}");
}

#[test]
fn up_shows_what_it_waits_for_below_what_it_has_started() {
    let server = Server::start();
    let file = server.home().join("paned.toml");
    let pane = |name: &str| {
        format!("[panes.{name}]\ncommand = \"read go; echo open\"\nwait = {{ pattern = 'open' }}\n")
    };
    fs::write(&file, format!("{}{}", pane("db"), pane("web"))).unwrap();
    let program = binary();
    start(&server, "up", &[program.to_str().unwrap(), "up", file.to_str().unwrap()]);
    let waits = |names: &str| {
        let line = format!("waiting for {names} (");
        wait_for(&line, || screen(&server, "up").contains(&line).then_some(()));
    };
    waits("db, web");
    server.ok(&["send", "db", "go"]);
    waits("web");
    server.ok(&["send", "web", "go"]);
    until_exit(&server, "up");
    let left = screen(&server, "up");
    assert!(left.contains("db   ready\nweb  ready"), "{left}");
    assert!(!left.contains("waiting for web ("), "{left}");
}
