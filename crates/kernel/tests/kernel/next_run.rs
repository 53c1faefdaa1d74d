//! The next run of a pane after a server that ended between the steps of a restart.

use paned_backend::Backend as _;
use paned_kernel::journal::JournalRecord;
use paned_model::{Code, Exit};
use serde_json::{Value, json};

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code, next};

async fn get(server: &TestKernel, id: &str) -> Value {
    server.act("pane:get", json!({ "paneId": id })).await.unwrap()
}

#[tokio::test]
async fn a_restart_that_the_end_of_the_server_interrupted_is_finished() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let mut record: Value = serde_json::from_str(&server.pane("a").spec.record).unwrap();
    server.pane("a").exit(Exit::Code(1));
    // As between the two steps: the pane has its other name, and nothing has its own.
    record["id"] = json!("a.previous");
    record["previousRun"] = json!({ "of": "a", "isPending": true });
    record["end"] = json!({
        "status": "exited", "exit": { "code": 1 }, "timedOut": false,
        "at": "2026-11-15T21:30:00.000Z",
    });
    let name = |id: &str| id.parse().unwrap();
    server.fake.rename(name("a"), name("a.previous")).await.unwrap();
    let record =
        JournalRecord { kind: "pane".into(), key: "a.previous".into(), value: record.to_string() };
    let again = TestKernel::with_records(server.fake.clone(), vec![record]).await;
    let mut feed = again.feed("pane:restarted");
    let told: Value = serde_json::from_str(&next(&mut feed).await.payload).unwrap();
    assert_eq!((&told["paneId"], &told["reason"]), (&json!("a"), &json!("interrupted")));
    assert_eq!(get(&again, "a").await["status"], "running");
    assert_eq!(get(&again, "a.previous").await["previousOf"], "a");
}

#[tokio::test]
async fn a_next_run_that_is_refused_does_not_end_the_pane() {
    let server = TestKernel::new().await;
    let params = json!({ "id": "a", "argv": ["sh"], "can": ["approve"] });
    server.act("pane:new", params).await.unwrap();
    let some = json!({ "scopes": ["read", "spawn", "kill"], "panes": ["a"] });
    let (_, caller) = create_caller(&server, some).await;
    let outcome = server.act_as(&caller, "pane:restart", json!({ "paneId": "a" })).await;
    assert_eq!(code(outcome).0, Code::Forbidden);
    let replace = json!({ "id": "a", "replace": true, "argv": ["sh"], "umask": "9" });
    assert_eq!(code(server.act("pane:new", replace).await).0, Code::Invalid);
    assert_eq!(get(&server, "a").await["status"], "running");
}

#[tokio::test]
async fn files_that_were_moved_without_a_record_are_a_pane_of_their_new_name() {
    let server = TestKernel::new().await;
    let params = json!({ "id": "a", "argv": ["sh"], "restart": "always" });
    server.act("pane:new", params).await.unwrap();
    server.pane("a").exit(Exit::Code(1));
    let name = |id: &str| id.parse().unwrap();
    server.fake.rename(name("a"), name("b")).await.unwrap();
    let again = TestKernel::with_records(server.fake.clone(), Vec::new()).await;
    let info = get(&again, "b").await;
    assert_eq!((&info["status"], &info["restart"]), (&json!("exited"), &Value::Null));
    assert_eq!(again.act("pane:list", json!({})).await.unwrap().as_array().unwrap().len(), 1);
}
