//! Requests that wait for a person, through the whole program: programs in panes that ask, and a
//! person at the command line who answers.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::process::{Child, Stdio};

use paned_e2e::{Reply, Request, Server, decode_output, wait_for};
use paned_model::{Code, Refusal};
use serde_json::{Value, json};

/// Renaming is a change that needs no more than a pane's own rights.
const CONFIG: &str = "[approvals]\nactions = ['pane:rename']\nwait_seconds = 120\n";

/// A pane of this name that waits, and its token.
fn pane(server: &Server, id: &str) -> String {
    let file = server.home().join(format!("token-{id}"));
    let script =
        format!("printf %s \"$PANED_TOKEN\" > {0}.new; mv {0}.new {0}; cat", file.display());
    server.act("pane:new", json!({ "id": id, "argv": ["/bin/sh", "-c", script] }));
    wait_for("the token", || fs::read_to_string(&file).ok())
}

fn act_as(server: &Server, token: &str, action: &str, params: &Value) -> Result<Value, Refusal> {
    send_as(server, token, action, params).outcome()
}

fn send_as(server: &Server, token: &str, action: &str, params: &Value) -> Reply {
    let request = Request::new("POST", &format!("/action/{action}"));
    let request = request.header("host", &server.authority());
    let request = request.header("authorization", &format!("Bearer {token}")).json(params);
    request.over_tcp(&server.authority())
}

