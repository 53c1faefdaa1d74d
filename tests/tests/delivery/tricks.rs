//! An agent that misbehaves gets each message once, or not at all; and no question is answered by
//! accident.

use paned_model::Code;
use serde_json::json;

use crate::{ScriptedAgentServer, check};

#[test]
fn a_swallowed_enter_is_pressed_again() {
    let house = ScriptedAgentServer::ready(&["--swallow-enter", "2", "--work", "100"]);
    check(&house.send("once"), "submitted", "again");
    assert_eq!(house.agent.prompts(), ["once"]);
}

#[test]
fn an_agent_that_never_takes_enter_keeps_a_draft_that_the_next_message_replaces() {
    let house = ScriptedAgentServer::ready(&["--swallow-enter", "4", "--work", "100"]);
    check(&house.send("the first"), "drafted", "is still in the composer");
    assert_eq!(house.agent.prompts(), [""; 0]);
    check(&house.send("the second"), "submitted", "");
    assert_eq!(house.agent.prompts(), ["the second"]);
}

#[test]
fn a_collapsed_paste_is_recognised() {
    let house = ScriptedAgentServer::ready(&["--collapse-paste", "--work", "100"]);
    let text = "one\ntwo\nthree";
    check(&house.send(text), "submitted", "");
    assert_eq!(house.agent.prompts(), [text]);
}

#[test]
fn a_question_on_the_screen_refuses_a_message() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    house.send("FAKE tool cmd=touch+made.txt");
    house.is("blocked");
    let sent = house.send("hello");
    check(&sent, "refused", "nothing was typed");
    assert_eq!(sent["dialog"]["kind"], "permission", "{sent:#}");
    assert_eq!(house.agent.prompts().len(), 1);
    assert!(house.agent.log().iter().all(|line| line["event"] != "answer"));
}

#[test]
fn a_question_that_comes_up_with_the_paste_is_not_answered() {
    let house = ScriptedAgentServer::ready(&["--dialog-race", "1", "--work", "100"]);
    let sent = house.send("hello");
    assert!(["drafted", "unknown"].contains(&sent["outcome"].as_str().unwrap()), "{sent:#}");
    assert_eq!(sent["dialog"]["kind"], "permission", "{sent:#}");
    assert!(house.agent.log().iter().all(|line| line["event"] != "answer"));
    house.server.act("agent:answer", json!({ "paneId": "a", "option": "no" }));
    assert_eq!(house.agent.wait("answer", 1)["yes"], false);
    house.is("ready");
    check(&house.send("hello again"), "submitted", "");
    assert_eq!(house.agent.prompts(), ["hello again"]);
}

#[test]
fn prose_that_looks_like_a_question_is_none() {
    let house = ScriptedAgentServer::ready(&["--prose-dialog", "--work", "100"]);
    for text in ["one", "two", "three"] {
        check(&house.send_with(json!({ "text": text, "wait": "done" })), "submitted", "");
    }
    assert_eq!(house.agent.prompts(), ["one", "two", "three"]);
}

#[test]
fn a_screen_that_is_drawn_anew_all_the_time_is_no_obstacle() {
    let house = ScriptedAgentServer::ready(&["--redraw", "--switch-screen"]);
    check(&house.send("FAKE say delay=3 words=2 rate=100"), "submitted", "");
    house.is("busy");
    check(&house.send_with(json!({ "text": "meanwhile", "whenBusy": "send" })), "submitted", "");
    check(&house.send("afterwards"), "queued", "busy");
    house.settled();
    assert_eq!(house.agent.prompts()[1..], ["meanwhile", "afterwards"]);
}

#[test]
fn a_message_to_an_agent_that_is_not_up_yet_waits() {
    let house = ScriptedAgentServer::ready(&["--slow-start", "1500", "--work", "100"]);
    check(&house.send("early"), "submitted", "");
    assert_eq!(house.agent.prompts(), ["early"]);
}

#[test]
fn a_crash_is_told_as_far_as_it_is_known() {
    let house = ScriptedAgentServer::ready(&["--crash-after", "1"]);
    let sent = house.send("the last");
    assert_ne!(sent["outcome"], "refused", "{sent:#}");
    let refused = house.try_send(json!({ "text": "nobody there" })).unwrap_err();
    assert_eq!(refused.code, Code::Gone);
}

#[test]
fn a_frozen_agent_gets_no_keys_that_it_would_read_later() {
    let house = ScriptedAgentServer::ready(&["--freeze-after", "1"]);
    let sent = house.send("freeze now");
    assert_ne!(sent["outcome"], "refused", "{sent:#}");
    let sent = house.send_with(json!({ "text": "never", "timeoutMs": 3000 }));
    assert_ne!(sent["outcome"], "submitted", "{sent:#}");
    assert_eq!(house.agent.prompts(), ["freeze now"]);
}
