//! Permission rules: every action that starts a program obeys them.

use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_kernel::{ApprovalSetup, Caller, KernelSetup, PermissionSetup};
use paned_model::{Code, Scope};
use paned_policy::permissions::{CommandPattern, PermissionDecision, PermissionRule};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::test_kernel::{TestKernel, next, setup};
use PermissionDecision::{Allow, Ask, Deny};

fn rules(lines: &[(PermissionDecision, &str)]) -> PermissionSetup {
    let mut setup =
        PermissionSetup { agents: Ask, opencode_files: true, ..PermissionSetup::default() };
    for (decision, pattern) in lines {
        let pattern = CommandPattern::parse(pattern).unwrap();
        let source = format!("permissions.{}", decision.as_str()).as_str().into();
        setup.rules.add(PermissionRule { decision: *decision, pattern, source });
    }
    setup
}

async fn kernel(lines: &[(PermissionDecision, &str)]) -> TestKernel {
    let approvals =
        ApprovalSetup { wait_limit: Duration::from_secs(1), ..ApprovalSetup::default() };
    let setup = KernelSetup { permissions: rules(lines), approvals, ..setup() };
    TestKernel::with_setup(setup, FakeBackend::default(), Vec::new()).await
}

/// The owner in an agent's pane, as over the unix socket.
async fn agent(server: &TestKernel) -> Caller {
    server
        .act("agent:create", json!({ "id": "ai", "argv": ["cat"], "waitReady": false }))
        .await
        .unwrap();
    server.kernel.owner(Some(&server.token_in("ai")))
}

/// Actions with the scope `spawn` that start no program.
const STARTS_NOTHING: [&str; 5] =
    ["layout:apply", "layout:hide", "layout:place", "layout:save", "pane:adopt"];

/// Parameters with which an action starts `cat`.
fn starting_cat(action: &str) -> Option<Value> {
    let params = match action {
        "pane:new" | "pane:run" | "session:start" => json!({ "argv": ["/bin/cat", "x"] }),
        "agent:create" => json!({ "argv": ["cat"], "waitReady": false }),
        "shell:run" => json!({ "command": "true; cat x" }),
        "subagent:opened" => json!({ "id": "s", "parentId": "p", "argv": ["cat", "{id}"] }),
        _ => return None,
    };
    Some(params)
}

