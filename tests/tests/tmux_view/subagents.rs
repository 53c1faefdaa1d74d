//! Sub-agents: a pane when their session is opened, gone when it is deleted.

use paned_e2e::Server;
use serde_json::{Value, json};

fn open(server: &Server, id: &str, script: &str) -> Value {
    let argv = json!(["/bin/sh", "-c", script]);
    let params = json!({ "id": id, "parentID": "ses_0", "title": "Find bugs", "argv": argv, "url": "http://x:1" });
    server.act("subagent:opened", params)
}

#[test]
fn a_sub_agent_is_shown_until_its_session_is_deleted() {
    let server = Server::start();
    server.act("session:start", json!({ "argv": ["cat"] }));
    let alone = server.act("subagent:opened", json!({ "id": "ses_1" }));
    assert!(alone["reason"].as_str().unwrap().contains("without a `parentId`"), "{alone}");
    let opened = open(&server, "ses_1", "echo {id} of {parent} at {url}; exec cat");
    assert_eq!((&opened["state"], &opened["ready"]), (&json!("shown"), &json!(true)));
    let pane = opened["paneId"].as_str().unwrap();
    assert!(server.text(pane).starts_with("ses_1 of ses_0 at http://x:1"), "{}", server.text(pane));
    assert_eq!(server.pane(pane)["title"], "Find bugs");
    assert_eq!(server.act("session:list", json!({}))[0]["panes"][1], pane);
    // Hooks may say it twice.
    assert_eq!(open(&server, "ses_1", "echo again")["paneId"], pane);
    assert_eq!(server.act("subagent:closed", json!({ "id": "ses_1" }))["closed"], json!([pane]));
    assert!(server.try_act("pane:get", json!({ "paneId": pane })).is_err());
    assert_eq!(server.act("subagent:closed", json!({ "id": "ses_1" }))["closed"], json!([]));
}

#[test]
fn one_that_ends_by_itself_stays_readable_and_is_shown_no_more() {
    let server = Server::start();
    server.act("session:start", json!({ "argv": ["cat"] }));
    let opened = open(&server, "ses_2", "echo done; exit 3");
    let pane = opened["paneId"].as_str().unwrap();
    server.act("pane:wait", json!({ "paneId": pane, "exit": true }));
    assert_eq!(server.pane(pane)["exitCode"], 3);
    assert!(server.text(pane).starts_with("done"));
    // Its session may be opened again.
    let again = open(&server, "ses_2", "echo back; exec cat");
    assert_ne!(again["paneId"], pane);
}

#[test]
fn with_tmux_off_a_sub_agent_gets_no_pane_and_its_hook_does_not_fail() {
    let server = Server::start_set("[tmux]\nenabled = false\n", &[]);
    let opened = open(&server, "ses_1", "exec cat");
    assert_eq!(opened.get("paneId"), None, "{opened}");
    assert!(opened["reason"].as_str().unwrap().contains("tmux"), "{opened}");
    assert_eq!(server.act("pane:list", json!({})), json!([]));
    assert_eq!(server.act("subagent:closed", json!({ "id": "ses_1" }))["closed"], json!([]));
}

#[test]
fn an_id_that_could_be_more_than_one_is_refused() {
    let server = Server::start();
    for id in ["", "-x", "$(x)", "a b", "a;b", "a\nb"] {
        let refused = server.try_act("subagent:opened", json!({ "id": id, "parentId": "p" }));
        assert_eq!(refused.unwrap_err().code, paned_model::Code::Invalid, "{id:?}");
    }
}
