//! The past of a pane by time, on a real tape.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use paned_e2e::Server;
use serde_json::{Value, json};

/// Runs a shell script to its end. It waits half a second between `one` and `two`.
fn ended() -> Server {
    let server = Server::start();
    let script = "echo one; sleep 0.5; echo two; exit 3";
    let mut events = server.events("pane:exited", None);
    server.act("pane:new", json!({ "id": "a", "argv": ["sh", "-c", script] }));
    events.until_exit("a");
    server
}

fn rows_at(server: &Server, at: &Value) -> Vec<String> {
    let shown = server.act("pane:screen", json!({ "paneId": "a", "at": at }));
    let rows = shown["rows"].as_array().unwrap().iter();
    rows.map(|row| row.as_str().unwrap().to_owned()).filter(|row| !row.is_empty()).collect()
}

#[test]
fn an_ended_pane_shows_what_it_showed_at_a_time_also_after_a_restart() {
    let mut server = ended();
    for _ in 0..2 {
        let marks = server.act("pane:marks", json!({ "paneId": "a" }));
        let output = marks["output"].as_array().unwrap();
        assert_eq!(output.len(), 2, "{marks}");
        assert_eq!(output[1]["offset"], output[0]["bytes"], "{marks}");
        assert_eq!(rows_at(&server, &output[1]["offset"]), ["one"]);
        assert_eq!(rows_at(&server, &marks["firstTime"]), ["one"]);
        assert_eq!(rows_at(&server, &marks["endTime"]), ["one", "two"]);
        let exits: Vec<_> = marks["marks"].as_array().unwrap().iter().collect();
        assert_eq!(exits.len(), 1, "{marks}");
        assert_eq!((&exits[0]["kind"], &exits[0]["offset"]), (&json!("exit"), &marks["end"]));
        server.kill();
        server.start_again();
    }
}
