//! The server is killed in the middle: what was accepted is delivered, and nothing twice.

use std::time::Duration;

use paned_e2e::{SeededRng, wait_for};
use serde_json::json;

use crate::ScriptedAgentServer;

#[test]
fn what_was_accepted_is_delivered_after_a_kill() {
    let mut house = ScriptedAgentServer::ready(&["--work", "300"]);
    house.send("FAKE say delay=2 words=1 rate=10");
    for n in 0..5 {
        house.send_with(json!({ "text": format!("message {n}"), "wait": "none" }));
    }
    house.server.kill();
    house.server.start_again();
    house.settled();
    let expected: Vec<_> = (0..5).map(|n| format!("message {n}")).collect();
    assert_eq!(house.agent.prompts()[1..], expected);
}

#[test]
fn a_kill_in_the_middle_of_a_delivery_loses_nothing_and_types_nothing_twice() {
    let mut house = ScriptedAgentServer::ready(&["--work", "100"]);
    let mut dice = SeededRng::new();
    for round in 0..8 {
        let text = format!("round {round}: a text long enough to be told from others");
        house.send_with(json!({ "text": text, "wait": "none" }));
        // not a wait: the moment of the kill is what is tried
        std::thread::sleep(Duration::from_millis(dice.below(400)));
        house.server.kill();
        house.server.start_again();
        house.settled();
        let (_, outcome) = house.delivered().pop().unwrap();
        assert_eq!(outcome, "submitted", "round {round}\n{}", house.screen());
        wait_for("the prompt", || house.agent.prompts().contains(&text).then_some(()));
        house.is("ready");
        assert_eq!(house.agent.prompts().len(), round + 1, "{:?}", house.agent.prompts());
    }
}

#[test]
fn a_kill_while_a_question_is_open_keeps_what_waits_for_the_answer() {
    let mut house = ScriptedAgentServer::ready(&["--work", "300"]);
    house.send("FAKE say delay=1 words=1 rate=10");
    for text in ["FAKE tool cmd=touch+made.txt", "behind the question"] {
        house.send_with(json!({ "text": text, "wait": "none" }));
    }
    house.is("blocked");
    house.server.kill();
    house.server.start_again();
    house.is("blocked");
    house.server.act("agent:answer", json!({ "paneId": "a", "option": "no" }));
    house.settled();
    assert_eq!(house.agent.prompts()[2..], ["behind the question"]);
}

#[test]
fn what_waits_for_an_agent_that_ends_is_refused() {
    let house = ScriptedAgentServer::ready(&[]);
    house.send("FAKE hang");
    house.is("busy");
    house.send_with(json!({ "text": "later", "wait": "none" }));
    house.server.act("pane:kill", json!({ "paneId": "a" }));
    wait_for("a refusal", || {
        (house.delivered().last()? == &("m2".to_owned(), "refused".to_owned())).then_some(())
    });
}
