//! What a grant over a few panes reaches: those panes themselves, not others that get their names.

use paned_kernel::Caller;
use paned_model::{Code, EventId, Exit};
use serde_json::{Value, json};

use crate::grants::create_caller;
use crate::house::{House, code};

async fn new(house: &House, id: &str) -> Value {
    house.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap()
}

/// A pane with this name that may start panes, and its own caller.
async fn spawner(house: &House, id: &str) -> Caller {
    let made = json!({ "id": id, "argv": ["sh"], "can": ["spawn"] });
    house.act("pane:new", made).await.unwrap();
    house.kernel.authenticate(&house.token_in(id)).unwrap()
}

async fn close(house: &House, id: &str) {
    house.act("pane:close", json!({ "paneId": id })).await.unwrap();
}

/// The names of all events that a caller is shown, with an event at the end that it emits about its own pane `until`.
async fn shown(house: &House, caller: &Caller, until: &str) -> Vec<String> {
    let about = json!({ "name": "test:end", "payload": { "paneId": until } });
    house.act("event:emit", about).await.unwrap();
    let mut feed = house.kernel.events(Some(EventId(0)), "*".parse().unwrap(), caller).unwrap();
    let mut names = Vec::new();
    loop {
        let entry = crate::house::next(&mut feed).await;
        if entry.name == "test:end" {
            return names;
        }
        names.push(entry.name.clone());
    }
}

