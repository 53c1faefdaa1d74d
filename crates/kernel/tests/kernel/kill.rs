//! Ending panes: what is answered, and what is left.

use paned_model::Code;
use paned_model::frame::Survivor;
use serde_json::json;

use crate::test_kernel::{TestKernel, code, names};

async fn with_pane() -> TestKernel {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    server
}

#[tokio::test(start_paused = true)]
async fn killed_means_that_all_are_gone() {
    let server = with_pane().await;
    let mut feed = server.feed("pane:killed,pane:exited,pane:survived");
    server.pane("a").leave_survivors(vec![Survivor { pid: 9, command: "stubborn".into() }]);
    let answer = server.act("pane:kill", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!(answer["status"], "running");
    assert_eq!(answer["survivors"], json!([{ "pid": 9, "command": "stubborn" }]));
    let close = server.act("pane:close", json!({ "paneId": "a" })).await;
    assert_eq!(code(close).0, Code::Busy);
    server.pane("a").leave_survivors(Vec::new());
    let answer = server.act("pane:kill", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!((&answer["status"], &answer["exitSignal"]), (&json!("killed"), &json!("SIGTERM")));
    let told = names(&mut feed, 4).await;
    assert_eq!(told, ["pane:survived", "pane:survived", "pane:killed", "pane:exited"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_keeper_leaves_behind_that_dies_during_a_kill_is_found() {
    let server = with_pane().await;
    server.pane("a").die_at_kill();
    server.pane("a").leave_survivors(vec![Survivor { pid: 9, command: "stubborn".into() }]);
    let answer = server.act("pane:kill", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!(answer["survivors"], json!([{ "pid": 9, "command": "stubborn" }]));
    server.pane("a").leave_survivors(Vec::new());
    let answer = server.act("pane:kill", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!((&answer["status"], &answer["survivors"]), (&json!("lost"), &json!([])));
}
