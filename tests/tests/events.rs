//! Events over the wire, across restarts and damage.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use paned_e2e::Server;
use serde_json::json;

#[track_caller]
fn emit(server: &Server, n: u64) -> u64 {
    server.act("event:emit", json!({ "name": "test:n", "payload": { "n": n } }))["id"]
        .as_u64()
        .unwrap()
}

/// Answers the id of the last one.
#[track_caller]
fn emit_many(server: &Server, count: u64) -> u64 {
    (0..count).fold(0, |_, n| emit(server, n))
}

#[test]
fn a_reader_goes_on_where_it_was_across_kills() {
    let mut server = Server::start();
    let (mut last, mut expect) = (0, 0);
    for round in 0..3 {
        for n in 0..50 {
            emit(&server, round * 50 + n);
        }
        let mut events = server.events("test:*", Some(last));
        while expect < (round + 1) * 50 {
            let told = events.next();
            assert_eq!(told.data["n"], expect);
            last = told.id.unwrap();
            expect += 1;
        }
        server.kill();
        server.start_again();
    }
}

#[test]
fn an_id_that_is_no_longer_kept_is_told_as_a_gap() {
    let dir = tempfile_config("events_kept = 1000\n");
    let mut server =
        Server::start_with(&["--config", dir.path().join("config.toml").to_str().unwrap()]);
    let last = emit_many(&server, 1200);
    // A server that was not there when they happened has only what is kept.
    server.kill();
    server.start_again();
    let mut events = server.events("*", Some(0));
    let gap = events.next();
    assert_eq!((gap.id, gap.name.as_str()), (None, "gap"));
    let first = gap.data["first"].as_u64().unwrap();
    assert!(1 < first && first < last, "{gap:?}");
    assert_eq!(events.next().id, Some(first));
}

fn tempfile_config(limits: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), format!("[limits]\n{limits}")).unwrap();
    dir
}

#[test]
fn a_torn_journal_is_opened_and_said_and_no_id_comes_twice() {
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"], "meta": { "k": 1 } }));
    let last = emit_many(&server, 3000);
    server.kill();
    let file = server.state().join("journal.db");
    let length = std::fs::metadata(&file).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(length * 2 / 3).unwrap();
    let _ = std::fs::remove_file(server.state().join("journal.db-wal"));
    server.start_again();
    assert!(server.log().contains("the journal was damaged"), "{}", server.log());
    assert!(last < emit(&server, 0), "an id was given again");
    let history = server.events("journal:recovered,test:n", Some(0));
    let mut history = history;
    let told = history.until(|told| told.name == "journal:recovered");
    assert!(last < told.id.unwrap());
    let pane = server.pane("a");
    assert_eq!((&pane["status"], &pane["meta"]), (&json!("running"), &json!({ "k": 1 })));
}

#[test]
fn without_include_nothing_comes_and_the_log_says_why() {
    let server = Server::start();
    let mut events = server.events("", None);
    emit(&server, 1);
    assert!(server.cli(&["server", "stop"]).status.success());
    assert!(events.try_next().is_err(), "the stream ended without an event");
    assert!(server.log().contains("include"), "{}", server.log());
}

#[test]
fn a_reader_that_does_not_read_slows_nobody() {
    let server = Server::start();
    let _deaf: Vec<_> = (0..20).map(|_| server.events("*", Some(0))).collect();
    let mut hears = server.events("test:*", None);
    let payload = "x".repeat(20_000);
    for n in 0..500 {
        server.act(
            "event:emit",
            json!({ "name": "test:n", "payload": { "n": n, "payload": payload } }),
        );
        assert_eq!(hears.next().data["n"], n);
    }
}
