//! A second kernel over the first one's panes: what it finds, what it records, and what it does not
//! record twice.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::fake::{FAKE_KEEPER_PID, FAKE_PID, FakeBackend};
use paned_kernel::Kernel;
use paned_kernel::journal::{Journal, JournalOptions, JournalRetention};
use paned_model::frame::Survivor;
use paned_model::{Code, Exit};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::test_kernel::{TestKernel, code, next, setup};

/// Runs one server over this folder and these panes. Its tasks end with it, as those of a killed
/// process do.
pub(crate) fn run_server<T>(
    dir: &TempDir,
    fake: &FakeBackend,
    live: impl AsyncFnOnce(TestKernel) -> T,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let file = Some(dir.path().join("token"));
        let setup = paned_kernel::KernelSetup { token_file: file, ..setup() };
        let keep = JournalRetention { events: 10_000, ..JournalRetention::ALL };
        let options =
            JournalOptions { retention: keep, must_exist: false, now: || paned_model::Time(1) };
        let opened = Journal::open(&dir.path().join("journal.db"), options);
        let (journal, opened) = opened.unwrap();
        let started = Kernel::start(setup, journal, opened, Arc::new(fake.clone())).await;
        let (kernel, _) = started.unwrap();
        let owner = kernel.owner(None);
        live(TestKernel { kernel, fake: fake.clone(), owner }).await
    })
}

/// Every pane event there has been, as `name id`.
async fn history(server: &TestKernel) -> Vec<String> {
    let end = server.act("event:emit", json!({ "name": "test:end" })).await.unwrap();
    let mut feed = server.feed("pane:*,test:*");
    let mut told = Vec::new();
    loop {
        let entry = next(&mut feed).await;
        if json!(entry.id) == end["id"] {
            return told;
        }
        let payload: serde_json::Value = serde_json::from_str(&entry.payload).unwrap();
        // An earlier server may have emitted `test:end`, too.
        if let Some(pane) = payload["paneId"].as_str() {
            told.push(format!("{} {pane}", entry.name));
        }
    }
}

#[test]
fn what_is_answered_is_in_the_journal() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    run_server(&dir, &fake, async |server| {
        server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
        for n in 0..50 {
            let emitted = server.act("event:emit", json!({ "name": "t:n" })).await.unwrap();
            let last = server.act("server:status", json!({})).await.unwrap()["lastEvent"].clone();
            assert_eq!(last, emitted["id"]);
            let set = json!({ "paneId": "a", "key": "n", "value": n });
            server.act("pane:set-meta", set).await.unwrap();
            // Its start and its outcome.
            let next = server.act("server:status", json!({})).await.unwrap()["lastEvent"].clone();
            assert_eq!(next, json!(last.as_u64().unwrap() + 2));
        }
    });
}

#[test]
fn what_happened_while_no_server_ran_is_told_once() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    run_server(&dir, &fake, async |server| {
        for id in ["lives", "ends", "dies"] {
            let params = json!({ "id": id, "argv": ["sh"], "meta": { "k": id } });
            server.act("pane:new", params).await.unwrap();
        }
        let set = json!({ "paneId": "lives", "key": "k", "value": 2 });
        server.act("pane:set-meta", set).await.unwrap();
    });
    fake.pane("ends").unwrap().print(b"bye\n");
    fake.pane("ends").unwrap().exit(Exit::Code(3));
    fake.pane("dies").unwrap().kill_keeper();
    run_server(&dir, &fake, async |server| {
        let get = async |id: &str| server.act("pane:get", json!({ "paneId": id })).await.unwrap();
        assert_eq!(get("lives").await["status"], "running");
        assert_eq!(get("lives").await["meta"], json!({ "k": 2 }));
        let ended = get("ends").await;
        assert_eq!((&ended["status"], &ended["exitCode"]), (&json!("exited"), &json!(3)));
        assert_eq!(get("dies").await["status"], "lost");
    });
    let told = run_server(&dir, &fake, async |server| history(&server).await);
    let expect = [
        "pane:created lives",
        "pane:created ends",
        "pane:created dies",
        "pane:lost dies",
        "pane:exited ends",
    ];
    assert_eq!(told, expect);
}

/// A pane whose keeper lives and does not answer when the server comes back.
fn unresponsive_pane(dir: &TempDir) -> FakeBackend {
    let fake = FakeBackend::default();
    run_server(dir, &fake, async |server| {
        server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    });
    fake.pane("a").unwrap().print(b"hello\n");
    fake.pane("a").unwrap().stop_answering();
    fake
}

