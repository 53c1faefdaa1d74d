//! What is reported of a turn belongs to that turn: its answer, its outcome, and the state after a
//! key.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use paned_e2e::decode_output;
use paned_model::Code;
use serde_json::{Value, json};

use crate::{ScriptedAgentServer, check};

/// The answer of the scripted agent to a prompt without an order.
fn answer_to(prompt: &str) -> String {
    format!("I read {} bytes.", prompt.len())
}

fn last(house: &ScriptedAgentServer) -> Value {
    house.server.act("agent:last", json!({ "paneId": "a" }))
}

#[test]
fn an_answer_is_of_this_turn_although_its_transcript_is_written_late() {
    let house = ScriptedAgentServer::ready(&["--transcript", "200", "--work", "150"]);
    for length in 1..=5 {
        let prompt = "x".repeat(length);
        let sent = house.send_with(json!({ "text": prompt, "wait": "done" }));
        check(&sent, "submitted", "");
        assert_eq!(sent["answer"], answer_to(&prompt), "{sent:#}");
        assert_eq!(sent["answerSource"], "transcript", "{sent:#}");
        assert_eq!(last(&house)["text"], answer_to(&prompt));
    }
}

#[test]
fn the_last_answer_is_not_the_one_before_it() {
    let house = ScriptedAgentServer::ready(&["--transcript", "200", "--work", "150"]);
    for length in 1..=5 {
        let prompt = "x".repeat(length);
        house.send(&prompt);
        house.server.act("agent:wait", json!({ "paneId": "a", "done": true }));
        let last = last(&house);
        assert_eq!(last["text"], answer_to(&prompt), "{last:#}");
        assert_eq!(last["source"], "transcript", "{last:#}");
    }
}

/// Puts an answer into the transcript that was given just now, as if by an earlier turn.
fn write_old_answer(house: &ScriptedAgentServer) {
    let cwd = house.agent.params("a")["cwd"].as_str().unwrap().to_owned();
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let content = json!([{ "type": "output_text", "text": "an old answer" }]);
    let payload = json!({ "type": "message", "role": "assistant", "content": content });
    let at = u64::try_from(at).unwrap();
    let line = json!({ "timestamp": at, "type": "response_item", "payload": payload });
    fs::write(format!("{cwd}/transcript.jsonl"), format!("{line}\n")).unwrap();
}

#[test]
fn an_answer_that_is_in_no_transcript_is_taken_from_the_hook_or_the_screen() {
    let house = ScriptedAgentServer::ready(&["--work", "150"]);
    write_old_answer(&house);
    assert_eq!(last(&house)["text"], "an old answer");
    let sent = house.send_with(json!({ "text": "hello", "wait": "done" }));
    assert_eq!(sent["answer"], answer_to("hello"), "{sent:#}");
    assert_eq!(sent["answerSource"], "screen", "{sent:#}");
    let stop = json!({ "paneId": "a", "event": "Stop", "last_assistant_message": "by its hook" });
    house.server.act("agent:set-state", stop);
    let told = last(&house);
    assert_eq!((&told["text"], &told["source"]), (&json!("by its hook"), &json!("hook")));
    // What a hook reported in the turn before is old, too.
    let sent = house.send_with(json!({ "text": "hello again", "wait": "done" }));
    assert_eq!(sent["answer"], answer_to("hello again"), "{sent:#}");
}

#[test]
fn a_turn_without_an_answer_has_none() {
    let house = ScriptedAgentServer::ready(&["--work", "150"]);
    write_old_answer(&house);
    house.send("FAKE hang");
    house.is("busy");
    let refused = || house.server.try_act("agent:last", json!({ "paneId": "a" })).unwrap_err();
    assert_eq!(refused().code, Code::Busy);
    house.server.act("agent:interrupt", json!({ "paneId": "a" }));
    house.is("ready");
    let none = refused();
    assert_eq!(none.code, Code::NotFound, "{none:?}");
}

#[test]
fn a_message_that_is_refused_at_once_is_not_called_queued() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    house.send("FAKE tool cmd=touch+made.txt");
    house.is("blocked");
    let sent = house.send_with(json!({ "text": "hello", "wait": "none" }));
    check(&sent, "refused", "nothing was typed");
    assert_eq!(sent["position"], Value::Null, "{sent:#}");
}

#[test]
fn a_message_without_a_wait_is_queued_while_the_agent_works() {
    let house = ScriptedAgentServer::ready(&[]);
    house.send("FAKE hang");
    house.is("busy");
    let sent = house.send_with(json!({ "text": "later", "wait": "none" }));
    check(&sent, "queued", "busy");
    assert_eq!(sent["position"], 1, "{sent:#}");
}

#[test]
fn an_interrupted_question_reports_the_state_after_the_key() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    for _ in 0..3 {
        house.send("FAKE tool cmd=touch+made.txt");
        house.is("blocked");
        let broken = house.server.act("agent:interrupt", json!({ "paneId": "a" }));
        assert_eq!(broken["interrupted"], true, "{broken:#}");
        assert_eq!(broken["agent"]["state"], "ready", "{broken:#}");
    }
}

#[test]
fn a_new_agent_is_up_once_what_follows_its_composer_has_settled() {
    for flags in [
        &["--late-dialog", "300", "--no-title"][..],
        &["--late-dialog", "300", "--no-title", "--status"],
    ] {
        let house = ScriptedAgentServer::new(flags);
        assert_eq!(house.state()["state"], "blocked", "{:#}", house.state());
    }
}

#[test]
fn a_program_learns_that_its_status_is_read_and_its_reports_are_evidence() {
    let house = ScriptedAgentServer::ready(&["--status", "--no-title", "--work", "100"]);
    house.agent.wait("status", 1);
    let explained = |state: &str, words: &str| {
        house.is(state);
        let told = house.server.act("agent:explain", json!({ "paneId": "a" })).to_string();
        assert!(told.contains(words), "no `{words}` in {told}");
    };
    explained("ready", "the program reports `idle` by OSC 7501");
    house.send("FAKE tool cmd=touch+made.txt");
    explained("blocked", "the program reports `blocked` (permission) by OSC 7501");
    house.server.act("agent:answer", json!({ "paneId": "a", "option": "no" }));
    house.is("ready");
    assert!(!house.screen().contains("7501"), "{}", house.screen());
}

#[test]
fn who_waits_for_an_answer_is_told_of_a_question_that_stands() {
    let house = ScriptedAgentServer::ready(&["--work", "150"]);
    let sent = house.send_with(json!({ "text": "FAKE tool cmd=touch+made.txt", "wait": "done" }));
    check(&sent, "submitted", "");
    assert_eq!(sent["agent"]["state"], "blocked", "{sent:#}");
    assert_eq!(sent["dialog"]["id"], sent["agent"]["dialog"]["id"], "{sent:#}");
    assert!(sent.get("answer").is_none() && sent.get("timedOut").is_none(), "{sent:#}");
    house.server.act("agent:answer", json!({ "paneId": "a", "option": "No" }));
    house.is("ready");

    let cli = house.server.cli(&["agent", "send", "a", "FAKE tool cmd=touch+it", "--wait"]);
    let (_, error, code) = decode_output(&cli);
    assert_eq!(code, i32::from(Code::Busy.exit()), "{error}");
    assert!(error.contains("paned agent answer a"), "{error}");
}
