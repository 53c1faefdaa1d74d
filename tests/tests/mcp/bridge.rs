//! `paned mcp` on standard input and output: a thin bridge that survives its server.

use std::process::Command;

use paned_e2e::{Server, binary, script, wait_for};
use serde_json::{Value, json};

use crate::support::{StdioClient, text};

#[test]
fn a_session_goes_on_after_the_server_was_killed() {
    let mut server = Server::start();
    let mut client = StdioClient::start(&server, &[]);
    let spawned =
        client.call("pty_spawn", json!({ "command": "sh", "args": ["-c", "echo up; cat"] }));
    let id = spawned["structuredContent"]["id"].as_str().unwrap().to_owned();
    let waited = client.call("pty_wait", json!({ "id": id, "pattern": "up" }));
    assert_eq!(waited["structuredContent"]["met"], "pattern", "{waited}");

    let lost =
        client.begin("pty_wait", json!({ "id": id, "pattern": "never", "timeoutSeconds": 600 }));
    // The wait is at the server when a later call is answered.
    client.call("pty_list", json!({}));
    server.kill();
    let result = client.result(lost);
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(&result).contains("connection to paned was lost"), "{result}");

    // A call while the server is away waits for it.
    let early = client.begin("pty_write", json!({ "id": id, "data": "again\\n" }));
    server.start_again();
    let written = client.result(early);
    assert_eq!(written["isError"], false, "{written}");
    let waited = client.call("pty_wait", json!({ "id": id, "pattern": "again" }));
    assert_eq!(waited["structuredContent"]["met"], "pattern", "{waited}");
    client.call("pty_kill", json!({ "id": id, "cleanup": true }));
    client.close();
}

#[test]
fn subscriptions_go_on_after_the_server_was_killed() {
    let mut server = Server::start();
    server.act("pane:new", script("web", "cat"));
    let mut client = StdioClient::start(&server, &[]);
    let uri = "paned://pane/web/screen";
    let subscribe = json!({
        "jsonrpc": "2.0", "id": "s", "method": "resources/subscribe", "params": { "uri": uri },
    });
    client.send(&subscribe.to_string());
    assert!(client.receive()["result"].is_object());
    server.kill();
    server.start_again();
    // The subscription is renewed some time after the start; each change is reported from then on.
    wait_for("a notice of a change", || {
        server.act("pane:write", json!({ "paneId": "web", "text": "x\n" }));
        client.try_receive().filter(|it| it["method"] == "notifications/resources/updated")
    });
}

#[test]
fn lines_that_are_no_messages_are_answered() {
    let server = Server::start();
    let mut client = StdioClient::start(&server, &[]);
    for (line, code) in [("{", -32700), ("[]", -32600), ("7", -32600)] {
        client.send(line);
        let answer = client.receive();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &Value::Null),
            "{line}"
        );
    }
    client.send(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    let answer = client.receive();
    assert_eq!(answer["id"], "p", "{answer}");
    client.close();
}

#[test]
fn a_cancelled_call_is_not_answered_and_others_go_on() {
    let server = Server::start();
    server.act("pane:new", script("web", "sleep 600"));
    let mut client = StdioClient::start(&server, &[]);
    let id = client.begin("pty_wait", json!({ "id": "web", "timeoutSeconds": 600 }));
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
    });
    client.send(&cancel.to_string());
    let listed = client.call("pty_list", json!({}));
    assert!(text(&listed).contains("[web]"), "{listed}");
    client.close();
}

#[test]
fn the_server_is_started_when_none_runs_and_programs_start_in_the_clients_folder() {
    let home = tempfile::Builder::new().prefix("paned-mcp-").tempdir().unwrap();
    let state = home.path().join("state");
    let paned = |args: &[&str]| {
        let mut command = Command::new(binary());
        command.args(args).env("HOME", home.path()).env("PANED_STATE_DIR", &state);
        for name in ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE", "PANED_CONFIG"] {
            command.env_remove(name);
        }
        command.env_remove("PANED_NO_AUTOSTART").env("PANED_PORT", "0").current_dir(home.path());
        command
    };
    let mut client = StdioClient::spawn(paned(&["mcp"]));
    client.initialize();
    let spawned = client.call("pty_spawn", json!({ "command": "pwd" }));
    let id = spawned["structuredContent"]["id"].clone();
    let waited = client.call("pty_wait", json!({ "id": id }));
    let printed = waited["structuredContent"]["tail"][0].as_str().unwrap();
    assert!(printed.ends_with(home.path().to_str().unwrap()), "{waited}");
    client.close();
    assert!(paned(&["server", "stop"]).status().unwrap().success());
}

#[test]
fn inside_a_pane_the_tools_have_the_rights_of_that_pane() {
    let server = Server::start();
    server.act("pane:new", script("other", "echo secret; sleep 600"));
    let mut own = script("own", "sleep 600");
    own["argv"][3] = json!(format!("env > {}/env; sleep 600", server.home().display()));
    server.act("pane:new", own);
    let file = server.home().join("env");
    let env = wait_for("the pane's environment", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.contains("PANED_TOKEN=").then_some(text)
    });
    let mut command = server.command(&["mcp", "--tier", "full"]);
    for line in env.lines().filter(|line| line.starts_with("PANED_")) {
        let (name, value) = line.split_once('=').unwrap();
        command.env(name, value);
    }
    command.env_remove("PANED_STATE_DIR");
    let mut client = StdioClient::spawn(command);
    client.initialize();
    let listed = client.call("pty_list", json!({}));
    assert!(text(&listed).contains("[own]") && !text(&listed).contains("[other]"), "{listed}");
    let read = client.call("pty_read", json!({ "id": "other" }));
    assert_eq!(read["isError"], true, "{read}");
    let grants = client.call("action_call", json!({ "name": "grant:list" }));
    assert_eq!(grants["isError"], true, "{grants}");
    client.close();
}
