//! The server is killed in the middle: what was accepted is delivered, and nothing twice.

use std::time::Duration;

use paned_e2e::{Dice, wait_for};
use serde_json::json;

use crate::House;

#[test]
fn what_was_accepted_is_delivered_after_a_kill() {
    let mut house = House::ready(&["--work", "300"]);
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
fn a_kill_in_the_middle_of_a_delivery_types_nothing_twice() {
    let mut house = House::ready(&["--work", "100"]);
    let mut dice = Dice::new();
    for round in 0..8 {
        let text = format!("round {round}: a text long enough to be told from others");
        house.send_with(json!({ "text": text, "wait": "none" }));
        // not a wait: the moment of the kill is what is tried
        std::thread::sleep(Duration::from_millis(dice.roll(400)));
        house.server.kill();
        house.server.start_again();
        house.settled();
        let count = house.agent.prompts().iter().filter(|prompt| **prompt == text).count();
        let (_, outcome) = house.delivered().pop().unwrap();
        match outcome.as_str() {
            "submitted" => {
                wait_for("the prompt", || house.agent.prompts().contains(&text).then_some(()));
            }
            "unknown" | "drafted" => assert!(count <= 1),
            other => panic!("{other}"),
        }
        assert!(count <= 1, "{:?}", house.agent.prompts());
        house.server.act("pane:keys", json!({ "paneId": "a", "keys": ["ctrl+u"] }));
        house.is("ready");
    }
}

#[test]
fn what_waits_for_an_agent_that_ends_is_refused() {
    let house = House::ready(&[]);
    house.send("FAKE hang");
    house.is("busy");
    house.send_with(json!({ "text": "later", "wait": "none" }));
    house.server.act("pane:kill", json!({ "paneId": "a" }));
    wait_for("a refusal", || {
        (house.delivered().last()? == &("m2".to_owned(), "refused".to_owned())).then_some(())
    });
}
