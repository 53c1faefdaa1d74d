//! The command line as people and scripts use it.
#![forbid(unsafe_code)]

use paned_e2e::{Server, binary, decode_output, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

#[test]
fn a_newcomers_minute() {
    let server = Server::start();
    let id = server.ok(&["new", "--title", "my cat", "--tag", "t", "--meta", "k=1", "--", "cat"]);
    let id = id.trim();
    let table = server.ok(&["ls"]);
    assert!(table.contains(id) && table.contains("running") && table.contains("my cat"), "{table}");
    server.ok(&["write", id, "hello", "--enter"]);
    server.ok(&["resize", id, "100x30"]);
    let pane = server.answer(&["get", id]);
    assert_eq!(pane["size"], json!({ "cols": 100, "rows": 30 }));
    wait_for("the echo and the answer", || (server.text(id) == "hello\r\nhello\r\n").then_some(()));
    server.ok(&["kill", id]);
    assert_eq!(server.answer(&["ls"])[0]["status"], "killed");
    server.ok(&["rm", id]);
    assert_eq!(server.answer(&["ls"]), json!([]));
}

#[test]
fn an_error_in_json_names_the_arguments_that_are_missing() {
    let output = std::process::Command::new(binary()).args(["rename", "--json"]).output();
    let (out, err, code) = decode_output(&output.unwrap());
    assert_eq!(code, 2, "{err}");
    let error: Value = serde_json::from_str(&out).unwrap();
    let missing = "the following required arguments were not provided: <PANE>, <TITLE>";
    assert_eq!(error["error"], missing);
}

#[test]
fn actions_take_typed_flags_or_a_body_and_not_both() {
    let server = Server::start();
    let made = server.answer(&[
        "action",
        "pane:new",
        "--id",
        "a",
        "--argv",
        "sleep",
        "--argv",
        "1000",
        "--persist",
        "true",
        "--timeout-seconds",
        "500",
        "--size",
        r#"{"cols":90,"rows":20}"#,
        "--tags",
        "1",
    ]);
    assert_eq!((&made["argv"], &made["persist"]), (&json!(["sleep", "1000"]), &json!(true)));
    assert_eq!((&made["size"]["cols"], &made["tags"]), (&json!(90), &json!(["1"])));
    let body = r#"{"paneId":"a","key":"k","value":{"deep":[1]}}"#;
    let set = server.answer(&["action", "pane:set-meta", "--body", body]);
    assert_eq!(set["meta"]["k"], json!({ "deep": [1] }));
    let (_, err, code) =
        decode_output(&server.cli(&["action", "pane:get", "--paneId", "a", "--body", "{}"]));
    assert_eq!(code, 2, "{err}");
    let (_, err, code) = decode_output(&server.cli(&["action", "pane:get", "--pain-id", "a"]));
    assert!(code == 2 && err.contains("--pane-id"), "{err}");
}

#[test]
fn refusals_are_one_sentence_and_the_exit_code_of_the_table() {
    let server = Server::start();
    for (args, code) in [
        (&["kill", "nobody"][..], Code::NotFound),
        (&["get", "../x"], Code::NotFound),
        (&["new", "--", "no-such-program"], Code::Invalid),
        (&["action", "no:such"], Code::NotFound),
        (&["emit", "pane:exited"], Code::Invalid),
    ] {
        let (out, err, got) = decode_output(&server.cli(args));
        assert_eq!(got, i32::from(code.exit()), "{args:?} {err}");
        assert!(out.is_empty() && err.starts_with("paned: ") && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn without_a_server_the_command_that_starts_one_is_named() {
    let server = Server::start();
    for args in [&["ls"][..], &["new", "--", "cat"], &["action", "pane:list"], &["events"]] {
        let elsewhere = server.state().with_file_name("nothing");
        let output = server.command(args).env("PANED_STATE_DIR", elsewhere).output().unwrap();
        let (_, err, code) = decode_output(&output);
        assert_eq!(code, i32::from(Code::Unavailable.exit()), "{err}");
        assert!(err.contains("paned server start") && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn a_place_that_was_named_in_vain_is_named_in_the_answer() {
    let server = Server::start();
    let nowhere = server.state().with_file_name("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    for (args, says) in [
        (&["--socket", nowhere, "ls"][..], format!("at {nowhere}, which `--socket` names")),
        (&["--socket", nowhere, "server", "upgrade"], format!("at {nowhere}, which")),
        (&["--url", "http://127.0.0.1:1", "ls"], "at http://127.0.0.1:1, which".to_owned()),
    ] {
        let (_, err, code) = decode_output(&server.cli(args));
        assert_eq!(code, i32::from(Code::Unavailable.exit()), "{err}");
        assert!(err.contains(&says) && !err.contains("start one"), "{err}");
    }
}

#[test]
fn a_server_can_be_started_and_stopped_by_command() {
    let host = Server::start();
    let state = host.state().with_file_name("second");
    let run = |args: &[&str]| {
        decode_output(
            &host
                .command(args)
                .env("PANED_STATE_DIR", &state)
                .env("PANED_PORT", "0")
                .output()
                .unwrap(),
        )
    };
    let (_, err, code) = run(&["server", "start"]);
    assert_eq!(code, 0, "{err}");
    let (out, _, code) = run(&["server", "status", "--json"]);
    assert_eq!(code, 0);
    let status: Value = serde_json::from_str(&out).unwrap();
    let pid = u32::try_from(status["pid"].as_u64().unwrap()).unwrap();
    let (out, _, code) = run(&["server", "start"]);
    assert!(code == 0 && out.contains(&pid.to_string()), "{out}");
    let (_, err, code) = run(&["server", "restart"]);
    assert_eq!(code, 0, "{err}");
    let (out, _, _) = run(&["server", "status", "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_ne!(status["pid"], pid);
    let (_, err, code) = run(&["server", "stop"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(run(&["server", "status"]).2, i32::from(Code::Unavailable.exit()));
    assert!(!paned_e2e::is_alive(u32::try_from(status["pid"].as_u64().unwrap()).unwrap()));
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let server = Server::start();
    let made = server.answer(&["token", "create", "--scope", "read", "--label", "ci"]);
    let ask = |token: &str| {
        let request = paned_e2e::Request::new("POST", "/action/pane:list")
            .header("host", &server.authority());
        request
            .header("authorization", &format!("Bearer {token}"))
            .over_tcp(&server.authority())
            .status
    };
    let token = made["token"].as_str().unwrap();
    assert_eq!(ask(token), 200);
    assert!(server.ok(&["token", "list"]).contains("ci"));
    server.ok(&["token", "revoke", made["grant"]["id"].as_str().unwrap()]);
    assert_eq!(ask(token), 401);
}

#[test]
fn what_a_program_says_cannot_take_over_the_terminal() {
    let server = Server::start();
    let mut events = server.events("pane:exited", None);
    let evil = "\u{1b}]0;\u{1b}[31mred\u{7}";
    server.act("pane:new", json!({ "id": "a", "argv": ["printf", evil], "meta": { "m": evil } }));
    events.until_exit("a");
    for args in [&["ls"][..], &["get", "a"], &["action", "pane:get", "--paneId", "a"]] {
        assert!(!server.ok(args).contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn the_doctor_finds_a_healthy_house_healthy() {
    let server = Server::start();
    let report = server.answer(&["doctor"]);
    let text = report.to_string();
    assert!(text.contains("pty") && text.contains("journal"), "{text}");
    server.ok(&["doctor"]);
}

#[test]
fn help_and_completions_come_without_a_server() {
    for args in
        [&["--help"][..], &["new", "--help"], &["action", "--help"], &["completions", "bash"]]
    {
        let output = std::process::Command::new(binary()).args(args).output().unwrap();
        let (out, _, code) = decode_output(&output);
        assert!(code == 0 && 200 < out.len(), "{args:?}: {out}");
    }
    let output = std::process::Command::new(binary()).arg("--version").output().unwrap();
    assert!(decode_output(&output).0.starts_with("paned "));
}
