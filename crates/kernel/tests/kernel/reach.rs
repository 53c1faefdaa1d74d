//! What a grant over a few panes reaches: those panes themselves, not others that get their names.

use paned_kernel::Caller;
use paned_model::{Code, EventId, Exit};
use serde_json::{Value, json};

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code};

async fn new(server: &TestKernel, id: &str) -> Value {
    server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap()
}

/// A pane with this name that may start panes, and its own caller.
async fn spawner(server: &TestKernel, id: &str) -> Caller {
    let made = json!({ "id": id, "argv": ["sh"], "can": ["spawn"] });
    server.act("pane:new", made).await.unwrap();
    server.kernel.authenticate(&server.token_in(id)).unwrap()
}

async fn close(server: &TestKernel, id: &str) {
    server.act("pane:close", json!({ "paneId": id })).await.unwrap();
}

/// The names of all events that a caller sees, up to an event that it emits about its own pane
/// `until`.
async fn shown(server: &TestKernel, caller: &Caller, until: &str) -> Vec<String> {
    let about = json!({ "name": "test:end", "payload": { "paneId": until } });
    server.act("event:emit", about).await.unwrap();
    let mut feed = server.kernel.events(Some(EventId(0)), "*".parse().unwrap(), caller).unwrap();
    let mut names = Vec::new();
    loop {
        let entry = crate::test_kernel::next(&mut feed).await;
        if entry.name == "test:end" {
            return names;
        }
        names.push(entry.name.clone());
    }
}

