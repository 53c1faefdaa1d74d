//! What the clients of agentmux do, from the first prompt to the last key.

use paned_e2e::wait_for;
use serde_json::{Value, json};

use super::CompatServer;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

/// Whether a text has the form of another, in which `9` stands for any digit.
fn is_like(text: &str, form: &str) -> bool {
    let fits = |(c, form): (char, char)| match form {
        '9' => c.is_ascii_digit(),
        form => c == form,
    };
    text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
}

#[test]
fn a_prompt_is_run_watched_and_read() {
    let house = CompatServer::new(&["--work", "1500"]);
    let ran = house.post("/run", json!({ "text": "  hello there\n" }));
    let session = ran["session"].as_str().unwrap_or_default().to_owned();
    let target = format!("{session}:0.0");
    let expect = json!({ "ok": true, "action": "run", "session": session, "target": target });
    assert_eq!(ran, expect);
    let (start, random) = session.rsplit_once('-').unwrap_or_default();
    assert!(is_like(start, "agentmux-99999999_999999"), "{session}");
    assert!(random.len() == 6 && random.bytes().all(|it| it.is_ascii_hexdigit()), "{session}");
    assert_eq!(house.agent.prompts(), ["hello there"]);
    let idle = house.get("/idle");
    assert_eq!(keys(&idle), ["idle", "ctx_percent", "session"]);
    assert_eq!(idle, json!({ "idle": false, "ctx_percent": null, "session": session }));
    house.agent.wait("ready", 2);
    assert_eq!(house.idle()["session"], session);

    let health = house.get("/health");
    assert_eq!(keys(&health), ["ok", "agent", "active_session", "total_sessions", "sessions"]);
    assert_eq!(
        (&health["agent"], &health["active_session"]),
        (&json!("fake-agent"), &json!(session))
    );
    let entry = &health["sessions"][0];
    assert_eq!(keys(entry), ["name", "status", "created_at", "target", "idle", "ctx_percent"]);
    assert_eq!((&entry["status"], &entry["idle"]), (&json!("active"), &json!(true)));
    let created = entry["created_at"].as_str().unwrap_or_default();
    assert!(is_like(created, "9999-99-99 99:99:99"), "{created}");

    let shown = house.get("/capture?lines=3");
    assert_eq!((&shown["target"], &shown["lines"]), (&json!(target), &json!(10)));
    let content = shown["content"].as_str().unwrap_or_default();
    assert!(content.contains("> hello there\n\n* I read 11 bytes.\n"), "{content}");
    let last = content.lines().last().unwrap_or_default();
    assert!(last.starts_with("fake-agent · "), "the last row has something on it: {content}");
}

#[test]
fn texts_arrive_as_they_are_but_for_the_blanks_around_them() {
    let house = CompatServer::new(&["--work", "50"]);
    house.run("first");
    for text in ["-x --y", "a;", "two\nlines\n\nand \u{e4} third", "#(touch x)", "$(touch y) `z`"] {
        house.idle();
        let sent = house.post("/send", json!({ "text": format!("\n {text} ") }));
        assert_eq!(keys(&sent), ["ok", "action", "target"]);
    }
    house.idle();
    let long = format!("begin {} end", "words ".repeat(4000));
    house.post("/send", json!({ "text": long }));
    let expect = ["first", "-x --y", "a;", "two\nlines\n\nand \u{e4} third", "#(touch x)"];
    let prompts = house.agent.prompts();
    assert_eq!(prompts[..5], expect);
    assert_eq!(prompts[5..], ["$(touch y) `z`".to_owned(), long]);
}

#[test]
fn a_busy_session_holds_up_nobody_else() {
    let house = CompatServer::new(&["--work", "60000"]);
    let first = house.run("first");
    let second = house.run("second");
    assert_eq!(house.sessions(), [first.clone(), second.clone()]);
    assert_eq!(house.get("/sessions")["active"], second);
    // To one that works, by its target: it takes the text when it is done.
    let target = format!("{first}:0.0");
    let sent = house.post("/send", json!({ "text": "third", "target": format!(" {target} ") }));
    assert_eq!(sent["target"], target);
    house.agent.wait("prompt", 3);
    let shown = house.get(&format!("/capture?target={target}"));
    assert!(shown["content"].as_str().is_some_and(|it| it.contains("> first")), "{shown}");
    // A key reaches the one that is named, and no other.
    house.post("/key", json!({ "key": "ESC", "target": target }));
    house.agent.wait("interrupted", 1);
    assert_eq!(
        house.get("/idle"),
        json!({ "idle": false, "ctx_percent": null, "session": second })
    );
}

