//! Requests that wait for a person, and callers that try to do without one.

use std::cell::Cell;
use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_kernel::{ApprovalSetup, Caller, EventFeed, KernelLimits, KernelSetup};
use paned_model::{Code, Exit, Refusal, Time};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code, next, setup};

/// How long an approval can be answered, and how long a request waits for that.
const EXPIRES: Duration = Duration::from_secs(600);
pub(crate) const WAIT: Duration = Duration::from_secs(240);

thread_local! {
    /// When the test began, so that the kernel's clock goes with the paused one.
    pub(crate) static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn clock() -> Time {
    let begun = BEGUN.get().unwrap_or_else(Instant::now);
    BEGUN.set(Some(begun));
    Time(1_000_000 + u64::try_from(begun.elapsed().as_millis()).unwrap())
}

pub(crate) fn approving(wait_limit: Duration) -> KernelSetup {
    let actions = ["pane:rename", "pane:kill", "grant:*", "approval:answer"];
    let approvals = ApprovalSetup {
        actions: actions.map(str::to_owned).into(),
        expires_after: EXPIRES,
        wait_limit,
    };
    let limits = KernelLimits { panes: 100, ..KernelLimits::default() };
    KernelSetup { approvals, limits, now: clock, ..setup() }
}

async fn server() -> TestKernel {
    BEGUN.set(None);
    TestKernel::with_setup(approving(WAIT), FakeBackend::default(), Vec::new()).await
}

/// A pane with these capabilities that `starter` starts, and its own caller.
async fn pane(server: &TestKernel, starter: &Caller, id: &str, can: &[&str]) -> Caller {
    let made = json!({ "id": id, "argv": ["sh"], "can": can });
    server.act_as(starter, "pane:new", made).await.unwrap();
    server.kernel.authenticate(&server.token_in(id)).unwrap()
}

type Outcome = JoinHandle<Result<Value, Refusal>>;

/// Calls an action in a task, as a client on a connection of its own does.
fn call(server: &TestKernel, caller: &Caller, name: &str, params: Value) -> Outcome {
    let kernel = server.kernel.clone();
    let caller = caller.clone();
    let name = name.to_owned();
    tokio::spawn(async move {
        let answer = kernel.dispatch(&name, params.to_string().as_bytes(), &caller).await?;
        Ok(serde_json::from_str(answer.get()).unwrap())
    })
}

fn rename(server: &TestKernel, caller: &Caller, pane: &str, title: &str) -> Outcome {
    call(server, caller, "pane:rename", json!({ "paneId": pane, "title": title }))
}

pub(crate) async fn payload(feed: &mut EventFeed) -> Value {
    serde_json::from_str(&next(feed).await.payload).unwrap()
}

/// The id of the next approval that is asked for.
async fn asked(feed: &mut EventFeed) -> String {
    payload(feed).await["id"].as_str().unwrap().to_owned()
}

async fn answer(server: &TestKernel, id: &str, answer: &str) -> Result<Value, Refusal> {
    answer_as(server, &server.owner, id, answer).await
}

async fn answer_as(
    server: &TestKernel,
    caller: &Caller,
    id: &str,
    answer: &str,
) -> Result<Value, Refusal> {
    server.act_as(caller, "approval:answer", json!({ "id": id, "answer": answer })).await
}

async fn title(server: &TestKernel, pane: &str) -> String {
    let pane = server.act("pane:get", json!({ "paneId": pane })).await.unwrap();
    pane["title"].as_str().unwrap().to_owned()
}

async fn approval(server: &TestKernel, id: &str) -> Value {
    server.act("approval:get", json!({ "id": id })).await.unwrap()
}

async fn open(server: &TestKernel) -> Vec<Value> {
    let list = server.act("approval:list", json!({})).await.unwrap();
    list["approvals"].as_array().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_listed_action_waits_for_a_person_and_says_who_allowed_it() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:*");
    let outcome = rename(&server, &agent, "a", "x");
    let event = payload(&mut feed).await;
    assert_eq!(
        (&event["kind"], &event["action"], &event["caller"], &event["paneId"]),
        (&json!("action"), &json!("pane:rename"), &json!("pane:a"), &json!("a"))
    );
    assert_eq!(event["details"]["params"]["title"], "x");
    assert_ne!(title(&server, "a").await, "x");
    let id = event["id"].as_str().unwrap();
    let info = approval(&server, id).await;
    assert_eq!((&info["status"], &info["waiting"]), (&json!("open"), &json!(true)));
    answer(&server, id, "allow").await.unwrap();
    outcome.await.unwrap().unwrap();
    assert_eq!(title(&server, "a").await, "x");
    assert_eq!(approval(&server, id).await["status"], "used");
    let answered = payload(&mut feed).await;
    assert_eq!(
        (&answered["outcome"], &answered["by"], &answered["delivered"]),
        (&json!("allowed"), &json!("owner"), &json!(true))
    );
    let mut successes = server.feed("action:success");
    let mut success = payload(&mut successes).await;
    while success["actionName"] != "pane:rename" {
        success = payload(&mut successes).await;
    }
    let allowed = json!({ "scope": "input", "approval": id, "by": "owner" });
    assert_eq!(success["allowedBy"], allowed);
}

#[tokio::test(start_paused = true)]
async fn a_denial_carries_its_reason() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:asked");
    let outcome = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    let deny = json!({ "id": id, "answer": "deny", "reason": "not\nnow" });
    server.act("approval:answer", deny).await.unwrap();
    let (code, sentence) = code(outcome.await.unwrap());
    assert_eq!(
        (code, sentence.as_str()),
        (Code::Denied, "`pane:rename` was denied by owner: not now")
    );
    assert_ne!(title(&server, "a").await, "x");
}

