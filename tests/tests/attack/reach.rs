//! Grants over a few panes, tried against every action.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use paned_e2e::{FakeAgent, Request, Server, Tmux, wait_for};
use paned_model::{Code, Refusal};
use serde_json::{Value, json};

/// A word that is in everything of the panes that are not the attacker's.
const SECRET: &str = "zanzibar";
/// What the attacker reaches.
const MINE: &str = "mine";
/// What the attacker does not reach: a pane, the session that shows it, and a sub-agent's session
/// that is shown there.
const OTHER: &str = "other";
const SESSION: &str = "vault";
const SUBAGENT: &str = "ses_9";

fn act_as(server: &Server, token: &str, action: &str, params: &Value) -> Result<Value, Refusal> {
    let request = Request::new("POST", &format!("/action/{action}"));
    let request = request.header("host", &server.authority());
    let request = request.header("authorization", &format!("Bearer {token}")).json(params);
    request.over_tcp(&server.authority()).outcome()
}

fn grant(server: &Server, scopes: &[&str], panes: &[&str]) -> String {
    let made = server.act("grant:create", json!({ "scopes": scopes, "panes": panes }));
    made["token"].as_str().unwrap().to_owned()
}

/// How an attack on an action is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeakRule {
    /// The answer is the same whether what is named exists or not.
    Same,
    /// A name that is taken is refused, which tells that it is taken; nothing else may be told.
    Name,
}

