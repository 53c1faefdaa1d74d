//! Sessions that new panes appear in.

use paned_e2e::{AttachedTmuxClient, Server, Tmux, script};
use paned_model::{Code, Size};
use serde_json::json;

use super::*;

/// The session that a pane belongs to.
fn session_of(server: &Server, id: &str) -> Option<String> {
    server.pane(id)["view"]["session"].as_str().map(str::to_owned)
}

#[test]
fn what_is_made_after_a_start_appears_in_the_session() {
    let server = Server::start();
    server.act("pane:new", script("before", "cat"));
    assert_eq!(
        server.ok(&["session", "start", "--size", "80x24"]),
        "started session main, and new panes appear in it; attach with `paned session attach main`\n"
    );
    let argv = ["action", "pane:new", "--id", "vim", "--argv", "vim", "--argv=-n"];
    server.ok(&argv);
    server.ok(&["new", "--id", "typed", "--", "cat"]);
    server.act("pane:new", script("http", "cat"));
    for id in ["vim", "typed", "http"] {
        assert_eq!(session_of(&server, id).as_deref(), Some("main"), "{id}");
        view(&server, id);
    }
    server.act("pane:activate", json!({ "paneId": "vim" }));
    let tmux = Tmux::of(&server);
    let person = AttachedTmuxClient::attach(&tmux, "main", Size { cols: 80, rows: 24 });
    person.types("ihello from vim");
    until_screen(&tmux, &view(&server, "vim").id, "hello from vim");
    person.wait_for_text("hello from vim");

    // What is made to be unseen is.
    let hidden = |params: Value| {
        let id = params["id"].as_str().unwrap().to_owned();
        server.act("pane:new", params);
        assert_eq!(session_of(&server, &id), None, "{id}");
    };
    hidden(with(script("never", "cat"), "visible", json!("never")));
    hidden(with(script("notice", "cat"), "notifyOnExit", json!(true)));
    server.ok(&["run", "--id", "run", "--", "true"]);
    let told = server.history();
    assert!(!told.iter().any(|told| told.name == "pane:shown" && told.data["paneId"] == "run"));
    assert_eq!(session_of(&server, "before"), None);

    // Placing what is there changes nothing.
    let before = tmux.panes().len();
    server.act("layout:place", json!({ "paneId": "http" }));
    assert_eq!(tmux.panes().len(), before);

    // What was only shown there goes on.
    server.act("layout:place", json!({ "paneId": "before" }));
    let said = server.ok(&["session", "stop"]);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("stopped session main"));
    let ended = lines.next().unwrap();
    for id in ["vim", "typed", "http"] {
        assert!(ended.contains(id), "{said}");
        assert!(server.try_act("pane:get", json!({ "paneId": id })).is_err());
    }
    assert!(lines.next().unwrap().starts_with("still running, hidden: before;"), "{said}");
    for id in ["before", "never", "notice"] {
        assert_eq!(server.pane(id)["status"], "running");
    }
    // Nothing follows any more.
    server.act("pane:new", script("after", "cat"));
    assert_eq!(session_of(&server, "after"), None);
}

#[test]
fn the_last_started_session_that_is_there_follows() {
    let mut server = Server::start();
    for (name, follow) in [("one", true), ("two", true), ("three", false)] {
        server.act("session:start", json!({ "name": name, "argv": ["cat"], "follow": follow }));
    }
    let follows = |server: &Server, id: &str, expect: Option<&str>| {
        server.act("pane:new", script(id, "cat"));
        assert_eq!(session_of(server, id).as_deref(), expect, "{id}");
    };
    follows(&server, "a", Some("two"));
    server.kill();
    server.start_again();
    follows(&server, "b", Some("two"));
    view(&server, "b");
    let list = server.ok(&["session", "list"]);
    assert!(list.lines().all(|line| line.len() <= 80), "{list}");
    let two = list.lines().find(|line| line.starts_with("two")).unwrap();
    assert!(two.contains("here") && !list.contains(".sock"), "{list}");
    // A session that a user renames is still the one.
    Tmux::of(&server).run(&["rename-session", "-t", "two", "second"]);
    wait_for("the new name", || (session_of(&server, "b")? == "second").then_some(()));
    follows(&server, "c", Some("second"));
    let stopped = server.act("session:stop", json!({ "name": "second" }));
    assert_eq!(stopped["closed"].as_array().unwrap().len(), 4, "{stopped}");
    follows(&server, "d", Some("one"));
    Tmux::of(&server).run(&["kill-session", "-t", "one"]);
    let mut events = server.events("session:*", Some(0));
    events.until(of_session("session:stopped", "one"));
    follows(&server, "e", None);
    assert_eq!(server.act("session:list", json!({})).as_array().unwrap().len(), 1);
}

#[test]
fn what_expired_in_a_session_ends_with_it() {
    let server = Server::start_set("[layout]\npatience_seconds = 1\n", &[]);
    let size = json!({ "cols": 60, "rows": 16 });
    server.act("session:start", json!({ "argv": ["cat"], "size": size }));
    server.act("pane:new", with(script("late", "cat"), "wait", json!(true)));
    until_state(&server, "late", "hidden");
    let stopped = server.act("session:stop", json!({}));
    assert!(stopped["closed"].as_array().unwrap().contains(&json!("late")), "{stopped}");
}

#[test]
fn a_pane_split_by_hand_reaches_the_server() {
    let server = Server::start();
    server.act("session:start", json!({ "argv": ["cat"] }));
    let out = server.home().join("environment");
    let write = format!("env > {0}.new; mv {0}.new {0}; cat", out.display());
    Tmux::of(&server).run(&["split-window", "-t", "main", &write]);
    let env = wait_for("the environment", || std::fs::read_to_string(&out).ok());
    let value = |name: &str| {
        let line = env.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().to_owned()
    };
    assert_eq!(value("PANED_SOCKET"), server.socket().to_str().unwrap());
    assert_eq!(value("PANED_URL"), format!("http://{}", server.authority()));
    assert_eq!(value("POLY_BASE_URL"), value("PANED_URL"));
    assert!(server.authority().ends_with(&format!(":{}", value("POLY_PORT"))));
    assert_eq!(value("PANED_TOKEN"), "", "no token is left where others may read it");
}

#[test]
fn tmux_can_be_switched_off() {
    let server = Server::start_set("[tmux]\nenabled = false\n", &[]);
    let off = "tmux is disabled: set `tmux.enabled` to true";
    for (action, params) in [
        ("session:start", json!({})),
        ("session:list", json!({})),
        ("session:stop", json!({})),
        ("layout:get", json!({})),
        ("pane:new", shown("a", "cat")),
        ("pane:new", json!({ "argv": ["cat"], "tmux": "/tmp/x/default,1,0", "beside": "%0" })),
    ] {
        refused(&server, action, params, Code::Unavailable, off);
    }
    for line in [&["session", "attach"][..], &["session", "list"]] {
        let (out, says, code) = paned_e2e::decode_output(&server.cli(line));
        assert!(says.contains(off) && out.is_empty() && code != 0, "{says}");
    }
    let made = server.act("pane:new", json!({ "id": "v", "argv": ["cat"], "visible": "auto" }));
    assert_eq!((&made["status"], made.get("view")), (&json!("running"), None));
    let opened = server.act("subagent:opened", json!({ "id": "s", "parentId": "p" }));
    assert!(opened["reason"].as_str().unwrap().contains(off), "{opened}");
    assert_eq!(Tmux::of(&server).pid(), None);
}
