//! Many messages to one agent: each once, whole, in the order in which they were accepted.

use std::collections::BTreeMap;
use std::sync::Mutex;

use paned_e2e::wait_for;
use paned_model::Code;
use serde_json::{Value, json};

use crate::{ScriptedAgentServer, at_once, check};

#[test]
fn twenty_at_once_arrive_in_the_order_of_acceptance() {
    let house = ScriptedAgentServer::ready(&["--work", "150"]);
    let accepted = Mutex::new(BTreeMap::new());
    at_once(20, |n| {
        let text = format!("message {n}\nin two lines {}", "and some ".repeat(n * 20));
        let sent = house.send(&text);
        let number: u64 = sent["messageId"].as_str().unwrap()[1..].parse().unwrap();
        assert!(["submitted", "queued"].contains(&sent["outcome"].as_str().unwrap()), "{sent:#}");
        accepted.lock().unwrap().insert(number, text);
    });
    house.settled();
    let accepted: Vec<String> = accepted.into_inner().unwrap().into_values().collect();
    assert_eq!(house.agent.prompts(), accepted);
    assert!(house.delivered().iter().all(|(_, outcome)| outcome == "submitted"));
}

#[test]
fn a_key_is_for_one_message() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let again = json!({ "text": "once", "idempotencyKey": "k" });
    let first = house.send_with(again.clone());
    let second = house.send_with(again.clone());
    assert_eq!(first["messageId"], second["messageId"]);
    assert_eq!(second["outcome"], "submitted");
    let other = house.try_send(json!({ "text": "twice", "idempotencyKey": "k" })).unwrap_err();
    assert_eq!(other.code, Code::Conflict);
    at_once(10, |_| drop(house.send_with(json!({ "text": "crowd", "idempotencyKey": "c" }))));
    house.settled();
    assert_eq!(house.agent.prompts(), ["once", "crowd"]);
}

#[test]
fn busy_is_dealt_with_as_asked() {
    let house = ScriptedAgentServer::ready(&[]);
    house.send("FAKE hang");
    house.is("busy");
    check(&house.send_with(json!({ "text": "no", "whenBusy": "refuse" })), "refused", "busy");
    let queued = house.send("later");
    check(&queued, "queued", "busy");
    assert_eq!(queued["position"], 1);
    let next = house.send("still later");
    check(&next, "queued", "ahead of it");
    assert_eq!(next["position"], 2);
    let broken = house.server.act("agent:interrupt", json!({ "paneId": "a" }));
    assert_eq!(broken["interrupted"], true, "{broken:#}");
    house.settled();
    assert_eq!(house.agent.prompts(), ["FAKE hang", "later", "still later"]);
}

#[test]
fn a_queued_message_is_cancelled_by_its_id_and_the_others_are_typed() {
    let house = ScriptedAgentServer::ready(&[]);
    let cancel = |id: &Value| {
        let params = json!({ "paneId": "a", "messageId": id });
        house.server.try_act("agent:cancel", params)
    };
    let hanging = house.send("FAKE hang");
    house.is("busy");
    let [first, second, third] = ["one", "two", "three"].map(|text| house.send(text));
    for queued in [&first, &second] {
        assert_eq!(cancel(&queued["messageId"]).unwrap()["messageId"], queued["messageId"]);
    }
    wait_for("one in the queue", || (house.state()["queued"] == 1).then_some(()));
    for (id, code, because) in [
        (&first["messageId"], Code::Conflict, "no longer queued"),
        (&hanging["messageId"], Code::Conflict, "no longer queued"),
        (&json!("m999"), Code::NotFound, "no message"),
        (&json!("x"), Code::NotFound, "no message"),
    ] {
        let refusal = cancel(id).unwrap_err();
        assert!(refusal.code == code && refusal.sentence.contains(because), "{refusal:?}");
    }
    house.server.act("agent:interrupt", json!({ "paneId": "a" }));
    house.settled();
    assert_eq!(house.agent.prompts(), ["FAKE hang", "three"]);
    let outcome = |sent: &Value| {
        let id = sent["messageId"].as_str().unwrap();
        house.delivered().into_iter().find(|(of, _)| of == id).unwrap().1
    };
    assert_eq!([&first, &second, &third].map(outcome), ["refused", "refused", "submitted"]);
}

#[test]
fn a_question_does_not_refuse_what_was_reported_to_wait() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    house.send("FAKE say delay=1 words=1 rate=10");
    for text in ["FAKE tool cmd=touch+made.txt", "behind the question"] {
        let sent = house.send_with(json!({ "text": text, "wait": "none" }));
        assert_eq!(sent["outcome"], "queued", "{sent:#}");
    }
    // Its turn comes when the question is on the screen.
    house.is("blocked");
    house.server.act("agent:answer", json!({ "paneId": "a", "option": "no" }));
    house.settled();
    assert_eq!(house.agent.prompts()[2..], ["behind the question"]);
}

#[test]
fn no_more_than_a_hundred_wait() {
    let house = ScriptedAgentServer::ready(&[]);
    house.send("FAKE hang");
    house.is("busy");
    for n in 0..100 {
        house.send_with(json!({ "text": format!("{n}"), "wait": "none" }));
    }
    let full = house.try_send(json!({ "text": "one more", "wait": "none" })).unwrap_err();
    assert_eq!(full.code, Code::Limit);
}
