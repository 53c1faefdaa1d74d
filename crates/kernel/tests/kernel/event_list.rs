//! Past events, page by page.

use paned_model::Code;
use serde_json::{Value, json};

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code};

async fn emit(server: &TestKernel, name: &str, payload: Value) -> u64 {
    let params = json!({ "name": name, "payload": payload });
    server.act("event:emit", params).await.unwrap()["id"].as_u64().unwrap()
}

fn ids(page: &Value) -> Vec<u64> {
    page["events"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn pages_go_back_to_the_first_event_and_none_is_missing_or_repeated() {
    let server = TestKernel::new().await;
    let mut emitted = Vec::new();
    for n in 0..25 {
        emitted.push(emit(&server, "test:n", json!({ "n": n })).await);
        emit(&server, "test:other", json!({})).await;
    }
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let params = json!({ "include": "test:n", "limit": 10, "before": before });
        let page = server.act("event:list", params).await.unwrap();
        let mut page_ids = ids(&page);
        page_ids.extend(found);
        found = page_ids;
        match page["before"].as_u64() {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    assert_eq!(found, emitted);
    let newest = server.act("event:list", json!({ "limit": 1 })).await.unwrap();
    assert_eq!(newest["events"][0]["name"], "test:other");
    assert!(newest["events"][0]["time"].is_string());
}

#[tokio::test(start_paused = true)]
async fn events_of_a_pane_are_those_about_it_and_those_of_actions_on_it() {
    let server = TestKernel::new().await;
    for id in ["a", "b"] {
        server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap();
        server.act("pane:rename", json!({ "paneId": id, "title": "x" })).await.unwrap();
    }
    let page = server.act("event:list", json!({ "paneId": "a" })).await.unwrap();
    let events = page["events"].as_array().unwrap();
    let names: Vec<_> = events.iter().map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["pane:created", "action:start", "pane:title", "action:success"]);
    assert!(events.iter().all(|event| event["payload"]["paneId"] != "b"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn a_narrow_grant_lists_what_it_would_see_in_the_stream() {
    let server = TestKernel::new().await;
    for id in ["a", "b"] {
        server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap();
    }
    let (_, caller) = create_caller(&server, json!({ "scopes": ["read"], "panes": ["a"] })).await;
    for id in ["a", "b"] {
        server.act("pane:remove", json!({ "paneId": id, "force": true })).await.ok();
        server.act("pane:close", json!({ "paneId": id, "force": true })).await.ok();
    }
    let include = "*".parse().unwrap();
    let mut feed = server.kernel.events(Some(paned_model::EventId(0)), include, &caller).unwrap();
    let mut streamed = Vec::new();
    while streamed.last().is_none_or(|name| name != "pane:removed") {
        streamed.push(crate::test_kernel::next(&mut feed).await.name.to_string());
    }
    let page = server.act_as(&caller, "event:list", json!({})).await.unwrap();
    let listed: Vec<_> = page["events"].as_array().unwrap().iter().collect();
    let names: Vec<_> = listed.iter().map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(names, streamed);
    assert!(listed.iter().all(|event| event["payload"]["paneId"] == "a"), "{page}");
    let others = server.act_as(&caller, "event:list", json!({ "paneId": "b" })).await.unwrap();
    assert_eq!(others["events"], json!([]));
    let (_, typist) = create_caller(&server, json!({ "scopes": ["input"] })).await;
    assert_eq!(code(server.act_as(&typist, "event:list", json!({})).await).0, Code::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused() {
    let server = TestKernel::new().await;
    for (params, field) in [
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 1001 }), "limit"),
        (json!({ "include": "a*b" }), "pattern"),
    ] {
        let (refused, sentence) = code(server.act("event:list", params).await);
        assert!(refused == Code::Invalid && sentence.contains(field), "{sentence}");
    }
}