/// Waits until `pane:wait` with these parameters is met.
async fn until(server: &TestKernel, params: serde_json::Value) {
    let waited = server.act("pane:wait", params).await.unwrap();
    assert_eq!(waited["timedOut"], false, "{waited}");
}

#[test]
fn a_pane_whose_keeper_does_not_answer_runs_and_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let fake = unresponsive_pane(&dir);
    run_server(&dir, &fake, async |server| {
        let pane = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!((&pane["status"], &pane["pid"]), (&json!("running"), &json!(FAKE_PID)));
        let read = server.act("pane:read", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!(read["lines"][0]["text"], "hello");
        let screen = server.act("pane:screen", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!(screen["rows"][0], "hello");
        let size = json!({ "cols": 90, "rows": 20 });
        for (name, params) in [
            ("pane:write", json!({ "paneId": "a", "text": "x" })),
            ("pane:resize", json!({ "paneId": "a", "size": size })),
        ] {
            let (code, sentence) = code(server.act(name, params).await);
            assert_eq!(code, Code::Unavailable, "{name}: {sentence}");
            assert!(sentence.contains(&format!("process {FAKE_KEEPER_PID}")), "{sentence}");
        }
        assert_eq!(history(&server).await, ["pane:created a"]);
    });
}

#[test]
fn a_pane_whose_keeper_does_not_answer_is_neither_ended_nor_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let fake = unresponsive_pane(&dir);
    run_server(&dir, &fake, async |server| {
        for (name, params) in
            [("pane:kill", json!({ "paneId": "a" })), ("pane:close", json!({ "paneId": "a" }))]
        {
            assert_eq!(code(server.act(name, params).await).0, Code::Unavailable, "{name}");
        }
        assert_eq!(
            code(server.act("pane:remove", json!({ "paneId": "a" })).await).0,
            Code::Conflict
        );
        assert!(server.fake.pane("a").is_some());
    });
    let told = run_server(&dir, &fake, async |server| history(&server).await);
    assert_eq!(told, ["pane:created a"]);
}

#[test]
fn a_pane_whose_keeper_does_not_answer_is_ended_by_force() {
    let dir = tempfile::tempdir().unwrap();
    let fake = unresponsive_pane(&dir);
    let force = json!({ "paneId": "a", "force": true });
    run_server(&dir, &fake, async |server| {
        let stuck = Survivor { pid: 7, command: "stuck".into() };
        server.pane("a").leave_survivors(vec![stuck]);
        let answer = server.act("pane:kill", force.clone()).await.unwrap();
        assert_eq!(
            (&answer["status"], &answer["survivors"][0]["pid"]),
            (&json!("running"), &json!(7))
        );
        server.pane("a").leave_survivors(Vec::new());
        let answer = server.act("pane:kill", force.clone()).await.unwrap();
        assert_eq!((&answer["status"], &answer["survivors"]), (&json!("killed"), &json!([])));
        let told = ["pane:created a", "pane:survived a", "pane:killed a", "pane:exited a"];
        assert_eq!(history(&server).await, told);
    });
}

#[test]
fn a_keeper_that_answers_late_has_its_pane_again() {
    let dir = tempfile::tempdir().unwrap();
    let fake = unresponsive_pane(&dir);
    run_server(&dir, &fake, async |server| {
        server.pane("a").resume_answering();
        server.heard("a").await;
        server.act("pane:write", json!({ "paneId": "a", "text": "x" })).await.unwrap();
        assert_eq!(server.pane("a").typed(), b"x");
        server.pane("a").exit(Exit::Code(3));
        until(&server, json!({ "paneId": "a", "exit": true })).await;
        assert_eq!(history(&server).await, ["pane:created a", "pane:exited a"]);
    });
}

#[test]
fn a_keeper_that_does_not_answer_and_dies_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let fake = unresponsive_pane(&dir);
    run_server(&dir, &fake, async |server| {
        server.pane("a").kill_keeper();
        until(&server, json!({ "paneId": "a", "exit": true })).await;
        let pane = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!(pane["status"], "lost");
        server.act("pane:close", json!({ "paneId": "a" })).await.unwrap();
        assert!(server.fake.pane("a").is_none());
    });
}

/// An agent by the meta of its pane.
fn agent() -> serde_json::Value {
    json!({ "id": "a", "argv": ["sh"], "meta": { "agent.runtime": "codex" } })
}

