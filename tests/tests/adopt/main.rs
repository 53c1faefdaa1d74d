//! Panes of somebody's tmux: found, adopted, watched, driven, and let go.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bytes;
mod ends;
mod finds;
mod tmux;
mod uses;

use std::time::Instant;

use paned_e2e::{Server, WAIT_TIMEOUT};
use serde_json::{Value, json};

use tmux::Tmux;

/// Waits until a pane has printed a line that matches.
#[track_caller]
fn until(server: &Server, id: &str, pattern: &str) {
    let wait = json!({ "paneId": id, "pattern": pattern, "since": 0 });
    let waited = server.act("pane:wait", wait);
    assert_eq!(waited["met"], "pattern", "{waited}");
}

/// The code and the sentence of a refusal.
#[track_caller]
fn refused(server: &Server, name: &str, params: Value) -> (String, String) {
    match server.try_act(name, params) {
        Ok(answer) => panic!("{name} went well: {answer}"),
        Err(refusal) => (refusal.code.to_string(), refusal.sentence),
    }
}

/// Waits until a pane's rows fit; answers them.
#[track_caller]
fn shows(server: &Server, id: &str, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    let until = Instant::now() + WAIT_TIMEOUT;
    loop {
        let screen = server.act("pane:screen", json!({ "paneId": id }));
        let rows = screen["rows"].as_array().unwrap_or_else(|| panic!("{screen}"));
        let rows: Vec<String> =
            rows.iter().map(|row| row.as_str().unwrap().trim_end().to_owned()).collect();
        if fits(&rows) {
            return rows;
        }
        assert!(Instant::now() < until, "{rows:#?}");
        let revision = &screen["revision"];
        let wait = json!({ "paneId": id, "screenChangeSince": revision, "timeoutMs": 1000 });
        server.act("pane:wait", wait);
    }
}
