//! Programs that are kept running: restarts, restart policies, replacement.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use paned_e2e::{Server, WAIT_TIMEOUT, decode_output, gone, kill9, script};
use paned_model::Code;
use serde_json::{Value, json};

/// Waits until a pane has printed a line that matches, in this run.
#[track_caller]
fn until(server: &Server, id: &str, pattern: &str) {
    let waited = server.act("pane:wait", json!({ "paneId": id, "pattern": pattern, "since": 0 }));
    assert_eq!(waited["met"], "pattern", "{waited}");
}

/// The events of one name about a pane, after an id.
#[track_caller]
fn next_event(server: &Server, name: &str, pane: &str, after: u64) -> (u64, Value) {
    let mut events = server.events(name, Some(after));
    loop {
        let event = events.next();
        if event.data["paneId"] == pane {
            return (event.id.unwrap(), event.data);
        }
    }
}

fn ids(server: &Server) -> Vec<String> {
    let panes = server.act("pane:list", json!({}));
    panes.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_restart_keeps_all_that_the_program_was_started_with() {
    let server = Server::start();
    let folder = server.home().canonicalize().unwrap();
    let line = "cd $0 && umask 027 && FOO='a b' \"$1\" new --id web --title T --tag t --meta k=1 -- \
        sh -c 'echo \"$FOO\" $(umask) $PWD; stty size; cat'";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).arg(&folder).arg(paned_e2e::binary());
    command.env("PANED_STATE_DIR", server.state()).env_remove("PANED_SOCKET");
    assert!(command.status().unwrap().success());
    let printed = format!("^a b 0027 {}$", folder.display());
    until(&server, "web", &printed);
    server.ok(&["resize", "web", "101x33"]);
    let before = server.pane("web");
    let pid = u32::try_from(before["pid"].as_u64().unwrap()).unwrap();
    let said = server.ok(&["restart", "web"]);
    assert!(said.starts_with("restarted web (pid "), "{said}");
    assert!(gone(pid, WAIT_TIMEOUT));
    until(&server, "web", &printed);
    until(&server, "web", "^33 101$");
    let after = server.pane("web");
    for field in ["argv", "cwd", "title", "tags", "meta", "size"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_ne!(after["instance"], before["instance"]);
    let previous = server.pane("web.previous");
    assert_eq!(
        (&previous["instance"], &previous["status"]),
        (&before["instance"], &json!("killed"))
    );
    assert_eq!(previous["previousOf"], "web");
    let (_, restarted) = next_event(&server, "pane:restarted", "web", 0);
    assert_eq!(restarted["reason"], "request");
    assert_eq!(restarted["previousInstance"], before["instance"]);
    server.ok(&["restart", "web"]);
    assert_eq!(ids(&server), ["web.previous", "web"], "only the last run is kept");
}

#[test]
fn a_lost_pane_is_started_again_and_what_its_keeper_left_is_ended() {
    let server = Server::start();
    // It survives the end of its terminal, as a server that was started with nohup does.
    server.act("pane:new", script("a", "trap '' HUP; echo run; while :; do sleep 1; done"));
    until(&server, "a", "^run$");
    let program = u32::try_from(server.pane("a")["pid"].as_u64().unwrap()).unwrap();
    kill9(server.tape("a").keeper());
    server.act("pane:wait", json!({ "paneId": "a", "exit": true }));
    let lost = server.pane("a");
    assert_eq!((&lost["status"], paned_e2e::is_alive(program)), (&json!("lost"), true));
    let said = server.ok(&["restart", "a"]);
    assert!(said.starts_with("restarted a (pid "), "{said}");
    assert!(gone(program, WAIT_TIMEOUT), "two of them would run");
    until(&server, "a", "^run$");
    let (now, previous) = (server.pane("a"), server.pane("a.previous"));
    assert_eq!((&now["status"], &previous["status"]), (&json!("running"), &json!("lost")));
    assert_eq!(previous["instance"], lost["instance"]);
    assert_eq!(server.ok(&["logs", "a.previous"]), "run\n");
    let (_, restarted) = next_event(&server, "pane:restarted", "a", 0);
    assert_eq!(restarted["previousInstance"], lost["instance"]);
}

#[test]
fn a_pane_that_has_ended_is_started_again_and_one_that_cannot_be_stays_readable() {
    let server = Server::start();
    let tool = server.home().join("tool");
    fs::write(&tool, "#!/bin/sh\necho run\n").unwrap();
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    server.act("pane:new", json!({ "id": "a", "argv": [tool] }));
    server.act("pane:wait", json!({ "paneId": "a", "exit": true }));
    server.ok(&["restart", "a"]);
    server.act("pane:wait", json!({ "paneId": "a", "exit": true }));
    fs::remove_file(&tool).unwrap();
    let before = server.pane("a");
    let (_, err, code) = decode_output(&server.cli(&["restart", "a"]));
    assert!(code != 0 && err.contains("tool") && err.contains("still there"), "{err}");
    assert_eq!(server.pane("a")["instance"], before["instance"]);
    assert_eq!(server.ok(&["logs", "a"]), "run\n");
    assert_eq!(decode_output(&server.cli(&["restart", "nosuch"])).2, 3);
}

#[test]
fn a_token_for_a_pane_reaches_its_next_run_and_not_what_replaces_it() {
    let server = Server::start();
    server.act("pane:new", script("web", "cat"));
    let grant = json!({ "label": "x", "scopes": ["read"], "panes": ["web"] });
    let token = server.act("grant:create", grant)["token"].as_str().unwrap().to_owned();
    let sees = || {
        let url = server.ready()["url"].as_str().unwrap().to_owned();
        let shown = server.cli(&["--url", &url, "--token", &token, "get", "web"]);
        shown.status.success()
    };
    assert!(sees());
    server.ok(&["restart", "web"]);
    assert!(sees());
    server.ok(&["new", "--id", "web", "--replace", "--", "cat"]);
    assert!(!sees());
}

#[test]
fn another_program_takes_the_place_of_a_pane() {
    let server = Server::start();
    server.act("pane:new", script("dev", "echo old; cat"));
    until(&server, "dev", "old");
    let (_, err, code) = decode_output(&server.cli(&["new", "--id", "dev", "--", "true"]));
    assert!(code == 8 && err.contains("`--replace`"), "{err}");
    let (_, err, code) =
        decode_output(&server.cli(&["new", "--id", "dev", "--replace", "--", "nosuch"]));
    assert!(
        code != 0 && err.contains("no program `nosuch`") && err.contains("still there"),
        "{err}"
    );
    assert_eq!(server.ok(&["logs", "dev"]), "old\n");
    server.ok(&["new", "--id", "dev", "--replace", "--", "sh", "-c", "echo new; cat"]);
    until(&server, "dev", "new");
    assert_eq!(ids(&server), ["dev"], "the old pane is gone");
    server.ok(&["new", "--id", "other", "--replace", "--", "true"]);
    assert_eq!(ids(&server), ["dev", "other"]);
}

#[test]
fn a_program_that_fails_is_started_again_until_it_has_failed_too_often() {
    let server = Server::start();
    server.ok(&[
        "new",
        "--id",
        "f",
        "--restart",
        "on-failure:1",
        "--",
        "sh",
        "-c",
        "echo x; exit 3",
    ]);
    let (at, scheduled) = next_event(&server, "pane:restart-scheduled", "f", 0);
    assert_eq!((&scheduled["reason"], &scheduled["attempt"]), (&json!("exit code 3"), &json!(1)));
    let (at, restarted) = next_event(&server, "pane:restarted", "f", at);
    assert_eq!((&restarted["reason"], &restarted["restarts"]), (&json!("exit code 3"), &json!(1)));
    // The start of a run is recorded before its end, also of a program that ends at once.
    next_event(&server, "pane:restart-gave-up", "f", at);
    let history = server.history();
    let names: Vec<_> = history.iter().map(|event| event.name.as_str()).collect();
    assert!(names.windows(2).any(|it| it == ["pane:created", "pane:restarted"]), "{names:?}");
    let shown = server.pane("f");
    assert_eq!(
        (&shown["restart"]["count"], &shown["restart"]["gaveUp"]),
        (&json!(1), &json!(true))
    );
    let list = server.ok(&["ls"]);
    assert!(list.contains("exited 3 ") && list.contains("(restarts: 1, gave up)"), "{list}");
    assert!(server.ok(&["get", "f"]).contains("on-failure:1, restarts: 1, gave up"));
}

#[test]
fn what_a_user_ends_is_not_started_again_and_a_crash_is() {
    let server = Server::start();
    server.ok(&["new", "--id", "a", "--restart", "always", "--", "cat"]);
    let pid = u32::try_from(server.pane("a")["pid"].as_u64().unwrap()).unwrap();
    kill9(pid);
    next_event(&server, "pane:restarted", "a", 0);
    server.ok(&["kill", "a"]);
    assert!(server.pane("a")["restart"]["nextAt"].is_null());
    // While the pause runs.
    server.ok(&["new", "--id", "b", "--restart", "always", "--", "false"]);
    next_event(&server, "pane:restart-scheduled", "b", 0);
    server.ok(&["kill", "b"]);
    next_event(&server, "pane:restart-cancelled", "b", 0);
    // A second pane with the same pause shows when the first would have been started.
    server.ok(&["new", "--id", "c", "--restart", "always", "--", "false"]);
    next_event(&server, "pane:restarted", "c", 0);
    let restarted = server.history().into_iter().filter(|it| it.name == "pane:restarted");
    let restarted: Vec<_> = restarted.map(|it| it.data["paneId"].clone()).collect();
    assert_eq!(restarted, [json!("a"), json!("c")]);
}

#[test]
fn a_program_between_two_runs_is_killed_by_all_and_not_deleted_as_ended() {
    let server = Server::start();
    server.ok(&["new", "--id", "a", "--restart", "always", "--", "false"]);
    // After the third end the pause is 4 s, enough for what follows.
    let mut scheduled = 0;
    for _ in 0..3 {
        (scheduled, _) = next_event(&server, "pane:restart-scheduled", "a", scheduled);
    }
    assert_eq!(server.ok(&["prune", "--yes"]).lines().next(), Some("deleted a.previous"));
    assert_eq!(server.ok(&["rm", "--all"]), "");
    assert_eq!(ids(&server), ["a"]);
    let killed = server.ok(&["kill", "--all"]);
    assert_eq!(killed, "a exited (exit code 1); its restart is cancelled\n");
    next_event(&server, "pane:restart-cancelled", "a", 0);
    assert_eq!(server.answer(&["rm", "--all"]), json!({ "id": "a" }));
    assert_eq!(ids(&server), [""; 0]);
}

#[test]
fn a_policy_outlives_the_server() {
    let mut server = Server::start();
    for (id, text) in [("due", "exit 1"), ("dies", "cat")] {
        server.ok(&["new", "--id", id, "--restart", "on-failure", "--", "sh", "-c", text]);
    }
    let (at, _) = next_event(&server, "pane:restart-scheduled", "due", 0);
    let pid = u32::try_from(server.pane("dies")["pid"].as_u64().unwrap()).unwrap();
    server.kill();
    kill9(pid);
    assert!(gone(pid, WAIT_TIMEOUT));
    server.start_again();
    let (_, restarted) = next_event(&server, "pane:restarted", "due", at);
    assert_eq!(restarted["reason"], "exit code 1");
    let (_, restarted) = next_event(&server, "pane:restarted", "dies", at);
    assert_eq!(restarted["reason"], "SIGKILL");
    assert_eq!(server.pane("dies")["restart"]["count"], 1);
}

#[test]
fn a_restart_needs_the_rights_to_end_and_to_start() {
    let server = Server::start();
    server.act("pane:new", script("a", "cat"));
    let url = server.ready()["url"].as_str().unwrap().to_owned();
    for scopes in [json!(["spawn"]), json!(["kill"])] {
        let grant = json!({ "label": "x", "scopes": scopes });
        let token = server.act("grant:create", grant)["token"].as_str().unwrap().to_owned();
        let refused = server.cli(&["--url", &url, "--token", &token, "restart", "a"]);
        assert_eq!(decode_output(&refused).2, i32::from(Code::Forbidden.exit()));
    }
    let refused = server.try_act("pane:new", json!({ "argv": ["true"], "restart": "often" }));
    assert_eq!(refused.unwrap_err().code, Code::Invalid);
}
