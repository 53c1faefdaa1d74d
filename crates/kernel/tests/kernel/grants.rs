//! Who may do what.

use std::time::Duration;

use paned_model::{Code, EventId};
use serde_json::json;

use crate::test_kernel::{TestKernel, code};

pub(crate) async fn create_caller(
    server: &TestKernel,
    params: serde_json::Value,
) -> (String, paned_kernel::Caller) {
    let made = server.act("grant:create", params).await.unwrap();
    let caller = server.kernel.authenticate(made["token"].as_str().unwrap()).unwrap();
    (made["grant"]["id"].as_str().unwrap().to_owned(), caller)
}

#[tokio::test(start_paused = true)]
async fn every_action_needs_exactly_its_scope() {
    let server = TestKernel::new().await;
    let mut callers = Vec::new();
    for scope in ["read", "input", "spawn", "kill", "approve"] {
        callers.push((scope, create_caller(&server, json!({ "scopes": [scope] })).await.1));
    }
    for action in server.kernel.registry().iter() {
        for (scope, caller) in &callers {
            let outcome = server.act_as(caller, &action.name, json!({ "nonsense": 1 })).await;
            let expect =
                if action.scope.as_str() == *scope { Code::Invalid } else { Code::Forbidden };
            assert_eq!(code(outcome).0, expect, "{} with {scope}", action.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_narrow_grant_sees_its_panes_and_theirs_only() {
    let server = TestKernel::new().await;
    for id in ["a", "b"] {
        server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap();
    }
    let (_, caller) =
        create_caller(&server, json!({ "scopes": ["read", "input"], "panes": ["a"] })).await;
    let listed = server.act_as(&caller, "pane:list", json!({})).await.unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert!(server.act_as(&caller, "pane:get", json!({ "paneId": "a" })).await.is_ok());
    let other = server.act_as(&caller, "pane:write", json!({ "paneId": "b", "text": "x" })).await;
    assert_eq!(code(other).0, Code::Forbidden);
    assert!(server.act_as(&caller, "pane:screen", json!({ "paneId": "b" })).await.is_err());
    assert!(server.kernel.dump(&"b".parse().unwrap(), &caller).await.is_err());
    let mut feed = server.kernel.events(Some(EventId(0)), "*".parse().unwrap(), &caller).unwrap();
    server.pane("b").exit(paned_model::Exit::Code(0));
    server.pane("a").exit(paned_model::Exit::Code(0));
    for name in ["pane:created", "pane:exited"] {
        let entry = crate::test_kernel::next(&mut feed).await;
        assert_eq!((entry.name.as_str(), entry.payload.contains("\"a\"")), (name, true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pane_is_known_by_its_token_and_owns_what_it_starts() {
    let server = TestKernel::new().await;
    let made = json!({ "id": "a", "argv": ["sh"], "can": ["spawn"] });
    server.act("pane:new", made).await.unwrap();
    let token = &server.token_in("a");
    let caller = server.kernel.authenticate(token).unwrap();
    assert_eq!(caller.pane.as_ref().unwrap().id, "a".parse().unwrap());
    let child =
        server.act_as(&caller, "pane:new", json!({ "id": "c", "argv": ["sh"] })).await.unwrap();
    assert_eq!(child["parent"], "a");
    assert!(server.act_as(&caller, "pane:kill", json!({ "paneId": "c" })).await.is_ok());
    assert_eq!(server.kernel.owner(Some(token)).pane, caller.pane);
    assert_eq!(server.kernel.owner(Some("paned_a_b")).pane, None);
    server.act("pane:close", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!(server.kernel.authenticate(token).unwrap_err().code, Code::Unauthorized);
}

#[tokio::test(start_paused = true)]
async fn a_revoked_grant_is_cut_off_at_once() {
    let server = TestKernel::new().await;
    let (id, caller) = create_caller(&server, json!({ "scopes": ["read"] })).await;
    let kernel = server.kernel.clone();
    let watched = caller.clone();
    let shut_out = tokio::spawn(async move { kernel.wait_revoked(&watched).await });
    server.act("grant:revoke", json!({ "id": id })).await.unwrap();
    tokio::time::timeout(Duration::from_secs(1), shut_out).await.unwrap().unwrap();
    assert_eq!(code(server.act_as(&caller, "pane:list", json!({})).await).0, Code::Unauthorized);
    assert_eq!(code(server.act("grant:revoke", json!({ "id": id })).await).0, Code::NotFound);
}

/// Starts a caller's action and lets it run as far as it gets without further input.
async fn start_waiting(
    server: &TestKernel,
    caller: &paned_kernel::Caller,
    name: &'static str,
    params: serde_json::Value,
) -> tokio::task::JoinHandle<Result<String, Code>> {
    let (kernel, caller) = (server.kernel.clone(), caller.clone());
    let asked = tokio::spawn(async move {
        let answer = kernel.dispatch(name, params.to_string().as_bytes(), &caller).await;
        answer.map(|answer| answer.get().to_owned()).map_err(|refusal| refusal.code)
    });
    // not a wait: time is paused, so it advances only when every task is idle.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!asked.is_finished());
    asked
}

#[tokio::test(start_paused = true)]
async fn a_question_under_way_is_not_answered_to_somebody_shut_out() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let (id, caller) = create_caller(&server, json!({ "scopes": ["read"] })).await;
    let (_, other) = create_caller(&server, json!({ "scopes": ["read"] })).await;
    let wait = json!({ "paneId": "a", "pattern": "secret", "timeoutMs": 60_000 });
    let asked = start_waiting(&server, &caller, "pane:wait", wait.clone()).await;
    let others = start_waiting(&server, &other, "pane:wait", wait).await;
    server.act("grant:revoke", json!({ "id": id })).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(1), asked).await;
    assert_eq!(told.expect("it goes on waiting").unwrap(), Err(Code::Unauthorized));
    server.pane("a").print(b"a secret\r\n");
    assert!(others.await.unwrap().unwrap().contains("a secret"));
}

#[tokio::test(start_paused = true)]
async fn a_change_under_way_is_finished_but_not_answered_to_somebody_shut_out() {
    let server = TestKernel::new().await;
    let (id, caller) = create_caller(&server, json!({ "scopes": ["spawn"] })).await;
    let asked =
        start_waiting(&server, &caller, "pane:run", json!({ "id": "r", "argv": ["sh"] })).await;
    let told = "action:success".parse().unwrap();
    let mut feed = server.kernel.events(None, told, &server.owner).unwrap();
    server.act("grant:revoke", json!({ "id": id })).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(1), asked).await;
    assert_eq!(told.expect("it goes on waiting").unwrap(), Err(Code::Unauthorized));
    server.pane("r").print(b"a secret\r\n");
    server.pane("r").exit(paned_model::Exit::Code(0));
    let names =
        [crate::test_kernel::next(&mut feed).await, crate::test_kernel::next(&mut feed).await];
    assert!(names[0].payload.contains("grant:revoke"), "{names:?}");
    assert!(names[1].payload.contains("pane:run"), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_revokes_their_own_grant_is_told_that_it_is_done() {
    let server = TestKernel::new().await;
    let (id, caller) = create_caller(&server, json!({ "scopes": ["admin"] })).await;
    assert!(server.act_as(&caller, "grant:revoke", json!({ "id": id })).await.is_ok());
    assert_eq!(code(server.act_as(&caller, "pane:list", json!({})).await).0, Code::Unauthorized);
}

#[tokio::test]
async fn a_shell_that_a_pane_runs_counts_as_that_pane() {
    let server = TestKernel::new().await;
    let new = json!({ "id": "a", "argv": ["sh"], "can": ["spawn"] });
    server.act("pane:new", new).await.unwrap();
    let token = server.token_in("a");
    let folder = tempfile::tempdir().unwrap();
    for (number, caller) in
        [server.kernel.authenticate(&token).unwrap(), server.kernel.owner(Some(&token))]
            .iter()
            .enumerate()
    {
        let pipe = folder.path().join(format!("pipe{number}"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let command = format!("echo $PANED_PANE $PANED_TOKEN > {}", pipe.display());
        let printed = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe).unwrap());
        server.act_as(caller, "shell:run", json!({ "command": command })).await.unwrap();
        let printed = tokio::time::timeout(Duration::from_secs(60), printed).await;
        assert_eq!(printed.unwrap().unwrap(), format!("a {token}\n"));
    }
    let shell = server.kernel.authenticate(&token).unwrap();
    let child = json!({ "id": "b", "argv": ["sh"] });
    let child = server.act_as(&shell, "pane:new", child).await.unwrap();
    assert_eq!(child["parent"], "a");
}

#[tokio::test]
async fn a_grant_that_may_not_start_programs_finds_out_nothing_about_ports() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let local = json!({ "http": "http://localhost:1/", "timeoutMs": 1 });
    let far = json!({ "http": "http://192.0.2.1/", "timeoutMs": 1 });
    let port = json!({ "paneId": "a", "port": 1, "timeoutMs": 1 });
    for (scopes, expect) in [
        (json!(["read", "input"]), [false, false, false]),
        (json!(["read", "spawn"]), [true, true, false]),
        (json!(["admin"]), [true, true, true]),
    ] {
        let (_, caller) = create_caller(&server, json!({ "scopes": scopes })).await;
        for (params, expect) in [&port, &local, &far].into_iter().zip(expect) {
            let waited = server.act_as(&caller, "pane:wait", params.clone()).await;
            assert_eq!(waited.is_ok(), expect, "{scopes} {params}: {waited:?}");
        }
    }
}
