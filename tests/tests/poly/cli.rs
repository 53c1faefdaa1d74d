//! Poly's command line: `action`, `emit` and `list`.

use std::fs;

use paned_e2e::{FakeAgent, Server, decode_output, script, wait_for};
use serde_json::{Value, json};

/// Starts a scripted agent that paned follows, and waits until it is ready.
fn agent(server: &Server) -> FakeAgent {
    let profiles = server.home().join(".config/paned/profiles");
    fs::create_dir_all(&profiles).unwrap();
    fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
    let agent = FakeAgent::new(&[]);
    let mut params = agent.params("ag");
    params["profile"] = json!("fake-agent");
    server.act("agent:create", params);
    wait_for("the agent is ready", || {
        (server.pane("ag")["agent"]["state"] == "ready").then_some(())
    });
    agent
}

#[test]
fn an_event_of_ones_own_may_be_about_a_pane() {
    let server = Server::start();
    server.act("pane:new", script("a", "cat"));
    let mut events = server.events("pane:ready,pane:*", None);
    let said = server.ok(&["emit", "pane:ready", "--paneId", "a"]);
    assert!(said.starts_with('#') && said.ends_with(" pane:ready\n"), "{said}");
    let told = events.until(|told| told.name == "pane:ready");
    assert_eq!(told.data["paneId"], "a");
    assert!(!told.data["instance"].is_null(), "{told:?}");
    for name in ["pane:exited", "Pane:Exited", "agent:state", "session:stopped", "gap"] {
        let (out, err, code) = decode_output(&server.cli(&["emit", name, "--paneId", "a"]));
        assert!(code == 2 && out.is_empty() && err.contains("reserved for paned"), "{name}: {err}");
    }
}

#[test]
fn what_an_event_claims_is_a_fact_to_nobody() {
    let server = Server::start();
    let _agent = agent(&server);
    server.act("session:start", json!({ "argv": ["cat"] }));
    let facts = || {
        let pane = server.pane("ag");
        let sessions = server.act("session:list", json!({}));
        json!([pane["status"], pane["agent"]["state"], pane["meta"], sessions])
    };
    let before = facts();
    let claim = json!({
        "paneId": "ag", "exitCode": 0, "to": "ready", "state": "exited", "profile": "x",
        "name": "main", "instance": "x",
    });
    for name in [
        "pane:ready",
        "pane:exit",
        "pane:gone",
        "pane:closed",
        "agent:idle",
        "agent:exited",
        "agent:ready",
        "layout:gone",
        "session:gone",
        "action:cancel",
        "server:gone",
        "approval:ok",
    ] {
        server.act("event:emit", json!({ "name": name, "payload": claim }));
    }
    assert_eq!(facts(), before);
}

#[test]
fn a_refusal_is_json_wherever_the_flag_stands() {
    let server = Server::start();
    for (line, code) in [
        ("--json action pane:close --pane-id nope", "not_found"),
        ("action --json pane:close --pane-id nope", "not_found"),
        ("action pane:close --json --pane-id nope", "not_found"),
        ("action pane:close --pane-id nope --json", "not_found"),
        ("action pane:close --paneId=nope --json", "not_found"),
        ("action pane:close --json", "invalid"),
        ("action pane:close --json --bogus 1", "invalid"),
        ("action pane:close --bogus 1 --json", "invalid"),
        ("action pane:close stray --json", "invalid"),
        ("action pane:close --pane-id --json", "invalid"),
        ("action pane:close --body { --json", "invalid"),
        ("action pane:close --json --body {} --pane-id a", "invalid"),
        ("action no:such --json", "not_found"),
        ("action no:such --x 1 --json", "not_found"),
        ("action --json --bogus", "invalid"),
        ("emit gap --json", "invalid"),
        ("emit --json gap", "invalid"),
        ("emit a:b stray --json", "invalid"),
        ("emit --json", "invalid"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let (out, err, exit) = decode_output(&server.cli(&args));
        let refusal: Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{line}: {out}{err}"));
        assert_eq!(refusal["code"], code, "{line}: {out}");
        assert!(refusal["error"].is_string() && exit != 0 && !err.is_empty(), "{line}: {out}");
    }
    let made = server.ok(&["action", "pane:new", "--argv", "cat", "--json", "--id", "a"]);
    assert_eq!(serde_json::from_str::<Value>(&made).unwrap()["id"], "a");
}

#[test]
fn an_action_starts_a_program_in_the_callers_folder() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let run = |args: &[&str]| {
        let (out, err, code) =
            decode_output(&server.command(args).current_dir(&here).output().unwrap());
        assert_eq!(code, 0, "{args:?}: {err}");
        out
    };
    let cwd = |id: &str| server.pane(id)["cwd"].as_str().unwrap().to_owned();
    let here_text = here.to_str().unwrap();
    run(&["action", "pane:new", "--id", "a", "--argv", "cat"]);
    run(&["action", "pane:new", "--body", r#"{"id":"b","argv":["cat"]}"#]);
    run(&["action", "pane:new", "--id", "c", "--argv", "cat", "--cwd", "/"]);
    assert_eq!([cwd("a"), cwd("b"), cwd("c")], [here_text, here_text, "/"]);
    run(&["action", "shell:run", "--command", "pwd >where"]);
    let file = here.join("where");
    let said = wait_for("the command's file", || {
        fs::read_to_string(&file).ok().filter(|said| said.ends_with('\n'))
    });
    assert_eq!(said.trim(), here_text);
    assert_eq!(run(&["action", "pane:list", "--json"]).lines().count(), 1);
}

#[test]
fn an_error_of_an_agent_is_over_when_it_is_idle_again() {
    let server = Server::start();
    server.act("pane:new", script("a", "cat"));
    let report = |fields: Value| server.act("agent:set-state", fields)["meta"].clone();
    let meta = report(json!({ "paneId": "a", "status": "error", "error": "no network" }));
    assert_eq!(
        (&meta["agent.status"], &meta["agent.error"]),
        (&json!("error"), &json!("no network"))
    );
    let meta = report(json!({ "paneId": "a", "sessionId": "s" }));
    assert_eq!(meta["agent.error"], "no network", "nothing was said of its status");
    let meta = report(json!({ "paneId": "a", "status": "idle" }));
    assert_eq!((&meta["agent.status"], meta.get("agent.error")), (&json!("idle"), None));

    let _agent = agent(&server);
    report(json!({ "paneId": "ag", "status": "error", "error": "no network" }));
    report(json!({ "paneId": "ag", "status": "idle" }));
    assert_eq!(server.pane("ag")["meta"].get("agent.error"), None);
}