#[tokio::test(start_paused = true)]
async fn the_owner_and_other_actions_are_not_asked_about() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    server.act("pane:rename", json!({ "paneId": "a", "title": "x" })).await.unwrap();
    server.act_as(&agent, "pane:tag", json!({ "paneId": "a", "add": ["t"] })).await.unwrap();
    let (_, admin) = create_caller(&server, json!({ "scopes": ["admin"] })).await;
    let again = json!({ "paneId": "a", "title": "y" });
    server.act_as(&admin, "pane:rename", again).await.unwrap();
    assert_eq!(open(&server).await, Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn what_asks_does_not_answer_whatever_its_rights_are() {
    let server = server().await;
    let boss = pane(&server, &server.owner, "boss", &["approve"]).await;
    let agent = pane(&server, &server.owner, "a", &["spawn", "approve"]).await;
    let child = pane(&server, &agent, "child", &["approve"]).await;
    let grandchild = server.kernel.owner(Some(&server.token_in("child")));
    let own = server.kernel.owner(Some(&server.token_in("a")));
    let made = json!({ "scopes": ["admin"] });
    let mut feed = server.feed("approval:asked");
    // A token that the pane's program creates over the unix socket.
    let creating = call(&server, &own, "grant:create", made);
    let id = asked(&mut feed).await;
    answer(&server, &id, "allow").await.unwrap();
    let made = creating.await.unwrap().unwrap();
    let derived = server.kernel.authenticate(made["token"].as_str().unwrap()).unwrap();
    let outcome = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    for (who, caller, expect) in [
        ("itself", &agent, Code::Forbidden),
        ("itself, over the socket", &own, Code::Forbidden),
        ("its child", &child, Code::NotFound),
        ("its child, over the socket", &grandchild, Code::Forbidden),
        ("a token that it created", &derived, Code::Forbidden),
        ("a pane that does not reach it", &boss, Code::NotFound),
    ] {
        let outcome = answer_as(&server, caller, &id, "allow").await;
        assert_eq!(code(outcome).0, expect, "{who}");
    }
    let (_, reader) = create_caller(&server, json!({ "scopes": ["read", "input", "kill"] })).await;
    assert_eq!(code(answer_as(&server, &reader, &id, "allow").await).0, Code::Forbidden);
    assert!(!outcome.is_finished());
    let (_, approver) = create_caller(&server, json!({ "scopes": ["read", "approve"] })).await;
    answer_as(&server, &approver, &id, "allow").await.unwrap();
    outcome.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_agent_of_another_pane_answers_only_with_the_right_to_approve() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    for (id, can) in [("other", vec![]), ("lead", vec!["approve"])] {
        let meta = json!({ "agent.runtime": "codex" });
        let made = json!({ "id": id, "argv": ["sh"], "can": can, "meta": meta });
        server.act("pane:new", made).await.unwrap();
    }
    let mut feed = server.feed("approval:asked");
    let outcome = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    let by_socket = |pane: &str| server.kernel.owner(Some(&server.token_in(pane)));
    let refused = answer_as(&server, &by_socket("other"), &id, "allow").await;
    assert_eq!(code(refused).0, Code::Forbidden);
    answer_as(&server, &by_socket("lead"), &id, "allow").await.unwrap();
    outcome.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_of_two_answers_counts_and_none_counts_twice() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:asked");
    let outcome = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    let params = |answer: &str| json!({ "id": id, "answer": answer });
    let first = call(&server, &server.owner, "approval:answer", params("allow"));
    let second = call(&server, &server.owner, "approval:answer", params("deny"));
    let first = first.await.unwrap();
    let second = second.await.unwrap();
    assert_ne!(first.is_ok(), second.is_ok());
    assert_eq!(first.is_ok(), outcome.await.unwrap().is_ok());
    let refused = if first.is_ok() { second } else { first };
    assert_eq!(code(refused).0, Code::Conflict);
    let again = answer(&server, &id, "allow").await;
    assert_eq!(code(again).0, Code::Conflict, "a replay");
    let next = rename(&server, &agent, "a", "x");
    assert_ne!(asked(&mut feed).await, id, "the same request again asks again");
    next.abort();
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_for_the_request_that_was_asked_about() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:asked");
    let outcome = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    outcome.abort();
    assert!(outcome.await.unwrap_err().is_cancelled());
    assert_eq!(approval(&server, &id).await["waiting"], false);
    let answered = answer(&server, &id, "allow").await.unwrap();
    assert_eq!(answered["approval"]["status"], "allowed");
    assert_ne!(title(&server, "a").await, "x", "nothing runs for a caller that left");
    let other = rename(&server, &agent, "a", "y");
    assert_ne!(asked(&mut feed).await, id);
    other.abort();
    // The same request of another caller is another request.
    let own = server.kernel.owner(Some(&server.token_in("a")));
    let of_other = rename(&server, &own, "a", "x");
    assert_ne!(asked(&mut feed).await, id);
    of_other.abort();
    rename(&server, &agent, "a", "x").await.unwrap().unwrap();
    assert_eq!(title(&server, "a").await, "x");
    assert_eq!(approval(&server, &id).await["status"], "used");
    let again = rename(&server, &agent, "a", "x");
    assert_ne!(asked(&mut feed).await, id, "it was used up");
    again.abort();
}

#[tokio::test(start_paused = true)]
async fn a_pane_that_took_the_name_meanwhile_is_not_what_was_approved() {
    let server = server().await;
    pane(&server, &server.owner, "build", &[]).await;
    let (_, caller) = create_caller(&server, json!({ "scopes": ["read", "kill"] })).await;
    let mut feed = server.feed("approval:asked");
    let outcome = call(&server, &caller, "pane:kill", json!({ "paneId": "build" }));
    let id = asked(&mut feed).await;
    server.act("pane:close", json!({ "paneId": "build" })).await.unwrap();
    pane(&server, &server.owner, "build", &[]).await;
    answer(&server, &id, "allow").await.unwrap();
    assert_eq!(code(outcome.await.unwrap()).0, Code::Conflict);
    let status = server.act("pane:get", json!({ "paneId": "build" })).await.unwrap();
    assert_eq!(status["status"], "running");
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_a_while_and_the_answer_waits_for_the_request() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:asked");
    let first = rename(&server, &agent, "a", "x").await.unwrap().unwrap_err();
    let id = asked(&mut feed).await;
    assert_eq!((first.code, &first.details.unwrap()["approval"]), (Code::Timeout, &json!(id)));
    assert!(first.sentence.contains("nothing was done") && first.sentence.contains(&id));
    let second = rename(&server, &agent, "a", "x");
    while approval(&server, &id).await["waiting"] == false {
        tokio::task::yield_now().await;
    }
    assert_eq!(open(&server).await.len(), 1, "it goes on waiting for the same approval");
    answer(&server, &id, "allow").await.unwrap();
    second.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_approval_expires_to_a_denial() {
    BEGUN.set(None);
    let setup = approving(EXPIRES * 2);
    let server = TestKernel::with_setup(setup, FakeBackend::default(), Vec::new()).await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:*");
    let outcome = rename(&server, &agent, "a", "x").await.unwrap();
    let (expired, sentence) = code(outcome);
    assert_eq!(expired, Code::Denied);
    assert!(sentence.contains("expired"), "{sentence}");
    let id = asked(&mut feed).await;
    let event = payload(&mut feed).await;
    assert_eq!((&event["id"], &event["outcome"]), (&json!(id), &json!("expired")));
    let late = answer(&server, &id, "allow").await;
    assert_eq!(code(late).0, Code::Gone);
    assert_ne!(title(&server, "a").await, "x");
}

#[tokio::test(start_paused = true)]
async fn an_allowance_that_is_not_used_expires() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let mut feed = server.feed("approval:asked");
    let outcome = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    outcome.abort();
    assert!(outcome.await.is_err());
    answer(&server, &id, "allow").await.unwrap();
    tokio::time::advance(EXPIRES).await;
    let again = rename(&server, &agent, "a", "x");
    assert_ne!(asked(&mut feed).await, id);
    again.abort();
    assert_eq!(approval(&server, &id).await["status"], "expired");
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_the_pane_covers_that_pane_only_and_until_it_ends() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &["spawn"]).await;
    let child = pane(&server, &agent, "child", &[]).await;
    let mut feed = server.feed("approval:asked");
    let one = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    let two = rename(&server, &agent, "a", "y");
    let second = asked(&mut feed).await;
    assert_eq!(approval(&server, &id).await["covers"], "every `pane:rename` of this pane");
    answer(&server, &id, "allow-pane").await.unwrap();
    one.await.unwrap().unwrap();
    two.await.unwrap().expect("it is covered, too");
    assert_eq!(approval(&server, &second).await["answer"]["remembered"], true);
    rename(&server, &agent, "a", "z").await.unwrap().unwrap();
    let of_child = rename(&server, &child, "child", "x");
    asked(&mut feed).await;
    of_child.abort();
    let list = server.act("approval:list", json!({})).await.unwrap();
    assert_eq!(list["remembered"][0]["paneId"], "a");
    server.act("approval:forget", json!({ "id": id })).await.unwrap();
    let again = rename(&server, &agent, "a", "w");
    let id = asked(&mut feed).await;
    answer(&server, &id, "allow-pane").await.unwrap();
    again.await.unwrap().unwrap();
    let mut exits = server.feed("pane:exited");
    server.pane("a").exit(Exit::Code(0));
    next(&mut exits).await;
    let list = server.act("approval:list", json!({})).await.unwrap();
    assert_eq!(list["remembered"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_request_from_no_pane_can_be_allowed_once_only() {
    let server = server().await;
    pane(&server, &server.owner, "a", &[]).await;
    let (_, caller) = create_caller(&server, json!({ "scopes": ["read", "input"] })).await;
    let mut feed = server.feed("approval:asked");
    let outcome = rename(&server, &caller, "a", "x");
    let id = asked(&mut feed).await;
    assert_eq!(code(answer(&server, &id, "allow-pane").await).0, Code::Invalid);
    assert_eq!(code(answer(&server, &id, "perhaps").await).0, Code::Invalid);
    answer(&server, &id, "allow").await.unwrap();
    outcome.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_requests_is_refused_and_others_still_ask() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &["spawn"]).await;
    let other = pane(&server, &server.owner, "b", &[]).await;
    let mut calls = Vec::new();
    for n in 0..16 {
        calls.push(rename(&server, &agent, "a", &format!("x{n}")));
    }
    while open(&server).await.len() < 16 {
        tokio::task::yield_now().await;
    }
    let refused = rename(&server, &agent, "a", "more").await.unwrap();
    let (limit, sentence) = code(refused);
    assert_eq!(limit, Code::Limit);
    assert!(sentence.starts_with("16 requests of this caller already wait"), "{sentence}");
    // Panes that it starts count with it.
    for n in 0..4 {
        let id = format!("c{n}");
        let child = pane(&server, &agent, &id, &[]).await;
        calls.extend((0..16).map(|at| rename(&server, &child, &id, &format!("y{at}"))));
    }
    while open(&server).await.len() < 64 {
        tokio::task::yield_now().await;
    }
    calls.push(rename(&server, &other, "b", "x"));
    while open(&server).await.len() < 65 {
        tokio::task::yield_now().await;
    }
    calls.iter().for_each(Outcome::abort);
}

#[tokio::test(start_paused = true)]
async fn a_narrow_grant_sees_its_own_approvals_only() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    let other = pane(&server, &server.owner, "b", &[]).await;
    let (_, outside) = create_caller(&server, json!({ "scopes": ["read", "input"] })).await;
    let mut feed = server.feed("approval:asked");
    let one = rename(&server, &agent, "a", "secret");
    let id = asked(&mut feed).await;
    let two = rename(&server, &outside, "a", "secret");
    let of_token = asked(&mut feed).await;
    let ids = |list: Value| -> Vec<String> {
        let list = list["approvals"].as_array().unwrap().clone();
        list.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let listed = |caller: Caller| {
        let server = &server;
        async move { ids(server.act_as(&caller, "approval:list", json!({})).await.unwrap()) }
    };
    assert_eq!(listed(other.clone()).await, Vec::<String>::new());
    assert_eq!(listed(agent.clone()).await, std::slice::from_ref(&id));
    assert_eq!(listed(server.owner.clone()).await.len(), 2);
    for hidden in [&id, &of_token] {
        let outcome = server.act_as(&other, "approval:get", json!({ "id": hidden })).await;
        assert_eq!(code(outcome).0, Code::NotFound);
    }
    let mut seen = server.kernel.events(None, "approval:*".parse().unwrap(), &other).unwrap();
    answer(&server, &id, "deny").await.unwrap();
    answer(&server, &of_token, "deny").await.unwrap();
    assert!(one.await.unwrap().is_err() && two.await.unwrap().is_err());
    let more = tokio::time::timeout(Duration::from_secs(1), seen.next(1)).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test(start_paused = true)]
async fn an_approval_ends_with_what_asked_for_it() {
    let server = server().await;
    let agent = pane(&server, &server.owner, "a", &[]).await;
    pane(&server, &server.owner, "b", &[]).await;
    let (token, caller) = create_caller(&server, json!({ "scopes": ["read", "input"] })).await;
    let mut feed = server.feed("approval:*");
    let of_pane = rename(&server, &agent, "a", "x");
    let id = asked(&mut feed).await;
    server.pane("a").exit(Exit::Code(0));
    let event = payload(&mut feed).await;
    assert_eq!((&event["id"], &event["outcome"]), (&json!(id), &json!("withdrawn")));
    assert_eq!(code(of_pane.await.unwrap()).0, Code::Denied);
    assert_eq!(code(answer(&server, &id, "allow").await).0, Code::Gone);
    let of_token = rename(&server, &caller, "b", "x");
    let id = asked(&mut feed).await;
    server.act("grant:revoke", json!({ "id": token })).await.unwrap();
    assert_eq!(code(of_token.await.unwrap()).0, Code::Unauthorized);
    assert_eq!(code(answer(&server, &id, "allow").await).0, Code::Gone);
}
