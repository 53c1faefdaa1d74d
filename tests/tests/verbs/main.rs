//! The verbs of the command line for one pane, each against real programs.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attach;
mod attach_restores;
mod look;
mod lost;
mod names;
mod pick;
mod piped;
mod progress;
mod run;
mod sizes;
mod tables;
mod term;
mod together;
mod types;
mod wait;

use paned_e2e::Server;
use serde_json::{Value, json};

/// A program that prints the size of its terminal, now and whenever it changes, in one write. A
/// shell's trap would miss a change that comes while it reports the one before.
const SIZES: [&str; 3] = [
    "python3",
    "-c",
    "import os, signal as s
s.signal(s.SIGINT, s.SIG_DFL)
s.pthread_sigmask(s.SIG_BLOCK, {s.SIGWINCH})
while True:
    os.write(1, b'size %d %d\\n' % os.get_terminal_size())
    s.sigwait({s.SIGWINCH})",
];

/// Starts a program in a pane of this name.
#[track_caller]
fn start(server: &Server, id: &str, argv: &[&str]) {
    server.act("pane:new", json!({ "id": id, "argv": argv }));
}

/// Starts a shell script in a pane of this name.
#[track_caller]
fn script(server: &Server, id: &str, text: &str) {
    server.act("pane:new", paned_e2e::script(id, text));
}

/// Waits until a pane has printed a line that matches.
#[track_caller]
fn until(server: &Server, id: &str, pattern: &str) {
    let wait = json!({ "paneId": id, "pattern": pattern, "since": 0 });
    let waited = server.act("pane:wait", wait);
    assert_eq!(waited["met"], "pattern", "{waited}");
}

/// Waits until a pane's program has ended; answers the pane.
#[track_caller]
fn until_exit(server: &Server, id: &str) -> Value {
    let waited = server.act("pane:wait", json!({ "paneId": id, "exit": true }));
    assert_eq!(waited["met"], "exit", "{waited}");
    waited["pane"].clone()
}
