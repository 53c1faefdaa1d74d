//! What an agent does is told: as a state, as an event, in its meta, in words.

use std::fs;

use paned_e2e::KeeperClient;
use serde_json::{Value, json};

use super::{LONG, MiniAgentServer};

#[test]
fn each_state_is_told_once_with_where_it_comes_from() {
    let room = MiniAgentServer::new();
    let mut events = room.server.events("agent:*", None);
    room.start("a");
    room.say("a", "work hard");
    room.until("a", "busy");
    assert_eq!(room.server.pane("a")["meta"]["agent.status"], "running");
    room.press("a", "g");
    room.until("a", "ready");
    room.say("a", "ask");
    let agent = room.until("a", "blocked");
    assert_eq!(agent["kind"], "permission");
    assert_eq!(agent["dialog"]["options"][1]["label"], "No");
    room.press("a", "2");
    room.until("a", "busy");
    room.press("a", "g");
    room.until("a", "ready");
    room.say("a", "fail");
    room.until("a", "error");
    assert_eq!(room.server.pane("a")["meta"]["agent.status"], "error");
    room.say("a", "exit 0");
    let exited = room.until("a", "exited");
    assert_eq!(exited["source"], "process");
    let mut told = Vec::new();
    let last = loop {
        let event = events.next();
        let word = |key: &str| event.data[key].as_str().unwrap_or_default().to_owned();
        if event.name == "agent:state" && word("from") != word("to") {
            told.push(format!("{}-{}", word("from"), word("to")));
        }
        if word("to") == "exited" {
            break event;
        }
    };
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let expect = ["starting-ready", "ready-busy", "busy-ready", "ready-busy", "busy-blocked"];
    assert_eq!(told[..5], expect, "{told:?}");
    let expect = ["blocked-busy", "busy-ready", "ready-busy", "busy-error"];
    assert_eq!(told[5..9], expect, "{told:?}");
    assert_eq!(
        (last.data["paneId"].as_str(), last.data["profile"].as_str()),
        (Some("a"), Some("mini"))
    );
    assert!(last.data["confidence"].as_f64().is_some() && last.data["ageMs"].as_u64().is_some());
}

#[test]
fn lists_are_filtered_by_what_agents_do() {
    let room = MiniAgentServer::new();
    room.start("idle");
    room.start("works");
    room.act("pane:new", json!({ "id": "cat", "argv": ["cat"] }));
    room.say("works", "work");
    room.until("works", "busy");
    assert_eq!(room.ids("agent:list", json!({})), ["idle", "works"]);
    assert_eq!(room.ids("agent:list", json!({ "state": "busy" })), ["works"]);
    assert_eq!(room.ids("agent:list", json!({ "profile": "codex" })), [""; 0]);
    assert_eq!(room.ids("pane:list", json!({ "agentState": "ready" })), ["idle"]);
    let refusal = room.server.try_act("agent:state", json!({ "paneId": "cat" })).unwrap_err();
    assert!(refusal.sentence.contains("not tracked as an agent"), "{refusal}");
}

#[test]
fn a_wait_ends_when_the_turn_does() {
    let room = MiniAgentServer::new();
    room.start("a");
    let wait = |more: Value| {
        let mut params = json!({ "paneId": "a", "timeoutMs": LONG });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        room.act("agent:wait", params)
    };
    assert_eq!(wait(json!({ "done": true }))["why"][0], "no turn was in progress");
    room.say("a", "work");
    // Called at once, before anything has been seen of the turn.
    std::thread::scope(|scope| {
        let done = scope.spawn(|| wait(json!({ "done": true })));
        room.until("a", "busy");
        room.press("a", "g");
        let done = done.join().unwrap();
        assert_eq!((&done["met"], &done["agent"]["state"]), (&json!("done"), &json!("ready")));
        assert_eq!(done.get("why"), None, "{done}");
    });
    room.say("a", "ask");
    assert_eq!(wait(json!({ "done": true, "blocked": true }))["met"], "blocked");
    let late = wait(json!({ "done": true, "timeoutMs": 50 }));
    assert_eq!((&late["met"], &late["timedOut"]), (&json!(null), &json!(true)));
    assert!(late["why"].to_string().contains("agent:answer"), "{late}");
    room.press("a", "1");
    let pane = json!({ "paneId": "a", "agentState": ["busy"], "timeoutMs": LONG });
    assert_eq!(room.act("pane:wait", pane)["met"], "agentState");
    room.say("a", "g");
    room.until("a", "ready");
    room.say("a", "exit 3");
    let pane = json!({ "paneId": "a", "agentState": "exited", "timeoutMs": LONG });
    assert_eq!(room.act("pane:wait", pane)["met"], "agentState");
    let gone = wait(json!({ "state": "ready" }));
    assert_eq!((&gone["met"], &gone["why"][0]), (&json!(null), &json!("its program has exited")));
}

/// Somebody at `paned attach` or in tmux: their keys go past the server.
#[test]
fn an_enter_of_a_person_is_known_before_the_agent_shows_it() {
    let room = MiniAgentServer::new();
    let patient = include_str!("mini.toml").replace("expect = 400", "expect = 20000");
    fs::write(room.profiles().join("mini.toml"), patient).unwrap();
    room.start("a");
    let mut person = KeeperClient::connect(&room.server, "a");
    person.type_in("deaf");
    paned_e2e::wait_for("the draft", || {
        let told = room.act("agent:explain", json!({ "paneId": "a" }));
        (told["composer"]["text"] == "deaf").then_some(())
    });
    assert_eq!(room.state("a"), "ready");
    person.type_in("\r");
    assert_eq!(room.until("a", "busy")["source"], "input");
    person.type_in("g");
    paned_e2e::wait_for("work", || {
        let agent = room.act("agent:state", json!({ "paneId": "a" }));
        (agent["source"] == "screen").then_some(())
    });
    person.type_in("g");
    room.until("a", "ready");
    let cast = room.act("agent:record", json!({ "paneId": "a" }))["cast"].clone();
    let typed = cast.as_str().unwrap().lines().skip(1).filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line[1] == "i").then(|| line[2].as_str().unwrap().to_owned())
    });
    assert_eq!(typed.collect::<String>(), "*\r**", "keys are told, and words are not");
}

