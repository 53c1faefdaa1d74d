//! A journal that cannot be written, and texts that belong in no event.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use paned_e2e::{Server, decode_output, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

/// Set in the process that runs a test on a small file system; its temporary folder is there.
const INSIDE: &str = "PANED_TEST_SMALL_DISK";
const SENTENCE: &str = "the journal cannot be written: no space left on device";

/// Runs one test of this binary again, in a mount namespace of its own with a file system of 32 MiB
/// at its temporary folder. Returns whether this is that run. Needs root.
#[expect(clippy::print_stdout, reason = "who runs the tests is to see that one was skipped")]
fn is_on_small_disk(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !rustix::process::geteuid().is_root() {
        println!("skipped: a small file system can be mounted by root only");
        return false;
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=32m none \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", mount]).arg(folder.path());
    command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let ran = command.env(INSIDE, "1").env("TMPDIR", folder.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
    assert!(text(&ran.stdout).contains("1 passed"), "{}", text(&ran.stdout));
    false
}

/// A file that takes all the room there is, until it is dropped.
struct DiskFiller(PathBuf);

impl DiskFiller {
    fn new() -> Self {
        let path = std::env::temp_dir().join("ballast");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 20, 4096, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
        Self(path)
    }
}

impl Drop for DiskFiller {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

/// Emits until one is refused. Answers the ids that were told, by their number.
fn emit_until_refused(server: &Server, from: u64) -> BTreeMap<u64, u64> {
    let mut told = BTreeMap::new();
    for n in from.. {
        let event = json!({ "name": "test:n", "payload": { "n": n, "text": "x".repeat(9000) } });
        match server.try_act("event:emit", event) {
            Ok(emitted) => drop(told.insert(emitted["id"].as_u64().unwrap(), n)),
            Err(refusal) => {
                assert_eq!(
                    (refusal.code, refusal.sentence.as_str()),
                    (Code::Unavailable, SENTENCE)
                );
                return told;
            }
        }
    }
    unreachable!("the disk is never full")
}

fn trouble(server: &Server) -> Option<String> {
    let status = server.act("server:status", json!({}));
    status.get("trouble").and_then(Value::as_str).map(str::to_owned)
}

/// Every event `test:n` that can be read, by its id.
fn numbered(server: &Server, last: u64) -> BTreeMap<u64, u64> {
    let mut events = server.events("*", Some(0));
    let mut found = BTreeMap::new();
    loop {
        let told = events.next();
        let Some(id) = told.id else { continue };
        if told.name == "test:n" {
            found.insert(id, told.data["n"].as_u64().unwrap());
        }
        if last <= id {
            return found;
        }
    }
}

#[test]
fn what_was_answered_before_and_on_a_full_disk_survives_kill_9() {
    if !is_on_small_disk("journal::what_was_answered_before_and_on_a_full_disk_survives_kill_9") {
        return;
    }
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"], "title": "old" }));
    let mut told = BTreeMap::new();
    for n in 0..20 {
        let emitted = server.act("event:emit", json!({ "name": "test:n", "payload": { "n": n } }));
        told.insert(emitted["id"].as_u64().unwrap(), n);
    }
    let ballast = DiskFiller::new();
    told.extend(emit_until_refused(&server, 20));
    for (action, params) in [
        ("pane:rename", json!({ "paneId": "a", "title": "new" })),
        ("grant:create", json!({ "scopes": ["read"] })),
        ("pane:set-meta", json!({ "paneId": "a", "key": "k", "value": 1 })),
    ] {
        let refusal = server.try_act(action, params).unwrap_err();
        assert_eq!((refusal.code, refusal.sentence.as_str()), (Code::Unavailable, SENTENCE));
    }
    assert_eq!(trouble(&server).as_deref(), Some(SENTENCE));
    assert!(server.ask("GET", "/health").body.contains(SENTENCE));
    assert!(String::from_utf8_lossy(&server.cli(&["doctor"]).stdout).contains(SENTENCE));
    assert_eq!(server.pane("a")["title"], "old");
    server.act("pane:write", json!({ "paneId": "a", "text": "typed\n" }));
    server.kill();

    // It starts, reads, and says what is wrong.
    server.start_again();
    assert_eq!(trouble(&server).as_deref(), Some(SENTENCE));
    assert_eq!(server.pane("a")["title"], "old");
    let refusal = server.try_act("event:emit", json!({ "name": "test:no" })).unwrap_err();
    assert_eq!(refusal.code, Code::Unavailable);
    assert_eq!(numbered(&server, *told.keys().last().unwrap()), told);

    // It recovers by itself, and gives no id again.
    drop(ballast);
    wait_for("written again", || trouble(&server).is_none().then_some(()));
    let end = server.act("event:emit", json!({ "name": "test:n", "payload": { "n": 77_777 } }));
    let end = end["id"].as_u64().unwrap();
    assert!(told.insert(end, 77_777).is_none(), "{end} was given before");
    server.act("pane:rename", json!({ "paneId": "a", "title": "new" }));
    server.kill();
    server.start_again();
    assert_eq!(numbered(&server, end), told);
    assert_eq!(server.pane("a")["title"], "new");
}

#[test]
fn a_server_that_was_stopped_starts_on_a_full_disk() {
    if !is_on_small_disk("journal::a_server_that_was_stopped_starts_on_a_full_disk") {
        return;
    }
    let mut server = Server::start();
    let emitted = server.act("event:emit", json!({ "name": "test:n", "payload": { "n": 1 } }));
    server.act("server:stop", json!({}));
    server.child().wait().unwrap();
    let ballast = DiskFiller::new();
    server.start_again();
    assert_eq!(trouble(&server).as_deref(), Some(SENTENCE));
    let id = emitted["id"].as_u64().unwrap();
    assert_eq!(numbered(&server, id), BTreeMap::from([(id, 1)]));
    drop(ballast);
    wait_for("written again", || trouble(&server).is_none().then_some(()));
    let again = server.act("event:emit", json!({ "name": "test:n", "payload": { "n": 2 } }));
    assert!(id < again["id"].as_u64().unwrap());
}

/// Every file of the journal and the log, as text.
fn written(server: &Server) -> String {
    let mut all = server.log();
    for name in ["journal.db", "journal.db-wal", "server.log"] {
        let bytes = fs::read(server.state().join(name)).unwrap_or_default();
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    all
}

#[test]
fn prompts_hook_payloads_terminal_contents_and_tokens_are_in_no_event_and_no_log() {
    let server = Server::start();
    // Questions and input are events only while this is here.
    let mut events = server.events("*", Some(0));
    server.act(
        "pane:new",
        json!({ "id": "a", "argv": ["sh", "-c", "echo out-put-$((40 + 2)); exec cat"] }),
    );
    server.act("pane:wait", json!({ "paneId": "a", "pattern": "out-put", "since": 0 }));
    server.act("pane:read", json!({ "paneId": "a" }));
    server.act("pane:screen", json!({ "paneId": "a" }));
    server.act("pane:search", json!({ "pattern": "out-put" }));
    server.act("pane:write", json!({ "paneId": "a", "text": "typed-42\n" }));
    server.act("pane:run", json!({ "argv": ["sh", "-c", "echo $((40 + 2))-run-out"] }));
    let hook = json!({ "paneId": "a", "hook_event_name": "Stop", "prompt": "hook-prompt-42" });
    server.act("agent:set-state", hook);
    let _ = server
        .try_act("agent:message", json!({ "paneId": "a", "text": "message-42", "wait": "none" }));
    for address in ["http://me:address-42@localhost/", "https://localhost/?key=address-42"] {
        let wait = json!({ "http": address, "timeoutMs": 1 });
        let refusal = server.try_act("pane:wait", wait).unwrap_err();
        assert!(!refusal.sentence.contains("address-42"), "{refusal:?}");
    }
    let wait = json!({ "http": "http://localhost:1/address-42", "timeoutMs": 1 });
    assert_eq!(server.act("pane:wait", wait)["timedOut"], true);
    let env = json!({ "A": "variable-42" });
    let _ = server.try_act("pane:new", json!({ "argv": ["/none-such"], "env": env }));
    server.act("pane:new", json!({ "id": "d", "argv": ["cat"], "env": env }));
    server.act("pane:restart", json!({ "paneId": "d" }));
    let env = json!({ "B=": "variable-42" });
    let replace = json!({ "id": "d", "replace": true, "argv": ["cat"], "env": env });
    let _ = server.try_act("pane:new", replace);
    let asked = json!({ "id": "b", "profile": "none-such", "prompt": "first-prompt-42" });
    let _ = server.try_act("agent:create", asked);
    let codex = json!({ "id": "c", "profile": "codex", "argv": ["sh", "-c", "exec sleep 1000"],
        "prompt": "second-prompt-42", "waitReady": false });
    let title = server.act("agent:create", codex)["title"].clone();
    assert!(title.as_str().unwrap().starts_with("sh -c"), "{title}");
    server.act("pane:close", json!({ "paneId": "c" }));
    let token = server.act("grant:create", json!({ "scopes": ["read"] }))["token"].clone();
    let revoked = server.act("grant:revoke", json!({ "id": token }));
    let token = token.as_str().unwrap();
    assert!(token.starts_with(&format!("paned_{}_", revoked["id"].as_str().unwrap())));
    server.act("event:emit", json!({ "name": "test:token", "payload": { "it": token } }));
    let secret = token.splitn(3, '_').nth(2).unwrap();
    let hidden = [
        "out-put-42",
        "typed-42",
        "42-run-out",
        "hook-prompt-42",
        "message-42",
        "first-prompt-42",
        "second-prompt-42",
        "address-42",
        "variable-42",
        secret,
    ];
    loop {
        let told = events.next();
        let text = told.data.to_string();
        for secret in hidden {
            assert!(!text.contains(secret), "{} {text}", told.name);
        }
        if told.name == "test:token" {
            break;
        }
    }
    let written = written(&server);
    // A command line is kept with its pane, to start it again.
    for secret in hidden.into_iter().filter(|secret| *secret != "second-prompt-42") {
        assert!(!written.contains(secret), "{secret} is in a file");
    }
}

#[test]
fn a_lost_or_garbled_journal_keeps_what_can_be_read_and_gives_no_id_again() {
    for damage in ["database", "log", "mark", "database and mark", "all"] {
        let mut server = Server::start();
        server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
        let emit = |server: &Server, n| {
            let event = json!({ "name": "test:n", "payload": { "n": n } });
            server.act("event:emit", event)["id"].as_u64().unwrap()
        };
        let told: BTreeMap<u64, u64> = (0..300).map(|n| (emit(&server, n), n)).collect();
        server.kill();
        let file = |name: &str| server.state().join(name);
        let remove = |name: &str| fs::remove_file(file(name)).unwrap();
        match damage {
            "database" => remove("journal.db"),
            "mark" => remove("journal.db.high"),
            "database and mark" => {
                remove("journal.db");
                remove("journal.db.high");
            }
            "log" => {
                let mut log = fs::read(file("journal.db-wal")).unwrap();
                let middle = log.len() / 2;
                log[middle..middle + 3000].fill(0xA5);
                fs::write(file("journal.db-wal"), log).unwrap();
            }
            _ => ["journal.db", "journal.db-wal", "journal.db.high"]
                .iter()
                .for_each(|name| remove(name)),
        }
        server.start_again();
        let next = emit(&server, 300);
        let last = *told.keys().last().unwrap();
        assert!(last < next, "{damage}: {next} was given before");
        let mut found = numbered(&server, next);
        found.remove(&next);
        assert!(found.iter().all(|(id, n)| told.get(id) == Some(n)), "{damage}");
        let least = match damage {
            "all" => 0,
            "log" => 250,
            _ => 300,
        };
        assert!(least <= found.len(), "{damage}: {} of 300 are left", found.len());
        let mut events = server.events("journal:recovered", Some(0));
        let told = events.until(|told| told.name == "journal:recovered");
        assert!(!told.data["cause"].as_str().unwrap().is_empty());
        assert!(server.log().contains("the journal was damaged"), "{damage}");
        let status = server.act("server:status", json!({}));
        assert!(
            status["journalRecovered"].as_str().unwrap().contains("readable events were recovered")
        );
        assert_eq!(server.pane("a")["status"], "running", "{damage}");
    }
}

#[test]
fn losses_close_together_give_no_id_again() {
    let mut server = Server::start();
    let mut last = 0;
    for lost in [&[][..], &[".high"], &[".high"], &["", "-wal", ".high"]] {
        server.kill();
        for suffix in lost {
            fs::remove_file(server.state().join(format!("journal.db{suffix}"))).unwrap();
        }
        server.start_again();
        for _ in 0..50 {
            let emitted = server.act("event:emit", json!({ "name": "test:n" }));
            let id = emitted["id"].as_u64().unwrap();
            assert!(last < id && id < 1 << 53, "after {lost:?}: {id} comes after {last}");
            last = id;
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_costs_only_the_log() {
    let server = Server::start_after(&[], "export PANED_LOG=trace; exec 2>/dev/full");
    let pane = server.act("pane:new", json!({ "id": "p", "argv": ["cat"] }));
    assert_eq!(pane["status"], "running");
    for n in 0..3 {
        server.act("event:emit", json!({ "name": "test:n", "payload": { "n": n } }));
    }
    server.act("pane:write", json!({ "paneId": "p", "text": "hello\n" }));
    wait_for("the echo", || server.text("p").contains("hello").then_some(()));
    server.act("pane:close", json!({ "paneId": "p" }));
}

#[test]
fn a_server_started_on_a_full_disk_can_be_upgraded_later() {
    if !is_on_small_disk("journal::a_server_started_on_a_full_disk_can_be_upgraded_later") {
        return;
    }
    let mut server = Server::start();
    server.kill();
    fs::remove_file(server.state().join("server.json")).unwrap();
    let ballast = DiskFiller::new();
    server.start_again();
    let file = server.state().join("server.json");
    assert!(!file.exists(), "there was room for {}", file.display());

    // Truth first: it runs, and what is missing is room.
    let said = decode_output(&server.cli(&["server", "upgrade"]));
    assert!(said.1.contains("free some disk space"), "{said:?}");
    assert_eq!(server.ask("GET", "/health").status, 200);

    drop(ballast);
    wait_for("written again", || trouble(&server).is_none().then_some(()));
    server.ok(&["server", "upgrade"]);
    assert!(server.ok(&["server", "start"]).contains("already running"));
}
