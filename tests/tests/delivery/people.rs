//! A person's draft is theirs, whichever way they typed it.

use paned_e2e::{KeeperClient, wait_for};
use serde_json::json;

use crate::{ScriptedAgentServer, check};

#[test]
fn a_draft_holds_a_message_until_it_is_sent() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let mut person = KeeperClient::connect(&house.server, "a");
    person.type_in("dear agent");
    house.wait_for_text("> dear agent");
    let sent = house.send("from a program");
    check(&sent, "held", "`dear agent`");
    assert_eq!((&sent["position"], house.state()["queued"].as_u64()), (&json!(1), Some(1)));
    person.type_in(", please\r");
    house.settled();
    assert_eq!(house.agent.prompts(), ["dear agent, please", "from a program"]);
    assert_eq!(house.delivered(), [("m1".to_owned(), "submitted".to_owned())]);
}

#[test]
fn a_draft_holds_a_message_until_it_is_cleared() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    // By way of the server, as in a browser.
    house.server.act("pane:write", json!({ "paneId": "a", "text": "half a" }));
    check(&house.send("from a program"), "held", "`half a`");
    house.server.act("pane:keys", json!({ "paneId": "a", "keys": ["ctrl+u"] }));
    house.settled();
    assert_eq!(house.agent.prompts(), ["from a program"]);
}

#[test]
fn who_waits_until_it_is_done_waits_for_what_is_held_too() {
    let house = ScriptedAgentServer::ready(&["--work", "300"]);
    house.server.act("pane:write", json!({ "paneId": "a", "text": "half a" }));
    check(&house.send("from a program"), "held", "`half a`");
    house.server.act("pane:keys", json!({ "paneId": "a", "keys": ["ctrl+u"] }));
    let waited = house.server.act("agent:wait", json!({ "paneId": "a", "done": true }));
    assert_eq!((&waited["met"], &waited["agent"]["state"]), (&json!("done"), &json!("ready")));
    assert_eq!(house.agent.prompts(), ["from a program"]);
}

#[test]
fn a_key_that_is_not_drawn_yet_is_seen_all_the_same() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let mut person = KeeperClient::connect(&house.server, "a");
    for round in 0..5 {
        person.type_in("x");
        check(&house.send(&format!("message {round}")), "held", "`x");
        person.type_in("\u{15}");
        house.settled();
        house.agent.wait("ready", round + 2);
        house.is("ready");
    }
    let expected: Vec<_> = (0..5).map(|round| format!("message {round}")).collect();
    assert_eq!(house.agent.prompts(), expected);
}

#[test]
fn somebody_who_types_into_the_text_has_it() {
    let house = ScriptedAgentServer::ready(&["--swallow-enter", "1", "--work", "100"]);
    let mut person = KeeperClient::connect(&house.server, "a");
    let sending = || {
        let sent = house.send("from a program");
        check(&sent, "drafted", "");
    };
    std::thread::scope(|scope| {
        let sent = scope.spawn(sending);
        house.agent.wait("swallowed", 1);
        person.type_in(" and a person");
        sent.join().unwrap();
    });
    assert_eq!(house.agent.prompts(), [""; 0]);
    // It is no longer ours to clear away.
    check(&house.send("the next"), "held", "from a program and a person");
    person.type_in("\r");
    house.settled();
    assert_eq!(house.agent.prompts(), ["from a program and a person", "the next"]);
}

#[test]
fn looking_on_is_not_typing() {
    let house = ScriptedAgentServer::ready(&["--swallow-enter", "1", "--work", "100"]);
    let mut person = KeeperClient::connect(&house.server, "a");
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| house.send("undisturbed"));
        house.agent.wait("swallowed", 1);
        person.type_in("\u{1b}[I");
        check(&sent.join().unwrap(), "submitted", "");
    });
    wait_for("the prompt", || (house.agent.prompts() == ["undisturbed"]).then_some(()));
}
