//! What a refusal says may be meant by a name, and the actions on many panes, tags and recordings.

use paned_model::{Code, Exit, Instance, PaneRef, Refusal, Time};
use serde_json::{Value, json};

use crate::grants::create_caller;
use crate::test_kernel::{TestKernel, code};

async fn new(server: &TestKernel, id: &str) {
    server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap();
}

async fn with_panes(ids: &[&str]) -> TestKernel {
    let server = TestKernel::new().await;
    for id in ids {
        new(&server, id).await;
    }
    server
}

#[track_caller]
fn details(outcome: Result<Value, Refusal>) -> (Code, Value) {
    let refusal = outcome.unwrap_err();
    (refusal.code, refusal.details.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_name_that_nothing_has_lists_what_may_be_meant() {
    let server = with_panes(&["web", "db"]).await;
    let outcome = server.act("pane:get", json!({ "paneId": "we" })).await;
    let expect = json!({ "name": "we", "matches": ["web"], "near": [], "field": "paneId" });
    assert_eq!(details(outcome), (Code::NotFound, expect));
    let outcome = server.act("pane:get", json!({ "paneId": "wbe" })).await;
    assert_eq!(code(outcome), (Code::NotFound, "no pane `wbe`; did you mean `web`?".to_owned()));
    let outcome = server.act("pane:get", json!({ "paneId": "other" })).await;
    assert_eq!(details(outcome).1["near"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_previous_run_is_not_given_to_another_program() {
    let server = with_panes(&["web"]).await;
    for id in ["web.previous", "other.previous"] {
        let outcome = server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await;
        let (refused, sentence) = code(outcome);
        assert_eq!(refused, Code::Invalid, "{sentence}");
        assert!(sentence.contains("reserved for the previous run"), "{sentence}");
    }
    new(&server, "web.previously").await;
}

#[tokio::test(start_paused = true)]
async fn a_title_with_blanks_is_found_although_it_is_no_id() {
    let server = with_panes(&["web"]).await;
    server.act("pane:rename", json!({ "paneId": "web", "title": "the server" })).await.unwrap();
    let outcome = server.act("pane:get", json!({ "paneId": "the server" })).await;
    let (code, details) = details(outcome);
    assert_eq!((code, &details["matches"]), (Code::NotFound, &json!(["web"])));
}

#[tokio::test(start_paused = true)]
async fn a_title_is_no_name_for_what_ends_a_pane() {
    let server = with_panes(&["web"]).await;
    server.act("pane:rename", json!({ "paneId": "web", "title": "front" })).await.unwrap();
    for action in ["pane:kill", "pane:close", "pane:remove", "agent:restart"] {
        let outcome = server.act(action, json!({ "paneId": "front" })).await;
        let details = details(outcome).1;
        assert_eq!((&details["matches"], &details["near"]), (&json!([]), &json!(["web"])));
    }
    server.act("pane:rename", json!({ "paneId": "web", "title": "the front" })).await.unwrap();
    let outcome = server.act("pane:kill", json!({ "paneId": "the front" })).await;
    let sentence = "no pane `the front`; panes are ended by their id; did you mean `web`?";
    assert_eq!(code(outcome), (Code::NotFound, sentence.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_title_that_a_pane_has_given_itself_is_no_name() {
    let server = with_panes(&["web"]).await;
    let info = server.act("pane:get", json!({ "paneId": "web" })).await.unwrap();
    let instance = Instance(info["instance"].as_str().unwrap().to_owned());
    let pane = PaneRef { id: "web".parse().unwrap(), instance };
    let mut caller = server.owner.clone();
    caller.pane = Some(pane);
    let rename = json!({ "paneId": "web", "title": "deploy" });
    let renamed = server.act_as(&caller, "pane:rename", rename).await.unwrap();
    assert_eq!(renamed["title"], "deploy");
    let outcome = server.act("pane:write", json!({ "paneId": "deploy", "text": "yes" })).await;
    let details = details(outcome).1;
    assert_eq!((&details["matches"], &details["near"]), (&json!([]), &json!([])));
}

#[tokio::test(start_paused = true)]
async fn prune_leaves_what_is_to_be_started_again() {
    let server = TestKernel::new().await;
    let params = json!({ "id": "a", "argv": ["sh"], "restart": "always" });
    server.act("pane:new", params).await.unwrap();
    server.pane("a").exit(Exit::Code(1));
    server.act("pane:wait", json!({ "paneId": "a", "exit": true })).await.unwrap();
    let info = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
    assert_ne!(info["restart"]["nextAt"], Value::Null, "{info}");
    let pruned = server.act("pane:prune", json!({})).await.unwrap();
    assert_eq!(pruned["removed"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn only_panes_that_the_grant_reaches_are_listed() {
    let server = with_panes(&["web-mine", "web-other"]).await;
    let some = json!({ "scopes": ["read", "input"], "panes": ["web-mine"] });
    let (_, caller) = create_caller(&server, some).await;
    let get = json!({ "paneId": "web" });
    let outcome = server.act_as(&caller, "pane:get", get.clone()).await;
    let (code, found) = details(outcome);
    assert_eq!((code, &found["matches"]), (Code::Forbidden, &json!(["web-mine"])));
    // A pane that is out of reach is refused like one that does not exist.
    let about = async |name: &str| {
        let outcome = server.act_as(&caller, "pane:get", json!({ "paneId": name })).await;
        let mut details = details(outcome).1;
        details["name"] = json!("-");
        details
    };
    assert_eq!(about("web-other").await, about("web-othex").await);
    let (_, typist) = create_caller(&server, json!({ "scopes": ["input"] })).await;
    let outcome =
        server.act_as(&typist, "pane:write", json!({ "paneId": "web", "text": "" })).await;
    let details = details(outcome).1;
    assert_eq!(details.get("matches"), None, "it may not read: {details}");
}

#[tokio::test(start_paused = true)]
async fn actions_grants_and_profiles_have_near_names_too() {
    let server = TestKernel::new().await;
    let outcome = server.act("pane:nwe", json!({})).await;
    assert!(code(outcome).1.ends_with("did you mean `pane:new`?"));
    let create = json!({ "scopes": ["read"], "label": "dashboard" });
    let created = server.act("grant:create", create).await.unwrap();
    let outcome = server.act("grant:revoke", json!({ "id": "dashboard" })).await;
    assert_eq!(details(outcome).1["matches"], json!([created["grant"]["id"]]));
    let outcome = server.act("agent:create", json!({ "profile": "codxe" })).await;
    assert_ne!(code(outcome).0, Code::Internal);
}

#[tokio::test(start_paused = true)]
async fn prune_deletes_ended_panes_within_reach() {
    let server = with_panes(&["on", "over", "mine"]).await;
    let own = json!({ "scopes": ["read", "kill"], "panes": ["mine", "on"] });
    let (_, caller) = create_caller(&server, own).await;
    for id in ["over", "mine"] {
        server.pane(id).print(b"12345");
        server.heard(id).await;
        server.pane(id).exit(Exit::Code(0));
        let wait = json!({ "paneId": id, "exit": true });
        server.act("pane:wait", wait).await.unwrap();
    }
    let later = server.act("pane:prune", json!({ "olderMs": 5000 })).await.unwrap();
    assert_eq!(later["removed"], json!([]), "none ended that long ago");
    let tagged = server.act("pane:prune", json!({ "tag": "x" })).await.unwrap();
    assert_eq!(tagged["removed"], json!([]));
    let found = server.act("pane:prune", json!({ "dryRun": true })).await.unwrap();
    assert_eq!(found["removed"].as_array().unwrap().len(), 2);
    let pruned = server.act_as(&caller, "pane:prune", json!({})).await.unwrap();
    let expect = json!({ "removed": [{ "id": "mine", "bytes": 5 }], "kept": [], "bytes": 5 });
    assert_eq!(pruned, expect);
    let pruned = server.act("pane:prune", json!({})).await.unwrap();
    assert_eq!(pruned["removed"][0]["id"], "over");
    assert_eq!(server.act("pane:list", json!({})).await.unwrap()[0]["id"], "on");
}

#[tokio::test(start_paused = true)]
async fn tags_are_removed_and_added_once() {
    let server = with_panes(&["a"]).await;
    let tag = |add: &[&str], remove: &[&str]| {
        server.act("pane:tag", json!({ "paneId": "a", "add": add, "remove": remove }))
    };
    let tagged = tag(&["x", "y", "x"], &[]).await.unwrap();
    assert_eq!(tagged, json!({ "id": "a", "tags": ["x", "y"], "changed": true }));
    let tagged = tag(&["y"], &["x", "z"]).await.unwrap();
    assert_eq!(tagged["tags"], json!(["y"]));
    assert_eq!(tag(&["y"], &[]).await.unwrap()["changed"], false);
    assert_eq!(code(tag(&[""], &[]).await).0, Code::Invalid);
    assert_eq!(code(tag(&[&"x".repeat(1 << 20)], &[]).await).0, Code::Limit);
    assert_eq!(
        server.act("pane:get", json!({ "paneId": "a" })).await.unwrap()["tags"],
        json!(["y"])
    );
}

#[tokio::test(start_paused = true)]
async fn a_recording_has_the_times_of_the_output() {
    let server = with_panes(&["a"]).await;
    server.pane("a").print_at(b"one", Time(100));
    server.pane("a").print_at(b"two", Time(350));
    server.heard("a").await;
    let lines = async |params: Value| {
        let recorded = server.act("pane:record", params).await.unwrap();
        let cast = recorded["cast"].as_str().unwrap().to_owned();
        (cast.lines().skip(1).map(str::to_owned).collect::<Vec<_>>(), recorded["start"].clone())
    };
    let (all, start) = lines(json!({ "paneId": "a" })).await;
    assert_eq!(start, "1970-01-01T00:00:00.100Z");
    assert_eq!(all[all.len() - 2..], [r#"[0.000, "o", "one"]"#, r#"[0.250, "o", "two"]"#]);
    let (late, start) = lines(json!({ "paneId": "a", "since": "1970-01-01T00:00:00.200Z" })).await;
    assert_eq!(start, "1970-01-01T00:00:00.350Z");
    assert!(late[0].contains("one") && late[1] == r#"[0.000, "o", "two"]"#, "{late:?}");
    let both = json!({ "paneId": "a", "since": "1970-01-01T00:00:00.001Z", "lastMs": 1 });
    let both = server.act("pane:record", both).await;
    assert_eq!(code(both).0, Code::Invalid);
}

#[tokio::test(start_paused = true)]
async fn an_empty_title_is_refused() {
    let server = with_panes(&["a"]).await;
    for title in ["", " "] {
        let outcome = server.act("pane:rename", json!({ "paneId": "a", "title": title })).await;
        assert_eq!(code(outcome).0, Code::Invalid);
    }
}
