//! Permission rules through the whole program: the configuration, an agent that starts programs,
//! a person who answers, and the explanation.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Stdio;

use paned_e2e::{Server, decode_output, wait_for};
use paned_model::Code;
use serde_json::json;

const CONFIG: &str = "\
[permissions]
allow = ['true']
ask = ['git push']
deny = ['rm -rf']
[approvals]
wait_seconds = 120
";

fn start() -> Server {
    Server::start_set(CONFIG, &[("PANED_PERMISSIONS_AGENTS", "ask")])
}

/// An agent in the pane `ai`, and its token.
fn agent_token(server: &Server) -> String {
    let file = server.home().join("token");
    let script =
        format!("printf %s \"$PANED_TOKEN\" > {0}.new; mv {0}.new {0}; cat", file.display());
    let argv = ["/bin/sh", "-c", &script];
    server.act("agent:create", json!({ "id": "ai", "argv": argv, "waitReady": false }));
    wait_for("the token", || fs::read_to_string(&file).ok())
}

#[test]
fn what_an_agent_starts_waits_for_a_person_unless_a_rule_decides() {
    let server = start();
    let token = agent_token(&server);
    let run = |words: &[&str]| {
        let mut command = server.command(&["run", "--"]);
        command.args(words).env("PANED_SOCKET", server.socket()).env("PANED_TOKEN", &token);
        command.env("PANED_PANE", "ai").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let allowed = decode_output(&run(&["true"]).wait_with_output().unwrap());
    assert_eq!(allowed.2, 0, "{}", allowed.1);
    let denied = run(&["sh", "-c", "true && rm -r -f nothing"]).wait_with_output().unwrap();
    let denied = decode_output(&denied);
    assert_eq!(denied.2, i32::from(Code::Denied.exit()), "{}", denied.1);
    assert!(denied.1.contains("permissions.deny: rm -rf"), "{}", denied.1);
    let asking = run(&["echo", "hello"]);
    let asked = wait_for("an approval", || {
        server.act("approval:list", json!({}))["approvals"].as_array()?.first().cloned()
    });
    assert_eq!(asked["kind"], "rule");
    assert!(asked["subject"].as_str().unwrap().contains("echo hello"), "{asked}");
    server.ok(&["approvals", "answer", asked["id"].as_str().unwrap(), "allow"]);
    let (out, err, code) = decode_output(&asking.wait_with_output().unwrap());
    assert_eq!((out.trim(), code), ("hello", 0), "{err}");
}

#[test]
fn the_owner_is_asked_only_where_a_rule_says_so() {
    let server = start();
    assert_eq!(server.ok(&["run", "--", "echo", "hello"]).trim(), "hello");
    let (_, err, code) = decode_output(&server.cli(&["run", "--", "env", "rm", "-rf", "nothing"]));
    assert_eq!(code, i32::from(Code::Denied.exit()), "{err}");
    assert!(server.act("pane:list", json!({})).as_array().unwrap().len() < 2);
}

#[test]
fn a_test_explains_the_verdict_and_its_exit_code_says_it() {
    let server = start();
    let said = server.ok(&["permit", "test", "--", "sh", "-c", "true; true"]);
    assert!(said.starts_with("allow as cli"), "{said}");
    let output = server.cli(&["permit", "test", "--as", "agent", "--", "sudo", "rm", "-fr", "x"]);
    let (out, err, code) = decode_output(&output);
    assert_eq!(code, i32::from(Code::Denied.exit()), "{err}");
    assert!(out.starts_with("deny as agent: `rm -fr x` (in `sudo`)"), "{out}");
    assert!(out.contains("permissions.deny: rm -rf"), "{out}");
    let asked = decode_output(&server.cli(&["permit", "test", "--as", "agent", "--", "make"]));
    assert!(asked.0.contains("`permissions.agents` is `ask`"), "{}", asked.0);
}