#[test]
fn what_waits_for_an_agent_waits_until_its_keeper_answers() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    let message = json!({ "paneId": "a", "text": "hello", "wait": "none" });
    run_server(&dir, &fake, async |server| {
        server.act("pane:new", agent()).await.unwrap();
        server.act("agent:message", message.clone()).await.unwrap();
    });
    fake.pane("a").unwrap().stop_answering();
    run_server(&dir, &fake, async |server| {
        let wait = json!({ "paneId": "a", "done": true });
        for (name, params) in [("agent:message", message), ("agent:wait", wait)] {
            assert_eq!(code(server.act(name, params).await).0, Code::Unavailable, "{name}");
        }
        fake.pane("a").unwrap().resume_answering();
        let pane = async || server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        let queued = async {
            while pane().await["agent"]["queued"] != 1 {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), queued).await.expect("it waits still");
    });
}

#[test]
fn an_agent_that_was_called_lost_is_no_longer_called_over() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    run_server(&dir, &fake, async |server| {
        server.act("pane:new", agent()).await.unwrap();
        server.pane("a").kill_keeper();
        until(&server, json!({ "paneId": "a", "agentState": "exited" })).await;
    });
    fake.pane("a").unwrap().revive_keeper();
    run_server(&dir, &fake, async |server| {
        let pane = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!(pane["agent"]["state"], "unknown");
    });
}

/// The record that an older server wrote of a keeper that was too slow for it.
fn recorded_as_lost(dir: &TempDir) -> FakeBackend {
    let fake = FakeBackend::default();
    run_server(dir, &fake, async |server| {
        server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
        server.pane("a").kill_keeper();
        until(&server, json!({ "paneId": "a", "exit": true })).await;
    });
    fake.pane("a").unwrap().revive_keeper();
    fake
}

#[test]
fn a_pane_that_was_called_lost_lives_if_its_keeper_does() {
    for is_silent in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let fake = recorded_as_lost(&dir);
        if is_silent {
            fake.pane("a").unwrap().stop_answering();
        }
        for _ in 0..2 {
            run_server(&dir, &fake, async |server| {
                let pane = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
                assert_eq!((&pane["status"], pane.get("endedAt")), (&json!("running"), None));
                let told = history(&server).await;
                assert_eq!(told, ["pane:created a", "pane:lost a", "pane:found a"]);
            });
        }
    }
}

#[test]
fn a_pane_that_was_called_lost_has_ended_as_its_tape_says() {
    let dir = tempfile::tempdir().unwrap();
    let fake = recorded_as_lost(&dir);
    fake.pane("a").unwrap().exit(Exit::Code(3));
    run_server(&dir, &fake, async |server| {
        let pane = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!((&pane["status"], &pane["exitCode"]), (&json!("exited"), &json!(3)));
        let told = history(&server).await;
        assert_eq!(told, ["pane:created a", "pane:lost a", "pane:exited a"]);
    });
}

#[test]
fn a_pane_the_journal_never_heard_of_is_announced() {
    let (dir, other, fake) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), FakeBackend::default());
    let new = json!({ "id": "a", "argv": ["sh"], "meta": { "k": 1 } });
    run_server(&dir, &fake, async |server| server.act("pane:new", new).await.unwrap());
    run_server(&other, &fake, async |server| {
        assert_eq!(history(&server).await, ["pane:created a"]);
        let meta = server.act("pane:get-meta", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!(meta["meta"], json!({ "k": 1 }));
    });
}

#[test]
fn a_pane_whose_files_are_gone_is_told_as_lost_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let new = json!({ "id": "a", "argv": ["sh"] });
    run_server(&dir, &FakeBackend::default(), async |server| {
        server.act("pane:new", new).await.unwrap()
    });
    run_server(&dir, &FakeBackend::default(), async |server| {
        assert_eq!(history(&server).await, ["pane:created a", "pane:lost a", "pane:removed a"]);
        assert_eq!(server.act("pane:list", json!({})).await.unwrap(), json!([]));
    });
}

#[test]
fn grants_and_the_owners_token_hold_across_a_restart() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    let kept = || std::fs::read_to_string(dir.path().join("token")).unwrap().trim().to_owned();
    let made = run_server(&dir, &fake, async |server| {
        server.act("grant:create", json!({ "scopes": ["read"] })).await.unwrap()
    });
    let token = kept();
    run_server(&dir, &fake, async |server| {
        assert!(server.kernel.authenticate(made["token"].as_str().unwrap()).is_ok());
        let owner = server.kernel.authenticate(&token).unwrap();
        server.act("grant:revoke", json!({ "id": owner.grant.id })).await.unwrap();
        assert!(server.kernel.authenticate(&token).is_err());
    });
    run_server(&dir, &fake, async |server| {
        assert!(server.kernel.authenticate(&token).is_err());
        assert!(server.kernel.authenticate(&kept()).is_ok());
    });
}