#[tokio::test(start_paused = true)]
async fn a_grant_does_not_reach_another_pane_that_gets_the_name() {
    let house = House::new().await;
    let first = new(&house, "build").await;
    let all = json!({ "scopes": ["read", "input"], "panes": ["build"] });
    let (_, caller) = create_caller(&house, all).await;
    let get = json!({ "paneId": "build" });
    assert!(house.act_as(&caller, "pane:get", get.clone()).await.is_ok());
    close(&house, "build").await;
    let second = new(&house, "build").await;
    assert_ne!(first["instance"], second["instance"]);
    for name in ["pane:get", "pane:screen", "pane:get-meta"] {
        let outcome = house.act_as(&caller, name, get.clone()).await;
        assert_eq!(code(outcome).0, Code::Forbidden, "{name}");
    }
    let listed = house.act_as(&caller, "pane:list", json!({})).await.unwrap();
    assert_eq!(listed, json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_pane_that_gets_a_name_is_not_shown_what_happened_under_it_before() {
    let house = House::new().await;
    new(&house, "build").await;
    let rename = json!({ "paneId": "build", "title": "a secret" });
    house.act("pane:rename", rename).await.unwrap();
    let told = json!({ "name": "test:told", "payload": { "paneId": "build" } });
    house.act("event:emit", told).await.unwrap();
    let old = json!({ "scopes": ["read"], "panes": ["build"] });
    let (_, old) = create_caller(&house, old).await;
    house.pane("build").exit(Exit::Code(0));
    close(&house, "build").await;
    let attacker = spawner(&house, "att").await;
    let made = json!({ "id": "build", "argv": ["sh"] });
    house.act_as(&attacker, "pane:new", made).await.unwrap();
    assert_eq!(shown(&house, &attacker, "build").await, ["pane:created", "pane:created"]);
    // Who had the first one still reads how it went with that, and nothing of the second.
    let mut feed = house.kernel.events(Some(EventId(0)), "*".parse().unwrap(), &old).unwrap();
    for name in ["pane:created", "pane:title", "test:told", "pane:exited", "pane:removed"] {
        assert_eq!(crate::house::next(&mut feed).await.name, name);
    }
    let more = tokio::time::timeout(std::time::Duration::from_secs(1), feed.next(1)).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_pane_started_is_not_the_next_panes_of_its_name() {
    let house = House::new().await;
    let first = spawner(&house, "boss").await;
    house.act_as(&first, "pane:new", json!({ "id": "child", "argv": ["sh"] })).await.unwrap();
    close(&house, "boss").await;
    let second = spawner(&house, "boss").await;
    let outcome = house.act_as(&second, "pane:kill", json!({ "paneId": "child" })).await;
    assert_eq!(code(outcome).0, Code::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_child_is_told_to_who_reaches_its_parent() {
    let house = House::new().await;
    let boss = spawner(&house, "boss").await;
    house.act_as(&boss, "pane:new", json!({ "id": "child", "argv": ["sh"] })).await.unwrap();
    let grandchild = house.kernel.authenticate(&house.token_in("child")).unwrap();
    assert!(!house.kernel.reaches(&"boss".parse().unwrap(), &grandchild));
    close(&house, "child").await;
    let names = shown(&house, &boss, "boss").await;
    assert_eq!(names.last().map(String::as_str), Some("pane:removed"), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn a_grant_is_for_panes_that_are_there() {
    let house = House::new().await;
    let outcome =
        house.act("grant:create", json!({ "scopes": ["read"], "panes": ["later"] })).await;
    assert_eq!(code(outcome).0, Code::NotFound);
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_pane_needs_that_pane() {
    let house = House::new().await;
    for id in ["mine", "other"] {
        new(&house, id).await;
    }
    let narrow = json!({ "scopes": ["read", "input"], "panes": ["mine"] });
    let (_, caller) = create_caller(&house, narrow).await;
    let emit = |name: &str, payload: Value| json!({ "name": name, "payload": payload });
    for pane in ["other", "none"] {
        let params = emit("ci:done", json!({ "paneId": pane }));
        let outcome = house.act_as(&caller, "event:emit", params).await;
        assert_eq!(code(outcome).0, Code::Forbidden, "{pane}");
    }
    for name in ["subagent:opened", "tmux:listed", "pane:exited"] {
        let outcome = house.act_as(&caller, "event:emit", emit(name, json!({}))).await;
        assert_eq!(code(outcome).0, Code::Invalid, "{name}");
    }
    // Which instance it is about is not what the caller says.
    let other = house.act("pane:get", json!({ "paneId": "other" })).await.unwrap();
    let claim = json!({ "paneId": "mine", "instance": other["instance"] });
    house.act_as(&caller, "event:emit", emit("ci:done", claim)).await.unwrap();
    let mut feed = house.feed("ci:*");
    let entry = crate::house::next(&mut feed).await;
    assert!(!entry.payload.contains(other["instance"].as_str().unwrap()), "{}", entry.payload);
}

#[tokio::test(start_paused = true)]
async fn a_panes_token_reads_and_types_and_no_more_unless_it_is_given() {
    let house = House::new().await;
    new(&house, "a").await;
    let caller = house.kernel.authenticate(&house.token_in("a")).unwrap();
    let write = json!({ "paneId": "a", "text": "x" });
    assert!(house.act_as(&caller, "pane:write", write).await.is_ok());
    for (name, params) in [
        ("pane:new", json!({ "argv": ["sh"] })),
        ("shell:run", json!({ "command": "true" })),
        ("pane:kill", json!({ "paneId": "a", "self": true })),
        ("agent:answer", json!({ "paneId": "a", "option": 1 })),
    ] {
        assert_eq!(code(house.act_as(&caller, name, params).await).0, Code::Forbidden, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_caller_does_not_have_it_cannot_give() {
    let house = House::new().await;
    let caller = spawner(&house, "a").await;
    let made = json!({ "id": "b", "argv": ["sh"], "can": ["spawn", "approve"] });
    assert_eq!(code(house.act_as(&caller, "pane:new", made.clone()).await).0, Code::Forbidden);
    // By the socket, a program in a pane has the owner's rights; what its pane has not, it cannot give either.
    let by_socket = house.kernel.owner(Some(&house.token_in("a")));
    assert_eq!(code(house.act_as(&by_socket, "pane:new", made.clone()).await).0, Code::Forbidden);
    house.act("pane:new", made).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_pane_ends_itself_only_if_it_says_so() {
    let house = House::new().await;
    let caller = spawner(&house, "a").await;
    let by_socket = house.kernel.owner(Some(&house.token_in("a")));
    for who in [&caller, &by_socket] {
        for name in ["pane:kill", "pane:close"] {
            let outcome = house.act_as(who, name, json!({ "paneId": "a" })).await;
            assert_eq!(code(outcome).0, Code::Conflict, "{name}");
        }
    }
    let child = json!({ "id": "c", "argv": ["sh"] });
    house.act_as(&caller, "pane:new", child).await.unwrap();
    assert!(house.act_as(&caller, "pane:kill", json!({ "paneId": "c" })).await.is_ok());
    let itself = json!({ "paneId": "a", "self": true });
    assert!(house.act_as(&caller, "pane:kill", itself).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn counts_are_of_what_a_caller_reaches() {
    let house = House::new().await;
    for id in ["mine", "other", "more"] {
        new(&house, id).await;
    }
    let (_, caller) = create_caller(&house, json!({ "scopes": ["read"], "panes": ["mine"] })).await;
    let status = house.act_as(&caller, "server:status", json!({})).await.unwrap();
    assert_eq!(status["panes"], json!({ "running": 1 }));
}

#[tokio::test(start_paused = true)]
async fn a_session_of_an_agent_is_not_set_as_meta() {
    let house = House::new().await;
    new(&house, "a").await;
    let set = |value: &str| json!({ "paneId": "a", "key": "agent.sessionId", "value": value });
    for value in ["", "01a1"] {
        let outcome = house.act("pane:set-meta", set(value)).await;
        assert_eq!(code(outcome).0, Code::Invalid, "{value:?}");
    }
    let update = json!({ "paneId": "a", "set": { "agent.sessionId": "x" } });
    assert_eq!(code(house.act("pane:update-meta", update).await).0, Code::Invalid);
    let made = json!({ "argv": ["sh"], "meta": { "agent.sessionId": "x" } });
    assert_eq!(code(house.act("pane:new", made).await).0, Code::Invalid);
    for session in ["", "../x", "*", "a b"] {
        let report = json!({ "paneId": "a", "sessionId": session });
        let outcome = house.act("agent:set-state", report).await;
        assert_eq!(code(outcome).0, Code::Invalid, "{session:?}");
    }
    let report = json!({ "paneId": "a", "sessionId": "01a1-b2" });
    let answer = house.act("agent:set-state", report).await.unwrap();
    assert_eq!(answer["meta"]["agent.sessionId"], "01a1-b2");
    let delete = json!({ "paneId": "a", "keys": ["agent.sessionId"] });
    assert_eq!(code(house.act("pane:delete-meta", delete).await).0, Code::Invalid);
}
