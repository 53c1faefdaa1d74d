//! The questions of an agent as approvals.

use std::fs;

use paned_e2e::{Request, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

use crate::ScriptedAgentServer;

fn open(house: &ScriptedAgentServer) -> Option<Value> {
    let list = house.server.act("approval:list", json!({}));
    list["approvals"].as_array().unwrap().first().cloned()
}

fn ask(house: &ScriptedAgentServer, about: &str) -> Value {
    house.send(&format!("FAKE tool cmd={about}"));
    wait_for("an approval", || open(house))
}

/// What became of an approval, as its event says.
fn outcome(house: &ScriptedAgentServer, id: &Value) -> Vec<Value> {
    let history = house.server.history().into_iter();
    let answered = history.filter(|it| it.name == "approval:answered" && it.data["id"] == *id);
    answered.map(|it| it.data["outcome"].clone()).collect()
}

#[test]
fn an_agents_question_is_an_approval_and_is_answered_as_one() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    for (n, (answer, yes)) in
        [(json!(1), true), (json!("deny"), false), (json!("Yes"), true)].into_iter().enumerate()
    {
        let approval = ask(&house, "touch+made.txt");
        assert_eq!(
            (&approval["kind"], &approval["paneId"], &approval["status"]),
            (&json!("dialog"), &json!("a"), &json!("open"))
        );
        assert_eq!(approval["options"][0]["number"], 1, "{approval:#}");
        assert_eq!(approval["id"], open(&house).unwrap()["id"], "its id stays");
        let request = json!({ "id": approval["id"], "answer": answer });
        let answered = house.server.act("approval:answer", request.clone());
        assert_eq!(answered["approval"]["status"], "used", "{answered:#}");
        assert_eq!(house.agent.wait("answer", n + 1)["yes"], yes);
        let replay = house.server.try_act("approval:answer", request).unwrap_err();
        assert_eq!(replay.code, Code::Conflict, "{replay:?}");
        house.is("ready");
        assert_eq!(outcome(&house, &approval["id"]), ["answered"]);
        assert_eq!(open(&house), None);
    }
}

#[test]
fn a_question_that_was_answered_at_its_screen_cannot_be_answered_any_more() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let approval = ask(&house, "touch+made.txt");
    house.server.act("pane:keys", json!({ "paneId": "a", "keys": ["enter"] }));
    house.agent.wait("answer", 1);
    house.is("ready");
    let next = ask(&house, "touch+other.txt");
    assert_ne!(next["id"], approval["id"]);
    let late = json!({ "id": approval["id"], "answer": 1 });
    let refusal = house.server.try_act("approval:answer", late).unwrap_err();
    assert_eq!(refusal.code, Code::Gone, "{refusal:?}");
    assert_eq!(outcome(&house, &approval["id"]), ["withdrawn"]);
    assert_eq!(house.agent.log().iter().filter(|line| line["event"] == "answer").count(), 1);
}

#[test]
fn an_agent_does_not_answer_its_own_question() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let approval = ask(&house, "touch+made.txt");
    let made = json!({ "scopes": ["read", "input", "approve"], "panes": ["a"] });
    let narrow = house.server.act("grant:create", made)["token"].clone();
    let send = |token: Option<&str>, over_tcp: bool| {
        let request = Request::new("POST", "/action/approval:answer");
        let params = json!({ "id": approval["id"], "answer": 1 });
        let request = request.header("host", &house.server.authority()).json(&params);
        let request = match token {
            Some(token) => request.header("authorization", &format!("Bearer {token}")),
            None => request,
        };
        match over_tcp {
            true => request.over_tcp(&house.server.authority()).outcome(),
            false => request.over_unix(&house.server.socket()).unwrap().outcome(),
        }
    };
    // The token that the agent's own program has.
    let environ = fs::read(format!("/proc/{}/environ", house.server.pane("a")["pid"])).unwrap();
    let variables = environ.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let own = variables.filter_map(|it| Some(it.strip_prefix("PANED_TOKEN=")?.to_owned())).next();
    let own = own.unwrap();
    assert_eq!(send(Some(&own), true).unwrap_err().code, Code::Forbidden);
    assert_eq!(send(Some(&own), false).unwrap_err().code, Code::Forbidden);
    assert!(house.agent.log().iter().all(|line| line["event"] != "answer"));
    send(narrow.as_str(), true).unwrap();
    assert_eq!(house.agent.wait("answer", 1)["yes"], true);
}