/// What is tried with an action: parameters that name what the attacker does not reach. An action
/// without a case fails the test.
#[expect(clippy::too_many_lines, reason = "a table of actions")]
fn cases(action: &str, socket: &str) -> Option<Vec<(LeakRule, Value)>> {
    let on_other = || json!({ "paneId": OTHER });
    let with = |mut params: Value, more: Value| {
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let on = |more: Value| vec![with(on_other(), more)];
    let beside = || json!({ "beside": "%0", "tmux": socket });
    let params = match action {
        "agent:answer" => on(json!({ "option": 1 })),
        "agent:cancel" => on(json!({ "messageId": "m1" })),
        "agent:message" => on(json!({ "text": "x", "wait": "none" })),
        "agent:set-state" => on(json!({ "status": "idle", "runtime": "codex" })),
        "pane:delete-meta" => on(json!({ "keys": ["k"] })),
        "pane:set-meta" => on(json!({ "key": "k", "value": 1 })),
        "pane:update-meta" => on(json!({ "set": { "k": 1 } })),
        "pane:keys" => on(json!({ "keys": ["enter"] })),
        "pane:paste" | "pane:write" => on(json!({ "text": "x" })),
        "pane:rename" => on(json!({ "title": "x" })),
        "pane:resize" => on(json!({ "size": { "cols": 20, "rows": 5 }, "force": true })),
        "pane:wait" => {
            let wait = json!({ "pattern": SECRET, "since": 0, "timeoutMs": 1 });
            let several = with(json!({ "paneIds": [MINE, OTHER], "mode": "any" }), wait.clone());
            vec![with(on_other(), wait), several]
        }
        "agent:wait" => on(json!({ "done": true, "timeoutMs": 1 })),
        "layout:place" => {
            vec![with(on_other(), json!({ "session": SESSION })), with(on_other(), beside())]
        }
        "agent:explain" | "agent:interrupt" | "agent:last" | "agent:messages" | "agent:record"
        | "agent:restart" | "agent:state" | "layout:hide" | "pane:activate" | "pane:close"
        | "pane:get" | "pane:get-meta" | "pane:kill" | "pane:marks" | "pane:read"
        | "pane:record" | "pane:release" | "pane:remove" | "pane:restart" | "pane:screen" => {
            on(json!({}))
        }
        "pane:prune" => vec![json!({}), json!({ "tag": SECRET, "dryRun": true })],
        "pane:tag" => on(json!({ "add": ["x"], "remove": [SECRET] })),
        "agent:cleanup" | "agent:list" | "agent:profiles" | "grant:list" | "pane:list"
        | "server:status" | "server:stop" | "server:upgrade" | "session:list" => {
            vec![json!({})]
        }
        "agent:create" => vec![with(json!({ "argv": ["cat"], "waitReady": false }), beside())],
        "event:list" => vec![json!({ "limit": 1000 }), json!({ "paneId": OTHER, "limit": 1000 })],
        "event:emit" => vec![json!({ "name": "ci:done", "payload": on_other() })],
        "grant:create" => {
            vec![json!({ "scopes": ["read"] }), json!({ "scopes": ["read"], "panes": [OTHER] })]
        }
        "grant:create-code" => {
            let on_other = json!({ "scopes": ["read"], "panes": [OTHER] });
            vec![json!({ "scopes": ["read"] }), on_other]
        }
        "ext:list" | "ext:reload" => vec![json!({})],
        "ext:info" | "ext:logs" | "ext:remove" => vec![json!({ "name": "x" })],
        "ext:install" => vec![json!({ "source": "/nowhere" })],
        "ext:new" => vec![json!({ "name": "x", "language": "python" })],
        "ext:set" => vec![json!({ "name": "x", "enabled": false })],
        "grant:revoke" => vec![json!({ "id": "owner" })],
        "layout:apply" => {
            vec![json!({ "toml": "", "session": SESSION }), with(json!({ "toml": "" }), beside())]
        }
        "layout:get" => vec![json!({ "session": SESSION }), beside()],
        "layout:plan" => vec![
            json!({ "panes": [OTHER], "session": SESSION }),
            json!({ "panes": [MINE], "session": SESSION }),
            with(json!({ "panes": [MINE] }), beside()),
        ],
        "layout:save" => {
            vec![json!({ "name": "x", "session": SESSION }), with(json!({ "name": "x" }), beside())]
        }
        "permission:test" => vec![json!({ "argv": ["ls"] })],
        "pane:adopt" => vec![json!({ "tmux": socket, "pane": "%0" })],
        "pane:new" => {
            let named = json!({ "id": OTHER, "argv": ["cat"] });
            let beside = with(json!({ "argv": ["cat"] }), beside());
            let replaces = with(named.clone(), json!({ "replace": true }));
            let named = [named, replaces].map(|params| (LeakRule::Name, params));
            return Some(named.into_iter().chain([(LeakRule::Same, beside)]).collect());
        }
        "session:start" => {
            return Some(vec![(LeakRule::Name, json!({ "name": SESSION, "argv": ["cat"] }))]);
        }
        "pane:run" => {
            return Some(vec![(LeakRule::Name, json!({ "id": OTHER, "argv": ["true"] }))]);
        }
        "pane:search" => {
            vec![json!({ "pattern": SECRET }), json!({ "pattern": SECRET, "panes": [OTHER] })]
        }
        "session:stop" => vec![json!({ "name": SESSION })],
        "shell:run" => vec![json!({ "command": "true" })],
        "subagent:closed" => vec![json!({ "id": SUBAGENT })],
        "subagent:opened" => {
            vec![with(json!({ "id": SUBAGENT, "parentId": "ses_0" }), beside())]
        }
        "tmux:list" => vec![json!({}), json!({ "tmux": socket })],
        _ => return None,
    };
    Some(params.into_iter().map(|params| (LeakRule::Same, params)).collect())
}

/// The same parameters about things that do not exist.
fn elsewhere(params: &Value) -> Value {
    let mut text = params.to_string();
    for (there, nowhere) in [(OTHER, "ghost"), (SESSION, "ghosts"), (SUBAGENT, "ses_ghost")] {
        text = text.replace(&format!("\"{there}\""), &format!("\"{nowhere}\""));
    }
    serde_json::from_str(&text).unwrap()
}

/// An outcome without the names that the caller itself said.
fn anonymous(outcome: &Result<Value, Refusal>) -> (Option<Code>, String) {
    let (code, mut text) = match outcome {
        Ok(answer) => (None, answer.to_string()),
        Err(refusal) => (Some(refusal.code), refusal.sentence.clone()),
    };
    for name in [OTHER, SESSION, SUBAGENT, "ghosts", "ses_ghost", "ghost"] {
        text = text.replace(&format!("`{name}`"), "`NAME`");
    }
    (code, text)
}

/// What must not change: the pane, except for its size, which a neighbour in the same window may
/// change.
fn others(server: &Server, panes: &[String]) -> Vec<Value> {
    let one = |id: &String| {
        let got = server.try_act("pane:get", json!({ "paneId": id }));
        let mut info = got.unwrap_or_else(|refusal| json!({ "gone": refusal.sentence }));
        info.as_object_mut().unwrap().remove("size");
        info
    };
    panes.iter().map(one).collect()
}

/// A server with a pane `mine`, and all that an attacker with a grant over it is after.
fn start_with_secrets() -> (Server, Vec<String>) {
    let server = Server::start();
    server.act("session:start", json!({ "name": SESSION, "argv": ["cat"] }));
    server.act("pane:new", json!({
        "id": OTHER, "argv": ["sh", "-c", format!("echo {SECRET}; exec cat")], "session": SESSION,
        "visible": "always", "title": SECRET, "meta": { "who": SECRET }, "tags": [SECRET],
    }));
    server.act("pane:wait", json!({ "paneId": OTHER, "pattern": SECRET, "since": 0 }));
    let opened = server.act("subagent:opened", json!({
        "id": SUBAGENT, "parentId": "ses_0", "title": SECRET, "argv": ["sh", "-c", "echo x; exec cat"],
        "session": SESSION,
    }));
    // Not shown in the session: then the grant would reach a part of that.
    let mine = json!({ "id": MINE, "argv": ["cat"], "visible": "never" });
    server.act("pane:new", mine);
    let subagent = opened["paneId"].as_str().unwrap().to_owned();
    (server, vec![OTHER.to_owned(), subagent])
}

/// Tries every action, and says what it could do or see.
fn attack(server: &Server, token: &str, panes: &[String]) -> Vec<String> {
    let socket = Tmux::of(server).path().to_owned();
    let actions = server.ask("GET", "/actions").json();
    let actions: BTreeSet<&str> =
        actions.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(50 < actions.len(), "{actions:?}");
    let mut before = others(server, panes);
    let mut found = Vec::new();
    for action in actions {
        let Some(cases) = cases(action, &socket) else {
            found.push(format!("what does {action} reach? It needs a case here"));
            continue;
        };
        for (judge, params) in cases {
            let outcome = act_as(server, token, action, &params);
            let nowhere = act_as(server, token, action, &elsewhere(&params));
            let mut find = |what: String| found.push(format!("{action} {params} {what}"));
            let told = match &outcome {
                Ok(answer) => answer.to_string(),
                Err(refusal) => refusal.sentence.clone(),
            };
            let names_other = panes.iter().any(|pane| told.contains(&format!("\"{pane}\"")));
            if told.contains(SECRET) || judge == LeakRule::Same && outcome.is_ok() && names_other {
                find(format!("shows: {told}"));
            }
            let (here, there) = (anonymous(&outcome), anonymous(&nowhere));
            if judge == LeakRule::Same && outcome.is_err() && here != there {
                find(format!("tells what exists: {here:?}, elsewhere {there:?}"));
            }
            let after = others(server, panes);
            if after != before {
                find(format!("changes {before:?} to {after:?}"));
                before = after;
            }
        }
    }
    found
}

#[test]
fn no_action_touches_or_shows_what_a_narrow_grant_does_not_reach() {
    let (server, panes) = start_with_secrets();
    let token = grant(&server, &["read", "input", "spawn", "kill", "approve"], &[MINE]);
    let found = attack(&server, &token, &panes);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn admin_over_some_panes_is_not_admin_over_the_others() {
    let (server, panes) = start_with_secrets();
    let token = grant(&server, &["admin"], &[MINE]);
    let found = attack(&server, &token, &panes);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(server.ask("GET", "/health").json()["status"], "ok");
}

#[test]
fn a_session_is_stopped_by_who_reaches_all_of_it() {
    let (server, _) = start_with_secrets();
    server.act(
        "pane:new",
        json!({ "id": "a", "argv": ["cat"], "session": "mixed", "visible": "always" }),
    );
    server.act(
        "pane:new",
        json!({ "id": "b", "argv": ["cat"], "session": "mixed", "visible": "always" }),
    );
    let token = grant(&server, &["read", "kill"], &["a"]);
    let stop = json!({ "name": "mixed" });
    assert_eq!(act_as(&server, &token, "session:stop", &stop).unwrap_err().code, Code::Forbidden);
    let listed = act_as(&server, &token, "session:list", &json!({})).unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["panes"]), (1, &json!(["a"])));
    let window = act_as(&server, &token, "layout:get", &json!({ "session": "mixed" })).unwrap();
    let shown: Vec<_> = window["panes"].as_array().unwrap().iter().map(|it| &it["pane"]).collect();
    assert_eq!((shown, &window["layout"]), (vec![&json!("a")], &Value::Null));
    let both = grant(&server, &["read", "kill"], &["a", "b"]);
    let stopped = act_as(&server, &both, "session:stop", &stop).unwrap();
    let closed: BTreeSet<_> =
        stopped["closed"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(closed, BTreeSet::from(["\"a\"".to_owned(), "\"b\"".to_owned()]));
}

/// A server that knows the scripted agent.
fn with_agents(config: &str) -> Server {
    let server = Server::start_set(config, &[]);
    let profiles = server.state().parent().unwrap().join(".config/paned/profiles");
    fs::create_dir_all(&profiles).unwrap();
    fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
    server
}

/// The parameters of a scripted agent that writes its token down, and where.
fn telling(agent: &FakeAgent, id: &str) -> (Value, String) {
    let mut params = agent.params(id);
    let file = format!("{}/token", params["cwd"].as_str().unwrap());
    let script = format!("printf %s \"$PANED_TOKEN\" > {file}; exec {}", agent.argv().join(" "));
    params["argv"] = json!(["/bin/sh", "-c", script]);
    params["profile"] = json!("fake-agent");
    (params, file)
}

fn state(server: &Server, pane: &str) -> Value {
    server.act("agent:state", json!({ "paneId": pane }))["state"].clone()
}

#[test]
fn an_agent_does_not_answer_its_own_question() {
    let server = with_agents("");
    let agent = FakeAgent::new(&["--work", "100"]);
    let (params, file) = telling(&agent, "a");
    server.act("agent:create", params);
    let token = fs::read_to_string(file).unwrap();
    let ask = json!({ "paneId": "a", "text": "FAKE tool cmd=touch+made.txt" });
    server.act("agent:message", ask);
    wait_for("the question", || (state(&server, "a") == "blocked").then_some(()));
    let socket = |token: &str, action: &str, params: &Value| {
        let request = Request::new("POST", &format!("/action/{action}"));
        let request = request.header("host", "paned").header("x-paned-token", token).json(params);
        request.over_unix(&server.socket()).unwrap().outcome()
    };
    for (action, params) in [
        ("pane:keys", json!({ "paneId": "a", "keys": ["enter"] })),
        ("pane:write", json!({ "paneId": "a", "text": "1" })),
        ("pane:write", json!({ "paneId": "a", "text": "", "enter": true })),
        ("pane:paste", json!({ "paneId": "a", "text": "1" })),
        ("pane:resize", json!({ "paneId": "a", "size": { "cols": 80, "rows": 2 } })),
        ("agent:interrupt", json!({ "paneId": "a" })),
        ("agent:answer", json!({ "paneId": "a", "option": 1 })),
    ] {
        let outcome = act_as(&server, &token, action, &params);
        assert_eq!(outcome.unwrap_err().code, Code::Forbidden, "{action}");
        // A program in a pane has the owner's permissions over the socket. Its input still counts
        // as that pane's input.
        let outcome = socket(&token, action, &params);
        assert_eq!(outcome.unwrap_err().code, Code::Forbidden, "{action} by the socket");
    }
    assert_eq!(state(&server, "a"), "blocked");
    // Others may: who has `input` types, who has `approve` answers.
    let approver = grant(&server, &["approve"], &["a"]);
    let answered =
        act_as(&server, &approver, "agent:answer", &json!({ "paneId": "a", "option": 1 }));
    assert_eq!(answered.unwrap()["answered"], true);
}

/// A screen that the agent has cleared, or a pane that is too small, hides a question: so no state
/// of the agent permits it to type into its own pane.
#[test]
fn an_agent_that_shows_no_question_types_nothing_into_its_own_pane() {
    let server = with_agents("");
    let agent = FakeAgent::new(&["--work", "100"]);
    let (params, file) = telling(&agent, "a");
    server.act("agent:create", params);
    let token = fs::read_to_string(file).unwrap();
    wait_for("an idle agent", || (state(&server, "a") == "ready").then_some(()));
    for (action, params) in [
        ("pane:keys", json!({ "paneId": "a", "keys": ["enter"] })),
        ("pane:write", json!({ "paneId": "a", "text": "1" })),
        ("pane:resize", json!({ "paneId": "a", "size": { "cols": 80, "rows": 2 } })),
    ] {
        let refusal = act_as(&server, &token, action, &params).unwrap_err();
        assert_eq!(refusal.code, Code::Forbidden, "{action}");
    }
}

#[test]
fn at_the_limit_nobody_elses_agent_makes_room() {
    let server = with_agents("[limits]\nagents = 2\n");
    let agents: BTreeMap<_, _> =
        ["boss", "idle"].map(|id| (id, FakeAgent::new(&["--work", "100"]))).into();
    let mut token = String::new();
    for (id, agent) in &agents {
        let (params, file) = telling(agent, id);
        server.act("agent:create", params);
        wait_for("an idle agent", || (state(&server, id) == "ready").then_some(()));
        if *id == "boss" {
            token = fs::read_to_string(file).unwrap();
        }
    }
    let more = FakeAgent::new(&["--work", "100"]);
    let (params, _) = telling(&more, "more");
    let refused = act_as(&server, &token, "agent:create", &params).unwrap_err();
    assert_eq!(refused.code, Code::Limit, "{refused:?}");
    assert_eq!(server.pane("idle")["status"], "running");
    // The owner reaches all of them.
    server.act("agent:create", params);
}

#[test]
fn a_command_in_a_pane_does_not_end_that_pane_by_mistake() {
    let server = Server::start();
    let paned = paned_e2e::binary();
    let paned = paned.display();
    let script = format!(
        "{paned} kill \"$PANED_PANE\"; echo \"code $?\"; {paned} close \"$PANED_PANE\"; echo \"code $?\"; \
         {paned} kill --self \"$PANED_PANE\""
    );
    let mut events = server.events("pane:exited", None);
    server.act("pane:new", json!({ "id": "a", "argv": ["sh", "-c", script] }));
    events.until_exit("a");
    let text = server.text("a");
    assert_eq!(text.matches("--self").count(), 2, "{text}");
    assert_eq!(server.pane("a")["status"], "killed", "{text}");
}