/// A command as a program in a pane runs it: over the unix socket, with the pane's token.
fn command_in(server: &Server, (pane, token): (&str, &str), args: &[&str]) -> Child {
    let mut command = server.command(args);
    command.env("PANED_SOCKET", server.socket()).env("PANED_TOKEN", token);
    command.env("PANED_PANE", pane).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn open(server: &Server) -> Vec<Value> {
    server.act("approval:list", json!({}))["approvals"].as_array().unwrap().clone()
}

fn first_open(server: &Server) -> Value {
    wait_for("an approval", || open(server).first().cloned())
}

#[test]
fn a_command_in_a_pane_waits_until_a_person_answers_it_elsewhere() {
    let server = Server::start_set(CONFIG, &[]);
    let token = pane(&server, "a");
    let asking = command_in(&server, ("a", &token), &["rename", "a", "better"]);
    let id = first_open(&server)["id"].as_str().unwrap().to_owned();
    let list = server.ok(&["approvals"]);
    assert!(list.contains(&id) && list.contains("pane:a"), "{list}");
    assert!(list.contains("run `pane:rename` on pane a"), "{list}");
    let shown = server.ok(&["approvals", "show", &id]);
    assert!(shown.contains("better") && shown.contains("every `pane:rename`"), "{shown}");
    let own = command_in(&server, ("a", &token), &["approvals", "answer", &id, "allow"]);
    let (_, refused, code) = decode_output(&own.wait_with_output().unwrap());
    assert_eq!(code, i32::from(Code::Forbidden.exit()), "{refused}");
    let said = server.ok(&["approvals", "answer", &id, "allow"]);
    assert!(said.contains("pane:a continues"), "{said}");
    let (_, err, code) = decode_output(&asking.wait_with_output().unwrap());
    assert_eq!(code, 0, "{err}");
    assert_eq!(server.pane("a")["title"], "better");
    let replay = decode_output(&server.cli(&["approvals", "answer", &id, "deny"]));
    assert_eq!(replay.2, i32::from(Code::Conflict.exit()), "{}", replay.1);
    let audit = server.ok(&["audit", "--caller", "pane:a"]);
    assert!(audit.contains("pane:rename") && audit.contains(&format!("owner ({id})")), "{audit}");
}

#[test]
fn a_denial_ends_the_command_with_its_reason() {
    let server = Server::start_set(CONFIG, &[]);
    let token = pane(&server, "a");
    let asking = command_in(&server, ("a", &token), &["rename", "a", "better"]);
    let id = first_open(&server)["id"].as_str().unwrap().to_owned();
    server.ok(&["approvals", "answer", &id, "deny", "--reason", "keep the name"]);
    let (_, err, code) = decode_output(&asking.wait_with_output().unwrap());
    assert_eq!(code, i32::from(Code::Denied.exit()), "{err}");
    assert!(err.contains("keep the name"), "{err}");
}

#[test]
fn a_caller_that_gave_up_gets_the_answer_when_it_asks_again() {
    let config = CONFIG.replace("120", "1");
    let server = Server::start_set(&config, &[]);
    let token = pane(&server, "a");
    let rename = json!({ "paneId": "a", "title": "better" });
    let refusal = act_as(&server, &token, "pane:rename", &rename).unwrap_err();
    assert_eq!(refusal.code, Code::Timeout, "{refusal:?}");
    let id = refusal.details.unwrap()["approval"].as_str().unwrap().to_owned();
    let said = server.ok(&["approvals", "answer", &id, "allow"]);
    assert!(said.contains("no longer waits"), "{said}");
    assert_ne!(server.pane("a")["title"], "better");
    act_as(&server, &token, "pane:rename", &rename).unwrap();
    assert_eq!(server.pane("a")["title"], "better");
    let again = act_as(&server, &token, "pane:rename", &rename).unwrap_err();
    assert_ne!(again.details.unwrap()["approval"], id.as_str(), "an answer is used once");
}

#[test]
fn a_restart_ends_what_waited_and_keeps_an_answer_for_a_pane() {
    let mut server = Server::start_set(CONFIG, &[]);
    let token = pane(&server, "a");
    let other = pane(&server, "b");
    let first = command_in(&server, ("a", &token), &["rename", "a", "one"]);
    let id = first_open(&server)["id"].as_str().unwrap().to_owned();
    server.ok(&["approvals", "answer", &id, "allow-pane"]);
    assert!(first.wait_with_output().unwrap().status.success());
    let mut waiting = command_in(&server, ("b", &other), &["rename", "b", "two"]);
    let id = first_open(&server)["id"].as_str().unwrap().to_owned();
    server.kill();
    server.start_again();
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    let history = server.history();
    let ended: Vec<_> = history
        .iter()
        .filter(|event| event.name == "approval:answered" && event.data["id"] == id.as_str())
        .collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(
        (&ended[0].data["outcome"], &ended[0].data["by"]),
        (&json!("withdrawn"), &json!("paned"))
    );
    let rename = json!({ "paneId": "a", "title": "three" });
    act_as(&server, &token, "pane:rename", &rename).unwrap();
    assert_eq!(server.pane("a")["title"], "three");
    let kept = server.act("approval:list", json!({}));
    assert_eq!(kept["remembered"][0]["paneId"], "a", "{kept}");
}

#[test]
fn the_audit_is_exported_without_what_was_typed() {
    let server = Server::start();
    pane(&server, "a");
    let env = json!({ "id": "b", "argv": ["cat"], "env": { "KEY": "S3CRET" } });
    server.act("pane:new", env);
    server.act("pane:write", json!({ "paneId": "a", "text": "S3CRET" }));
    server.act("pane:rename", json!({ "paneId": "a", "title": "S3CRET" }));
    let file = server.home().join("audit.jsonl");
    server.ok(&["audit", "--since", "1h", "--export", file.to_str().unwrap()]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("S3CRET"), "{text}");
    let records: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let is_rename = |it: &&Value| it["action"] == "pane:rename";
    let rename = records.iter().find(is_rename).unwrap();
    assert_eq!(
        (&rename["caller"], &rename["outcome"], &rename["scope"], &rename["paneId"]),
        (&json!("owner"), &json!("success"), &json!("input"), &json!("a"))
    );
}

#[test]
fn a_name_of_no_action_is_refused_in_the_configuration() {
    let server = Server::start();
    let file = server.home().join("wrong.toml");
    fs::write(&file, "[approvals]\nactions = ['remove panes']\n").unwrap();
    let check = server.cli(&["--config", file.to_str().unwrap(), "serve", "--port", "0"]);
    let (_, err, code) = decode_output(&check);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("approvals.actions") && err.contains("remove panes"), "{err}");
}
