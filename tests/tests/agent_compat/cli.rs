//! `paned agentmux`: its commands talk to the server that runs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use paned_e2e::{Request, binary, decode_output, signal};
use serde_json::{Value, json};

use super::CompatServer;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

#[test]
fn its_commands_do_what_its_endpoints_do() {
    let house = CompatServer::new(&["--work", "50"]);
    let none = |args: &[&str]| {
        let (out, _, code) = decode_output(&house.server.cli(args));
        assert_eq!((parse(&out), code), (json!({ "error": "no active session" }), 1), "{args:?}");
    };
    none(&["agentmux", "send", "hello"]);
    none(&["agentmux", "key", "enter"]);
    none(&["agentmux", "capture"]);
    let status = house.server.ok(&["agentmux", "status"]);
    assert!(status.starts_with("{\n  \"ok\": true,\n  \"agent\": \"fake-agent\""), "{status}");
    assert_eq!(parse(&status), house.get("/health"));

    let session = house.run("first");
    house.idle();
    let target = format!("{session}:0.0");
    let done = json!({ "ok": true, "target": target });
    assert_eq!(parse(&house.server.ok(&["agentmux", "send", "second prompt"])), done);
    assert_eq!(house.agent.prompts(), ["first", "second prompt"]);
    house.idle();
    assert_eq!(parse(&house.server.ok(&["agentmux", "key", "down", "--repeat", "2"])), done);
    let captured = house.server.ok(&["agentmux", "capture", "--lines", "5"]);
    assert!(captured.starts_with("{\n  \"target\""), "{captured}");
    let captured = parse(&captured);
    assert_eq!((&captured["target"], &captured["lines"]), (&json!(target), &json!(10)));
    let cleaned = house.server.ok(&["agentmux", "cleanup"]);
    assert_eq!(parse(&cleaned), json!({ "ok": true, "killed": [] }));
    let (out, _, code) = decode_output(&house.server.cli(&["agentmux", "key", "f1"]));
    assert!(out.contains("Unsupported key 'f1'") && code == 1, "{out}");
    let (_, _, code) = decode_output(&house.server.cli(&["agentmux", "capture", "--lines", "0"]));
    assert_eq!(code, 1);
}

#[test]
fn to_serve_is_what_it_does_without_a_word() {
    for words in [&["agentmux"][..], &["agentmux", "serve"]] {
        let home = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(binary());
        command.args(words).env("HOME", home.path()).env("PANED_STATE_DIR", home.path().join("s"));
        command.env("AGENTMUX_PORT", "0").env("PANED_PORT", "0").env_remove("PANED_CONFIG");
        command.env_remove("XDG_CONFIG_HOME").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it says a line");
        let ready = parse(&line);
        assert_eq!((&ready["ok"], &ready["host"]), (&json!(true), &json!("127.0.0.1")), "{line}");
        let authority = format!("127.0.0.1:{}", ready["port"]);
        let health = Request::new("GET", "/health").header("host", &authority);
        assert_eq!(health.over_tcp(&authority).json()["total_sessions"], 0);
        signal(child.id(), rustix::process::Signal::TERM);
        assert!(child.wait().expect("it ends").success());
    }
}
