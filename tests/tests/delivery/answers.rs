//! Questions are answered as asked, turns are broken off, and answers are brought back.

use std::fs;

use paned_e2e::{FakeAgent, Request, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

use crate::ScriptedAgentServer;

#[test]
fn a_question_is_answered_by_number_label_or_meaning() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    for (n, (option, yes)) in
        [(json!("yes"), true), (json!(2), false), (json!("No"), false), (json!("1"), true)]
            .into_iter()
            .enumerate()
    {
        house.send("FAKE tool cmd=touch+made.txt");
        let dialog = house.is("blocked")["dialog"]["id"].clone();
        let params = json!({ "paneId": "a", "option": option, "dialogId": dialog });
        let answered = house.server.act("agent:answer", params);
        assert_eq!(answered["answered"], true, "{answered:#}");
        assert_eq!(house.agent.wait("answer", n + 1)["yes"], yes);
        house.is("ready");
    }
}

#[test]
fn a_question_that_is_gone_is_not_answered() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let answer = |more: Value| {
        let mut params = json!({ "paneId": "a", "option": 1 });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.server.try_act("agent:answer", params)
    };
    assert_eq!(answer(json!({})).unwrap_err().code, Code::Conflict);
    house.send("FAKE tool cmd=touch+made.txt");
    house.is("blocked");
    assert_eq!(answer(json!({ "dialogId": "another" })).unwrap_err().code, Code::Conflict);
    let invalid = answer(json!({ "option": 7 })).unwrap_err();
    assert_eq!(invalid.code, Code::Invalid);
    assert!(invalid.sentence.contains("`Yes`"), "{}", invalid.sentence);
    assert!(house.agent.log().iter().all(|line| line["event"] != "answer"));
}

#[test]
fn a_turn_is_broken_off_and_one_that_is_not_there_is_not() {
    let house = ScriptedAgentServer::ready(&[]);
    let interrupt = || house.server.act("agent:interrupt", json!({ "paneId": "a" }));
    assert_eq!(interrupt()["interrupted"], false);
    house.send("FAKE hang");
    house.is("busy");
    let broken = interrupt();
    assert_eq!(broken["interrupted"], true, "{broken:#}");
    assert_eq!(broken["agent"]["state"], "ready", "{broken:#}");
    house.agent.wait("interrupted", 1);
}

/// An agent in a pane of its own whose token is written down, so that a test can speak from there.
fn asker(house: &ScriptedAgentServer) -> (FakeAgent, String) {
    let asker = FakeAgent::new(&["--work", "100"]);
    let mut params = asker.params("asker");
    let file = format!("{}/token", params["cwd"].as_str().unwrap());
    let script = format!("printf %s \"$PANED_TOKEN\" > {file}; exec {}", asker.argv().join(" "));
    params["argv"] = json!(["/bin/sh", "-c", script]);
    params["profile"] = json!("fake-agent");
    house.server.act("agent:create", params);
    asker.wait("ready", 1);
    (asker, fs::read_to_string(file).unwrap())
}

fn act_as(house: &ScriptedAgentServer, token: &str, action: &str, params: &Value) -> Value {
    let request = Request::new("POST", &format!("/action/{action}"));
    let request = request.header("host", &house.server.authority());
    let request = request.header("authorization", &format!("Bearer {token}")).json(params);
    request.over_tcp(&house.server.authority()).outcome().unwrap()
}

#[test]
fn an_answer_is_brought_back_to_the_asking_pane_once() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let (asker, token) = asker(&house);
    let child = FakeAgent::new(&["--work", "500"]);
    let mut params = child.params("child");
    params["profile"] = json!("fake-agent");
    act_as(&house, &token, "agent:create", &params);
    let params = json!({ "paneId": "child", "text": "a question", "notify": true });
    let sent = act_as(&house, &token, "agent:message", &params);
    assert_eq!(sent["outcome"], "submitted", "{sent:#}");
    let text = wait_for("the answer", || asker.prompts().first().cloned());
    assert!(text.starts_with("<agent_answer>\nFrom: child\n"), "{text}");
    child.wait("ready", 2);
    house.server.act("agent:wait", json!({ "paneId": "asker", "done": true }));
    assert_eq!(asker.prompts().len(), 1);
}

#[test]
fn the_end_of_a_pane_is_told_to_the_agent_that_started_it() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let (asker, token) = asker(&house);
    let params = json!({
        "id": "job", "argv": ["/bin/sh", "-c", "echo done; exit 3"], "notifyOnExit": true,
    });
    act_as(&house, &token, "pane:new", &params);
    let text = wait_for("the notice", || asker.prompts().first().cloned());
    assert!(text.contains("ID: job") && text.contains("Exit Code: 3"), "{text}");
    let next = json!({ "paneId": "asker", "text": "and then?", "whenBusy": "queue" });
    house.server.act("agent:message", next);
    let prompts = wait_for("what came after it", || {
        Some(asker.prompts()).filter(|all| all.last().is_some_and(|last| last == "and then?"))
    });
    assert_eq!(prompts.len(), 2, "there is one notice: {prompts:#?}");
}