#[tokio::test]
async fn every_action_that_starts_a_program_obeys_the_rules() {
    let server = kernel(&[(Deny, "cat x"), (Deny, "cat"), (Ask, "never")]).await;
    let registry = server.kernel.registry();
    let spawns: Vec<_> = registry.iter().filter(|action| action.scope == Scope::Spawn).collect();
    for action in &spawns {
        let name = &*action.name;
        if STARTS_NOTHING.contains(&name) || name.ends_with(":restart") {
            continue;
        }
        let params = starting_cat(name).unwrap_or_else(|| {
            panic!("`{name}` has the scope `spawn`: does it start a program? Add it to this test")
        });
        let refusal = server.act(name, params).await.unwrap_err();
        assert_eq!(refusal.code, Code::Denied, "{name}: {}", refusal.sentence);
        assert!(refusal.sentence.contains("`permissions.deny: cat"), "{}", refusal.sentence);
    }
    assert!(server.act("pane:list", json!({})).await.unwrap().as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_program_is_started_again_without_asking() {
    let server = kernel(&[(Deny, "rm")]).await;
    server.act("pane:new", json!({ "id": "old", "argv": ["make"] })).await.unwrap();
    let agent = agent(&server).await;
    let restart = server.act_as(&agent, "pane:restart", json!({ "paneId": "old" }));
    // The keeper of a fake program does not end, so the restart does not, either. A request that
    // is refused or asks does so before.
    let outcome = timeout(Duration::from_secs(2), restart).await;
    assert!(outcome.is_err(), "{outcome:?}");
    let open = server.act("approval:list", json!({})).await.unwrap();
    assert_eq!(open["approvals"], json!([]));
}

#[tokio::test]
async fn a_denied_command_starts_nothing_and_names_the_rule() {
    let server = kernel(&[(Deny, "rm -rf")]).await;
    let params = json!({ "argv": ["sh", "-c", "ls; env rm -r -f x"] });
    let refusal = server.act("pane:new", params).await.unwrap_err();
    assert_eq!(refusal.code, Code::Denied);
    let expect = "the permission rule `permissions.deny: rm -rf` refuses it: `rm -r -f x` (in `sh` in `env`): a rule denies it";
    assert_eq!(refusal.sentence, expect);
    let allowed = server.act("pane:new", json!({ "argv": ["sh", "-c", "rm x"] })).await;
    assert!(allowed.is_ok(), "{allowed:?}");
}

#[tokio::test]
async fn agents_are_asked_about_and_their_owner_is_not() {
    let server = kernel(&[(Allow, "ls"), (Deny, "rm")]).await;
    let agent = agent(&server).await;
    let start = |argv: &[&str]| json!({ "argv": argv });
    assert!(server.act_as(&agent, "pane:new", start(&["ls", "-l"])).await.is_ok());
    let refusal = server.act_as(&agent, "pane:new", start(&["rm", "x"])).await.unwrap_err();
    assert_eq!(refusal.code, Code::Denied);
    // No person answers the approval in this test.
    let refusal = server.act_as(&agent, "pane:new", start(&["make"])).await.unwrap_err();
    assert_eq!(refusal.code, Code::Timeout, "{}", refusal.sentence);
    assert!(server.act("pane:new", start(&["make"])).await.is_ok());
}

#[tokio::test]
async fn what_a_rule_asks_about_becomes_an_approval() {
    let server = kernel(&[(Ask, "git push")]).await;
    let mut asked = server.feed("approval:asked");
    let params = json!({ "argv": ["git", "push", "origin"] });
    let (outcome, asked) = tokio::join!(server.act("pane:new", params), next(&mut asked));
    assert_eq!(outcome.unwrap_err().code, Code::Timeout);
    let payload: Value = serde_json::from_str(&asked.payload).unwrap();
    let text = payload.to_string();
    assert!(
        text.contains("run `git push origin`") && text.contains("permissions.ask: git push"),
        "{text}"
    );
}

#[tokio::test]
async fn a_test_explains_each_step_and_starts_nothing() {
    let server = kernel(&[(Allow, "ls"), (Deny, "rm")]).await;
    let params = json!({ "command": "ls | sudo rm x", "as": "agent" });
    let answer = server.act("permission:test", params).await.unwrap();
    assert_eq!(answer["decision"], "deny");
    assert_eq!(answer["as"], "agent");
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!(steps[0]["rule"], "permissions.allow: ls");
    assert_eq!(steps.last().unwrap()["via"], json!(["sh", "sudo"]));
    let answer = server.act("permission:test", json!({ "argv": ["make"] })).await.unwrap();
    assert_eq!((&answer["as"], &answer["decision"]), (&json!("cli"), &json!("allow")));
    let open_code = json!({ "bash": { "*": "deny", "git *": "allow" } });
    let params = json!({ "argv": ["make"], "openCode": open_code, "as": "opencode" });
    assert_eq!(server.act("permission:test", params).await.unwrap()["decision"], "deny");
}

#[tokio::test]
async fn opencodes_files_apply_to_its_clients() {
    let server = kernel(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("src");
    std::fs::create_dir_all(folder.path().join(".git")).unwrap();
    std::fs::create_dir_all(&inner).unwrap();
    let config = r#"{ "permission": { "bash": { "rm *": "deny", "*": "allow" }, "external_directory": "deny" } }"#;
    std::fs::write(folder.path().join("opencode.json"), config).unwrap();
    let mut client = server.owner.clone();
    client.is_opencode = true;
    let start = |argv: &[&str]| json!({ "argv": argv, "cwd": inner });
    assert!(server.act_as(&client, "pane:new", start(&["make"])).await.is_ok());
    for argv in [&["/bin/rm", "x"][..], &["sh", "-c", "rm x"], &["sh", "-c", "cd /etc && ls"]] {
        let refusal = server.act_as(&client, "pane:new", start(argv)).await.unwrap_err();
        assert_eq!(refusal.code, Code::Denied, "{argv:?}");
    }
    assert!(server.act("pane:new", start(&["rm", "x"])).await.is_ok());
    std::fs::write(folder.path().join("opencode.json"), "{").unwrap();
    let refusal = server.act_as(&client, "pane:new", start(&["make"])).await.unwrap_err();
    assert!(refusal.sentence.contains("cannot read"), "{}", refusal.sentence);
}