#[test]
fn one_at_a_time_is_there_for_whoever_wants_it() {
    let house = CompatServer::with(&["--work", "60000"], "agentmux_one_at_a_time = true", &[]);
    let first = house.run("first");
    let busy = house.ask("POST", "/run", Some(json!({ "text": "second" })));
    let expect = json!({
        "ok": false, "busy": true, "error": "Agent is busy, previous task still running", "session": first,
    });
    assert_eq!((busy.status, busy.json()), (409, expect));
    assert_eq!(house.sessions(), [first]);
    house.post("/key", json!({ "key": "escape" }));
    house.idle();
    house.run("third");
    assert_eq!(house.agent.prompts(), ["first", "third"]);
}

#[test]
fn keys_are_pressed_one_by_one_in_any_pane_that_may_be_named() {
    let house = CompatServer::with(&[], "agentmux_any_target = true", &[]);
    house.server.act("pane:new", json!({ "id": "cat", "argv": ["cat", "-v"] }));
    for (key, repeat) in
        [("up", json!(2)), ("Left", json!("3")), ("space", json!(1)), ("ENTER", json!(1))]
    {
        let body = json!({ "key": key, "repeat": repeat, "target": "cat" });
        let pressed = house.post("/key", body);
        assert_eq!(pressed, json!({ "ok": true, "action": "key", "target": "cat", "key": key }));
    }
    wait_for("the keys", || {
        house.server.text("cat").contains("^[[A^[[A^[[D^[[D^[[D ").then_some(())
    });
    let keys = "backspace, delete, down, enter, esc, escape, left, right, space, tab, up";
    let text = format!("Unsupported key 'f1'. Supported keys: {keys}");
    house.refuses("POST", "/key", Some(json!({ "key": "f1", "target": "cat" })), (400, &text));
    let many = json!({ "key": "tab", "repeat": 0, "target": "cat" });
    house.refuses("POST", "/key", Some(many), (400, "repeat must be >= 1"));
    // A plain pane takes texts too.
    house.post("/send", json!({ "text": "typed", "target": "cat:0.0" }));
    wait_for("the text", || house.server.text("cat").contains("typed").then_some(()));
    assert_eq!(house.ask("GET", "/capture?target=none", None).status, 404);
}

#[test]
fn only_its_own_sessions_are_reached_unless_that_is_allowed() {
    let house = CompatServer::new(&[]);
    house.server.act("pane:new", json!({ "id": "other", "argv": ["cat"] }));
    let other = json!({ "text": "x", "target": "other:0.0" });
    house.refuses("POST", "/send", Some(other), (400, "target is not managed by agentmux"));
    let kill = json!({ "session": "other" });
    house.refuses("POST", "/kill", Some(kill), (404, "session 'other' not found"));
    assert_eq!(house.get("/sessions"), json!({ "sessions": [], "active": "" }));
    assert_eq!(house.server.pane("other")["status"], "running");
}

#[test]
fn a_dialog_on_the_screen_is_never_answered_by_a_text() {
    let house = CompatServer::new(&["--work", "100"]);
    house.run("FAKE tool cmd=touch+made.txt");
    house.agent.wait("asking", 1);
    wait_for("a blocked agent", || {
        let session = house.sessions().pop()?;
        let agent = house.server.act("agent:state", json!({ "paneId": session }));
        (agent["state"] == "blocked").then_some(())
    });
    assert_eq!(house.get("/idle")["idle"], false);
    let sent = house.ask("POST", "/send", Some(json!({ "text": "hello" })));
    assert_eq!(sent.status, 409, "{sent:?}");
    assert_eq!(house.agent.prompts().len(), 1);
    assert!(!house.agent.log().iter().any(|line| line["event"] == "answer"));
    // A person's answer goes by a key.
    house.post("/key", json!({ "key": "enter" }));
    house.agent.wait("answer", 1);
}

#[test]
fn a_capture_shows_so_many_lines_above_the_screen_and_the_screen() {
    let house = CompatServer::with(&[], "agentmux_any_target = true", &[]);
    let script = "for n in $(seq 300); do echo line $n; done; sleep 1000";
    let size = json!({ "cols": 80, "rows": 24 });
    let argv = ["/bin/sh", "-c", script];
    house.server.act("pane:new", json!({ "id": "p", "argv": argv, "size": size }));
    house.server.act("pane:wait", json!({ "paneId": "p", "pattern": "line 300", "since": 0 }));
    for (asked, above) in [(1, 10), (50, 50), (9999, 277)] {
        let shown = house.get(&format!("/capture?lines={asked}&target=p"));
        let content = shown["content"].as_str().unwrap_or_default();
        let lines: Vec<&str> = content.lines().collect();
        // The screen's last row is blank, and left out.
        assert_eq!(lines.len(), above + 23, "{asked}");
        assert_eq!(lines.first(), Some(&format!("line {}", 278 - above).as_str()));
        assert_eq!(lines.last(), Some(&"line 300"));
    }
}