#[test]
fn the_evidence_is_told_in_words() {
    let room = MiniAgentServer::new();
    room.start("a");
    room.press("a", "half a thought");
    paned_e2e::wait_for("a draft", || {
        let told = room.act("agent:explain", json!({ "paneId": "a" }));
        let text = told["text"].as_str().unwrap().to_owned();
        let is_there = told["composer"] == json!({ "state": "draft", "text": "half a thought" });
        is_there.then(|| assert!(text.contains("draft `half a thought`"), "{text}"))
    });
    let told = room.act("agent:explain", json!({ "paneId": "a" }));
    assert_eq!(told["reasons"][0]["source"], "screen", "{told:#}");
    assert!(!told["reasons"][0]["sentence"].as_str().unwrap().is_empty());
}

/// A shell in a pane reports for itself, as hooks do: with its own token, and no pane named.
#[test]
fn a_hook_reports_in_whichever_form_and_for_its_own_pane() {
    let room = MiniAgentServer::new();
    let report = |body: &str| {
        format!(
            "curl -s --unix-socket $PANED_SOCKET -H 'content-type: application/json' -H \"authorization: Bearer \
             $PANED_TOKEN\" -d '{body}' http://paned/action/agent:set-state; echo; "
        )
    };
    let script = [
        report(r#"{"runtime":"homemade","status":"running","sessionId":"s1"}"#),
        report(r#"{"agent.status":"idle"}"#),
        report(r#"{"agent":{"status":"error","error":"out of luck"}}"#),
        report(r#"{"hook_event_name":"Stop","tool_input":{"command":"ls"},"n":3}"#),
        report(r#"{"status":"dancing"}"#),
        "echo over; exec cat".to_owned(),
    ];
    room.act("pane:new", paned_e2e::script("h", &script.concat()));
    let wait = json!({ "paneId": "h", "pattern": "^over", "since": 0, "timeoutMs": LONG });
    assert_eq!(room.act("pane:wait", wait)["met"], "pattern");
    let meta = &room.server.pane("h")["meta"];
    assert_eq!(meta["agent.runtime"], "homemade");
    assert_eq!(meta["agent.sessionId"], "s1");
    assert_eq!(
        (&meta["agent.status"], &meta["agent.error"]),
        (&json!("error"), &json!("out of luck"))
    );
    assert!(meta["agent.lastEventAt"].as_str().unwrap().starts_with("20"));
    let printed = room.server.text("h");
    assert!(printed.contains("\"changed\":true") && printed.contains("previousMeta"), "{printed}");
    assert!(printed.contains("invalid status `dancing`"), "{printed}");
}

#[test]
fn a_report_is_evidence_for_an_agent_that_is_judged() {
    let room = MiniAgentServer::new();
    room.start("a");
    let report = json!({ "paneId": "a", "status": "blocked", "kind": "question" });
    let answer = room.act("agent:set-state", report);
    assert_eq!(answer["id"], "a");
    assert_eq!(answer["previousMeta"]["agent.status"], "idle");
    // The status is what the judgement makes of it.
    assert_eq!(
        (&answer["meta"]["agent.status"], &answer["changed"]),
        (&json!("running"), &json!(true))
    );
    let agent = room.act("agent:state", json!({ "paneId": "a" }));
    assert_eq!((&agent["source"], &agent["kind"]), (&json!("hook"), &json!("question")));
    room.act("agent:set-state", json!({ "paneId": "a", "status": "idle" }));
    room.until("a", "ready");
    // A pane becomes an agent when somebody says what it runs.
    room.act("pane:new", json!({ "id": "b", "argv": ["cat"] }));
    room.act(
        "agent:set-state",
        json!({ "paneId": "b", "runtime": "mini", "status": "blocked", "kind": "plan" }),
    );
    let agent = room.until("b", "blocked");
    assert_eq!((&agent["profile"], &agent["kind"]), (&json!("mini"), &json!("plan")));
}

#[test]
fn a_report_of_another_program_counts_only_where_the_agents_own_is_gone() {
    let room = MiniAgentServer::new();
    room.start("a");
    let report = |pane: &str| json!({ "paneId": pane, "runtime": "codex", "status": "blocked", "sessionId": "theirs" });
    let answer = room.act("agent:set-state", report("a"));
    assert_eq!(answer["changed"], false, "{answer}");
    let agent = room.act("agent:state", json!({ "paneId": "a" }));
    assert_eq!((&agent["state"], &agent["profile"]), (&json!("ready"), &json!("mini")));
    assert_eq!(room.server.pane("a")["meta"]["agent.sessionId"], Value::Null);
    // `cat` looks like neither, so the last one that reports is taken for what runs.
    room.act("pane:new", json!({ "id": "b", "argv": ["cat"] }));
    room.act("agent:set-state", json!({ "paneId": "b", "runtime": "mini", "event": "start" }));
    room.act("agent:set-state", report("b"));
    assert_eq!(room.until("b", "blocked")["profile"], "codex");
}
