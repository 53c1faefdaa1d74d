//! What follows an end, of an agent or of the server.

use std::fs;

use serde_json::{Value, json};

use super::MiniAgentServer;

#[test]
fn an_agent_is_judged_anew_after_the_server_was_killed() {
    let mut room = MiniAgentServer::new();
    for id in ["idle", "works", "asks", "ends"] {
        room.start(id);
    }
    room.say("works", "work");
    room.until("works", "busy");
    room.say("asks", "ask");
    room.until("asks", "blocked");
    let since = room.server.history().last().unwrap().id.unwrap();
    room.server.kill();
    // Keepers go on: their agents do, too, while nobody looks.
    room.server.start_again();
    assert_eq!(room.state("works"), "busy", "what was known stands until it is known better");
    room.until("idle", "ready");
    let asks = room.until("asks", "blocked");
    assert_eq!(asks["profile"], "mini");
    paned_e2e::wait_for("the question again", || {
        let agent = room.act("agent:state", json!({ "paneId": "asks" }));
        (agent["dialog"]["options"][0]["label"] == "Yes").then_some(())
    });
    room.press("works", "g");
    room.until("works", "ready");
    room.say("ends", "exit 0");
    room.until("ends", "exited");
    let mut events = room.server.events("agent:state", Some(since));
    let told = events.next();
    let is_news = |told: &paned_e2e::ReceivedEvent| told.data["from"] != told.data["to"];
    // A question that is still asked may be told again; no state is told that was told before.
    assert!(is_news(&told) || told.data["paneId"] == "asks", "{:?}", told.data);
    room.server.kill();
    room.server.start_again();
    assert_eq!(room.state("ends"), "exited");
    assert_eq!(room.ids("agent:list", json!({ "state": "exited" })), ["ends"]);
}

#[test]
fn one_that_fails_comes_back_and_one_that_ends_well_does_not() {
    let room = MiniAgentServer::new();
    let more = json!({ "restart": "on-failure", "tags": ["x"] });
    room.act("agent:create", room.mini("fails", &more));
    room.act("agent:create", room.mini("ends", &more));
    let mut events = room.server.events("agent:restarted", None);
    room.say("ends", "exit 0");
    room.until("ends", "exited");
    room.say("fails", "exit 7");
    let told = events.next();
    assert_eq!((&told.data["oldId"], &told.data["attempt"]), (&json!("fails"), &json!(1)));
    let new = told.data["paneId"].as_str().unwrap().to_owned();
    room.until(&new, "ready");
    let pane = room.server.pane(&new);
    assert_eq!((&pane["tags"], &pane["meta"]["agent.replaces"]), (&json!(["x"]), &json!("fails")));
    assert_eq!(room.server.pane("fails")["exitCode"], 7, "what it printed can still be read");
    assert_eq!(room.ids("agent:list", json!({ "state": "ready" })), [new]);
}

#[test]
fn one_whose_server_died_before_it_could_come_back_comes_back() {
    let mut room = MiniAgentServer::new();
    room.act("agent:create", room.mini("fails", &json!({ "restart": "on-failure" })));
    room.say("fails", "exit 7");
    room.until("fails", "exited");
    room.server.kill();
    room.server.start_again();
    let back: Vec<String> = paned_e2e::wait_for("back", || {
        let ready = room.ids("agent:list", json!({ "state": "ready" }));
        (!ready.is_empty()).then_some(ready)
    });
    assert_eq!(back.len(), 1);
    assert_eq!(room.server.pane(&back[0])["meta"]["agent.replaces"], "fails");
}

#[test]
fn one_that_ended_while_no_server_ran_is_not_called_ready() {
    let mut room = MiniAgentServer::new();
    room.start("ends");
    room.until("ends", "ready");
    let program = room.server.pane("ends")["pid"].as_u64().unwrap() as u32;
    room.server.kill();
    paned_e2e::kill9(program);
    let tape = room.server.tape("ends");
    paned_e2e::wait_for("the end on the tape", || tape.ending());
    room.server.start_again();
    assert_eq!(room.state("ends"), "exited");
    let mut told = room.server.history().into_iter().filter(|told| told.name == "agent:state");
    assert_eq!(told.next_back().unwrap().data["to"], "exited");
}

#[test]
fn one_that_is_killed_or_removed_stays_away() {
    let room = MiniAgentServer::new();
    let more = json!({ "restart": "on-failure" });
    room.act("agent:create", room.mini("killed", &more));
    room.act("agent:create", room.mini("removed", &more));
    room.act("pane:kill", json!({ "paneId": "killed", "graceMs": 0 }));
    room.say("removed", "exit 7");
    room.until("removed", "exited");
    room.act("pane:remove", json!({ "paneId": "removed" }));
    // A third one that does come back shows that the others had the time to.
    room.act("agent:create", room.mini("third", &more));
    let mut events = room.server.events("agent:restarted", None);
    room.say("third", "exit 7");
    let told: Value = events.next().data;
    assert_eq!(told["oldId"], "third");
    fs::metadata(room.home()).unwrap();
}