#[tokio::test(start_paused = true)]
async fn a_grant_does_not_reach_another_pane_that_gets_the_name() {
    let server = TestKernel::new().await;
    let first = new(&server, "build").await;
    let all = json!({ "scopes": ["read", "input"], "panes": ["build"] });
    let (_, caller) = create_caller(&server, all).await;
    let get = json!({ "paneId": "build" });
    assert!(server.act_as(&caller, "pane:get", get.clone()).await.is_ok());
    close(&server, "build").await;
    let second = new(&server, "build").await;
    assert_ne!(first["instance"], second["instance"]);
    for name in ["pane:get", "pane:screen", "pane:get-meta"] {
        let outcome = server.act_as(&caller, name, get.clone()).await;
        assert_eq!(code(outcome).0, Code::Forbidden, "{name}");
    }
    let listed = server.act_as(&caller, "pane:list", json!({})).await.unwrap();
    assert_eq!(listed, json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_pane_that_gets_a_name_is_not_shown_what_happened_under_it_before() {
    let server = TestKernel::new().await;
    new(&server, "build").await;
    let rename = json!({ "paneId": "build", "title": "a secret" });
    server.act("pane:rename", rename).await.unwrap();
    let told = json!({ "name": "test:told", "payload": { "paneId": "build" } });
    server.act("event:emit", told).await.unwrap();
    let old = json!({ "scopes": ["read"], "panes": ["build"] });
    let (_, old) = create_caller(&server, old).await;
    server.pane("build").exit(Exit::Code(0));
    close(&server, "build").await;
    let attacker = spawner(&server, "att").await;
    let made = json!({ "id": "build", "argv": ["sh"] });
    server.act_as(&attacker, "pane:new", made).await.unwrap();
    assert_eq!(shown(&server, &attacker, "build").await, ["pane:created", "pane:created"]);
    // The grant over the first pane still reads that pane's events, and none of the second.
    let mut feed = server.kernel.events(Some(EventId(0)), "*".parse().unwrap(), &old).unwrap();
    for name in ["pane:created", "pane:title", "test:told", "pane:exited", "pane:removed"] {
        assert_eq!(crate::test_kernel::next(&mut feed).await.name, name);
    }
    let more = tokio::time::timeout(std::time::Duration::from_secs(1), feed.next(1)).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_pane_started_is_not_the_next_panes_of_its_name() {
    let server = TestKernel::new().await;
    let first = spawner(&server, "boss").await;
    server.act_as(&first, "pane:new", json!({ "id": "child", "argv": ["sh"] })).await.unwrap();
    close(&server, "boss").await;
    let second = spawner(&server, "boss").await;
    let outcome = server.act_as(&second, "pane:kill", json!({ "paneId": "child" })).await;
    assert_eq!(code(outcome).0, Code::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_child_is_told_to_who_reaches_its_parent() {
    let server = TestKernel::new().await;
    let boss = spawner(&server, "boss").await;
    server.act_as(&boss, "pane:new", json!({ "id": "child", "argv": ["sh"] })).await.unwrap();
    let grandchild = server.kernel.authenticate(&server.token_in("child")).unwrap();
    assert!(server.kernel.check_reach(&"boss".parse().unwrap(), &grandchild).is_err());
    close(&server, "child").await;
    let names = shown(&server, &boss, "boss").await;
    assert_eq!(names.last().map(String::as_str), Some("pane:removed"), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn a_grant_is_for_panes_that_are_there() {
    let server = TestKernel::new().await;
    let outcome =
        server.act("grant:create", json!({ "scopes": ["read"], "panes": ["later"] })).await;
    assert_eq!(code(outcome).0, Code::NotFound);
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_pane_needs_that_pane() {
    let server = TestKernel::new().await;
    for id in ["mine", "other"] {
        new(&server, id).await;
    }
    let narrow = json!({ "scopes": ["read", "input"], "panes": ["mine"] });
    let (_, caller) = create_caller(&server, narrow).await;
    let emit = |name: &str, payload: Value| json!({ "name": name, "payload": payload });
    for pane in ["other", "none"] {
        let params = emit("ci:done", json!({ "paneId": pane }));
        let outcome = server.act_as(&caller, "event:emit", params).await;
        assert_eq!(code(outcome).0, Code::Forbidden, "{pane}");
    }
    for name in ["grant:revoked", "handler:error", "pane:exited"] {
        let outcome = server.act_as(&caller, "event:emit", emit(name, json!({}))).await;
        assert_eq!(code(outcome).0, Code::Invalid, "{name}");
    }
    // The instance that the caller claims is ignored.
    let other = server.act("pane:get", json!({ "paneId": "other" })).await.unwrap();
    let claim = json!({ "paneId": "mine", "instance": other["instance"] });
    server.act_as(&caller, "event:emit", emit("ci:done", claim)).await.unwrap();
    let mut feed = server.feed("ci:*");
    let entry = crate::test_kernel::next(&mut feed).await;
    assert!(!entry.payload.contains(other["instance"].as_str().unwrap()), "{}", entry.payload);
}

#[tokio::test(start_paused = true)]
async fn a_panes_token_reads_and_types_and_no_more_unless_it_is_given() {
    let server = TestKernel::new().await;
    new(&server, "a").await;
    let caller = server.kernel.authenticate(&server.token_in("a")).unwrap();
    let write = json!({ "paneId": "a", "text": "x" });
    assert!(server.act_as(&caller, "pane:write", write).await.is_ok());
    for (name, params) in [
        ("pane:new", json!({ "argv": ["sh"] })),
        ("shell:run", json!({ "command": "true" })),
        ("pane:kill", json!({ "paneId": "a", "self": true })),
        ("agent:answer", json!({ "paneId": "a", "option": 1 })),
    ] {
        assert_eq!(code(server.act_as(&caller, name, params).await).0, Code::Forbidden, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_caller_does_not_have_it_cannot_give() {
    let server = TestKernel::new().await;
    let caller = spawner(&server, "a").await;
    let made = json!({ "id": "b", "argv": ["sh"], "can": ["spawn", "approve"] });
    assert_eq!(code(server.act_as(&caller, "pane:new", made.clone()).await).0, Code::Forbidden);
    // Over the unix socket a program in a pane has the owner's rights; it still cannot give what
    // its pane does not have.
    let by_socket = server.kernel.owner(Some(&server.token_in("a")));
    assert_eq!(code(server.act_as(&by_socket, "pane:new", made.clone()).await).0, Code::Forbidden);
    server.act("pane:new", made).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_pane_ends_itself_only_if_it_says_so() {
    let server = TestKernel::new().await;
    let caller = spawner(&server, "a").await;
    let by_socket = server.kernel.owner(Some(&server.token_in("a")));
    for who in [&caller, &by_socket] {
        for name in ["pane:kill", "pane:close"] {
            let outcome = server.act_as(who, name, json!({ "paneId": "a" })).await;
            assert_eq!(code(outcome).0, Code::Conflict, "{name}");
        }
    }
    let child = json!({ "id": "c", "argv": ["sh"] });
    server.act_as(&caller, "pane:new", child).await.unwrap();
    assert!(server.act_as(&caller, "pane:kill", json!({ "paneId": "c" })).await.is_ok());
    let itself = json!({ "paneId": "a", "self": true });
    assert!(server.act_as(&caller, "pane:kill", itself).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn counts_are_of_what_a_caller_reaches() {
    let server = TestKernel::new().await;
    for id in ["mine", "other", "more"] {
        new(&server, id).await;
    }
    let (_, caller) =
        create_caller(&server, json!({ "scopes": ["read"], "panes": ["mine"] })).await;
    let status = server.act_as(&caller, "server:status", json!({})).await.unwrap();
    assert_eq!(status["panes"], json!({ "running": 1 }));
}

#[tokio::test(start_paused = true)]
async fn a_session_of_an_agent_is_not_set_as_meta() {
    let server = TestKernel::new().await;
    new(&server, "a").await;
    let set = |value: &str| json!({ "paneId": "a", "key": "agent.sessionId", "value": value });
    for value in ["", "01a1"] {
        let outcome = server.act("pane:set-meta", set(value)).await;
        assert_eq!(code(outcome).0, Code::Invalid, "{value:?}");
    }
    let update = json!({ "paneId": "a", "set": { "agent.sessionId": "x" } });
    assert_eq!(code(server.act("pane:update-meta", update).await).0, Code::Invalid);
    let made = json!({ "argv": ["sh"], "meta": { "agent.sessionId": "x" } });
    assert_eq!(code(server.act("pane:new", made).await).0, Code::Invalid);
    for session in ["", "../x", "*", "a b"] {
        let report = json!({ "paneId": "a", "sessionId": session });
        let outcome = server.act("agent:set-state", report).await;
        assert_eq!(code(outcome).0, Code::Invalid, "{session:?}");
    }
    let report = json!({ "paneId": "a", "sessionId": "01a1-b2" });
    let answer = server.act("agent:set-state", report).await.unwrap();
    assert_eq!(answer["meta"]["agent.sessionId"], "01a1-b2");
    let delete = json!({ "paneId": "a", "keys": ["agent.sessionId"] });
    assert_eq!(code(server.act("pane:delete-meta", delete).await).0, Code::Invalid);
}
