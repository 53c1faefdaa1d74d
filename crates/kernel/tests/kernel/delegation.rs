//! Agents that start agents: how deep, how many, and what they start when they are gone.

use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_kernel::{ApprovalSetup, Caller, KernelLimits, KernelSetup, PermissionSetup};
use paned_model::{Code, Refusal};
use paned_policy::permissions::PermissionDecision;
use serde_json::{Value, json};

use crate::test_kernel::{TestKernel, setup};

async fn kernel(limits: KernelLimits) -> TestKernel {
    TestKernel::with_setup(KernelSetup { limits, ..setup() }, FakeBackend::default(), Vec::new())
        .await
}

/// The owner in a pane, as over the unix socket.
fn from(server: &TestKernel, pane: &str) -> Caller {
    server.kernel.owner(Some(&server.token_in(pane)))
}

fn new_agent(id: &str) -> Value {
    json!({ "id": id, "argv": ["cat"], "waitReady": false, "can": ["spawn"] })
}

async fn spawn(server: &TestKernel, by: Option<&str>, id: &str) -> Result<Value, Refusal> {
    let caller = by.map_or_else(|| server.kernel.owner(None), |pane| from(server, pane));
    server.act_as(&caller, "agent:create", new_agent(id)).await
}

#[tokio::test]
async fn agents_start_agents_only_as_deep_as_the_limit() {
    let limits = KernelLimits { agent_depth: 2, ..KernelLimits::default() };
    let server = kernel(limits).await;
    spawn(&server, None, "lead").await.unwrap();
    spawn(&server, Some("lead"), "worker").await.unwrap();
    // A pane between two agents is not a level.
    let shell = json!({ "id": "shell", "argv": ["sh"] });
    server.act_as(&from(&server, "worker"), "pane:new", shell).await.unwrap();
    spawn(&server, Some("shell"), "helper").await.unwrap();
    let refusal = spawn(&server, Some("helper"), "too-deep").await.unwrap_err();
    assert_eq!(refusal.code, Code::Limit);
    assert!(refusal.sentence.contains("3 are above this one already"), "{}", refusal.sentence);
    assert!(refusal.sentence.contains("`limits.agent_depth`"), "{}", refusal.sentence);
    // The agents above count although one of them is gone.
    server.act("pane:close", json!({ "paneId": "lead", "force": true })).await.unwrap();
    assert_eq!(spawn(&server, Some("helper"), "too-deep").await.unwrap_err().code, Code::Limit);
    // A restart is not another level.
    let again = json!({ "paneId": "helper", "waitReady": false });
    let again = server.act("agent:restart", again).await;
    assert!(again.as_ref().err().is_none_or(|it| it.code != Code::Limit), "{again:?}");
}

#[tokio::test]
async fn a_person_who_is_asked_about_a_new_agent_sees_its_program_and_not_its_prompt() {
    let permissions =
        PermissionSetup { agents: PermissionDecision::Ask, ..PermissionSetup::default() };
    let approvals =
        ApprovalSetup { wait_limit: Duration::from_millis(50), ..ApprovalSetup::default() };
    let setup = KernelSetup { permissions, approvals, ..setup() };
    let server = TestKernel::with_setup(setup, FakeBackend::default(), Vec::new()).await;
    spawn(&server, None, "lead").await.unwrap();
    let worker = json!({ "argv": ["/bin/worker", "the-prompt"], "waitReady": false });
    let waits = server.act_as(&from(&server, "lead"), "agent:create", worker).await.unwrap_err();
    assert_eq!(waits.code, Code::Timeout);
    let open = server.act("approval:list", json!({})).await.unwrap();
    let subject = open["approvals"][0]["subject"].as_str().unwrap();
    assert_eq!(subject, "run `agent:create`, which starts `/bin/worker`");
    assert!(!open.to_string().contains("the-prompt"), "{open}");
}

#[tokio::test]
async fn an_agent_starts_no_more_agents_than_the_limit_also_through_others() {
    let limits = KernelLimits { agents_per_agent: 3, ..KernelLimits::default() };
    let server = kernel(limits).await;
    spawn(&server, None, "lead").await.unwrap();
    spawn(&server, Some("lead"), "one").await.unwrap();
    spawn(&server, Some("one"), "two").await.unwrap();
    // Of several at the same time only one more is started.
    let together =
        futures_util::future::join_all(["a", "b", "c"].map(|id| spawn(&server, Some("two"), id)));
    let results = together.await;
    assert_eq!(results.iter().filter(|it| it.is_ok()).count(), 1, "{results:?}");
    let refusal = spawn(&server, Some("lead"), "more").await.unwrap_err();
    assert_eq!(refusal.code, Code::Limit);
    assert!(refusal.sentence.contains("agent `lead` has 3 running agents"), "{}", refusal.sentence);
    // A person is not limited, and an agent that has ended makes room.
    spawn(&server, None, "mine").await.unwrap();
    server.act("pane:close", json!({ "paneId": "two", "force": true })).await.unwrap();
    spawn(&server, Some("lead"), "more").await.unwrap();
}

#[tokio::test]
async fn what_an_agent_has_started_stays_an_agents_when_the_agent_is_gone() {
    let server = kernel(KernelLimits::default()).await;
    spawn(&server, None, "lead").await.unwrap();
    let shell = json!({ "id": "shell", "argv": ["sh"] });
    server.act_as(&from(&server, "lead"), "pane:new", shell).await.unwrap();
    let judged = async |server: &TestKernel| {
        let test = json!({ "argv": ["make"] });
        server.act_as(&from(server, "shell"), "permission:test", test).await.unwrap()["as"].clone()
    };
    assert_eq!(judged(&server).await, "agent");
    server.act("pane:close", json!({ "paneId": "lead", "force": true })).await.unwrap();
    assert_eq!(judged(&server).await, "agent");
}
