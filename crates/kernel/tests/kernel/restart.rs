//! A second kernel over the first one's panes: what it finds, what it tells, and what it does not tell twice.

use std::sync::Arc;

use paned_kernel::Kernel;
use paned_kernel::journal::Journal;
use paned_model::Exit;
use paned_substrate::fake::Fake;
use serde_json::json;
use tempfile::TempDir;

use crate::house::{House, next, setup};

/// One life of a server over this folder and these panes. Its tasks end with it, as a killed process's do.
pub(crate) fn life<T>(dir: &TempDir, fake: &Fake, live: impl AsyncFnOnce(House) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let file = Some(dir.path().join("token"));
        let setup = paned_kernel::Setup { token_file: file, ..setup() };
        let opened = Journal::open(&dir.path().join("journal.db"), 10_000, || paned_model::Time(1));
        let (journal, opened) = opened.unwrap();
        let started = Kernel::start(setup, journal, opened, Arc::new(fake.clone())).await;
        let (kernel, _) = started.unwrap();
        let owner = kernel.owner(None);
        live(House { kernel, fake: fake.clone(), owner }).await
    })
}

/// Every pane event there has been, as `name id`.
async fn history(house: &House) -> Vec<String> {
    let end = house.act("event:emit", json!({ "name": "test:end" })).await.unwrap();
    let mut feed = house.feed("pane:*,test:*");
    let mut told = Vec::new();
    loop {
        let entry = next(&mut feed).await;
        if json!(entry.id) == end["id"] {
            return told;
        }
        let payload: serde_json::Value = serde_json::from_str(&entry.payload).unwrap();
        told.push(format!("{} {}", entry.name, payload["paneId"].as_str().unwrap()));
    }
}

#[test]
fn what_is_answered_is_in_the_journal() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    life(&dir, &fake, async |house| {
        house.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
        for n in 0..50 {
            let emitted = house.act("event:emit", json!({ "name": "t:n" })).await.unwrap();
            let last = house.act("server:status", json!({})).await.unwrap()["lastEvent"].clone();
            assert_eq!(last, emitted["id"]);
            let set = json!({ "paneId": "a", "key": "n", "value": n });
            house.act("pane:set-meta", set).await.unwrap();
            // Its start, and how it went.
            let next = house.act("server:status", json!({})).await.unwrap()["lastEvent"].clone();
            assert_eq!(next, json!(last.as_u64().unwrap() + 2));
        }
    });
}

#[test]
fn what_happened_while_no_server_ran_is_told_once() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    life(&dir, &fake, async |house| {
        for id in ["lives", "ends", "dies"] {
            let params = json!({ "id": id, "argv": ["sh"], "meta": { "k": id } });
            house.act("pane:new", params).await.unwrap();
        }
        let set = json!({ "paneId": "lives", "key": "k", "value": 2 });
        house.act("pane:set-meta", set).await.unwrap();
    });
    fake.pane("ends").unwrap().print(b"bye\n");
    fake.pane("ends").unwrap().exit(Exit::Code(3));
    fake.pane("dies").unwrap().lose();
    life(&dir, &fake, async |house| {
        let get = async |id: &str| house.act("pane:get", json!({ "paneId": id })).await.unwrap();
        assert_eq!(get("lives").await["status"], "running");
        assert_eq!(get("lives").await["meta"], json!({ "k": 2 }));
        let ended = get("ends").await;
        assert_eq!((&ended["status"], &ended["exitCode"]), (&json!("exited"), &json!(3)));
        assert_eq!(get("dies").await["status"], "lost");
    });
    let told = life(&dir, &fake, async |house| history(&house).await);
    let expect = [
        "pane:created lives",
        "pane:created ends",
        "pane:created dies",
        "pane:lost dies",
        "pane:exited ends",
    ];
    assert_eq!(told, expect);
}

#[test]
fn a_pane_the_journal_never_heard_of_is_announced() {
    let (dir, other, fake) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Fake::default());
    let new = json!({ "id": "a", "argv": ["sh"], "meta": { "k": 1 } });
    life(&dir, &fake, async |house| house.act("pane:new", new).await.unwrap());
    life(&other, &fake, async |house| {
        assert_eq!(history(&house).await, ["pane:created a"]);
        let meta = house.act("pane:get-meta", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!(meta["meta"], json!({ "k": 1 }));
    });
}

#[test]
fn a_pane_whose_files_are_gone_is_told_as_lost_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let new = json!({ "id": "a", "argv": ["sh"] });
    life(&dir, &Fake::default(), async |house| house.act("pane:new", new).await.unwrap());
    life(&dir, &Fake::default(), async |house| {
        assert_eq!(history(&house).await, ["pane:created a", "pane:lost a", "pane:removed a"]);
        assert_eq!(house.act("pane:list", json!({})).await.unwrap(), json!([]));
    });
}

#[test]
fn grants_and_the_owners_token_hold_across_a_restart() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    let kept = || std::fs::read_to_string(dir.path().join("token")).unwrap().trim().to_owned();
    let made = life(&dir, &fake, async |house| {
        house.act("grant:create", json!({ "scopes": ["read"] })).await.unwrap()
    });
    let token = kept();
    life(&dir, &fake, async |house| {
        assert!(house.kernel.authenticate(made["token"].as_str().unwrap()).is_ok());
        let owner = house.kernel.authenticate(&token).unwrap();
        house.act("grant:revoke", json!({ "id": owner.grant.id })).await.unwrap();
        assert!(house.kernel.authenticate(&token).is_err());
    });
    life(&dir, &fake, async |house| {
        assert!(house.kernel.authenticate(&token).is_err());
        assert!(house.kernel.authenticate(&kept()).is_ok());
    });
}
