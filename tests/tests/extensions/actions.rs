//! Actions of extensions on every interface, and calls with an extension's own rights.

use paned_e2e::{decode_output, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

use crate::support::ExtensionServer;

/// `greeter:hello` greets, `greeter:call` calls an action with the extension's rights.
const GREETER: &str = r#"
waiting = {}
for message in messages():
    method = message.get("method")
    if method == "initialize":
        notify("registerAction", name="hello", description="Greet a person.", kind="question",
               parameters={"type": "object", "required": ["name"], "additionalProperties": False,
                           "properties": {"name": {"type": "string", "description": "Who."}}})
        notify("registerAction", name="call", description="Call an action.", scope="read")
        answer(message)
    elif method == "runAction" and message["params"]["action"] == "greeter:hello":
        answer(message, {"hello": message["params"]["params"]["name"],
                         "caller": message["params"]["caller"]})
    elif method == "runAction":
        waiting[str(message["id"])] = message
        send(id=str(message["id"]), method="executeAction", params=message["params"]["params"])
    elif method is None:
        original = waiting.pop(message["id"])
        answer(original, message.get("result", message.get("error")))
"#;

#[test]
fn an_action_is_there_for_http_the_command_line_and_the_documents() {
    let it = ExtensionServer::start(&[("greeter", "", GREETER)]);
    let answer = it.server.act("greeter:hello", json!({ "name": "Ada" }));
    assert_eq!((&answer["hello"], &answer["caller"]["label"]), (&json!("Ada"), &json!("owner")));
    let refusal = it.server.try_act("greeter:hello", json!({ "nme": "Ada" })).unwrap_err();
    assert_eq!(refusal.code, Code::Invalid, "{refusal}");
    let printed = it.server.answer(&["action", "greeter:hello", "--name", "Bob"]);
    assert_eq!(printed["hello"], "Bob");
    let actions = it.server.ask("GET", "/actions").json();
    let listed = actions.as_array().or_else(|| actions["actions"].as_array()).unwrap();
    let action = listed.iter().find(|action| action["name"] == "greeter:hello").unwrap();
    assert_eq!((&action["scope"], &action["doc"]), (&json!("read"), &json!("Greet a person.")));
    let openapi = it.server.ask("GET", "/openapi.json").json().to_string();
    assert!(openapi.contains("/action/greeter:hello"));
}

#[test]
fn an_extension_may_do_what_its_scopes_say_and_events_name_it() {
    let it = ExtensionServer::start(&[("greeter", "scopes = [\"read\"]", GREETER)]);
    let mut events = it.server.events("action:*", None);
    let panes = it.server.act("greeter:call", json!({ "action": "pane:list" }));
    assert_eq!(panes, json!([]));
    let new = json!({ "action": "pane:new", "params": { "argv": ["true"] } });
    let refused = it.server.act("greeter:call", new);
    assert_eq!(refused["data"]["code"], "forbidden", "{refused}");
    assert!(it.server.act("pane:list", json!({})).as_array().unwrap().is_empty());
    let event = events.until(|event| event.data["actionName"] == "pane:list");
    assert_eq!(event.data["caller"], "ext:greeter", "{event:?}");
    let event = events.until(|event| event.data["actionName"] == "greeter:call");
    assert_eq!(event.data["caller"], "owner");
    let tokens = it.server.act("grant:list", json!({})).to_string();
    assert!(!tokens.contains("ext:greeter"), "{tokens}");
}

#[test]
fn every_call_of_an_extension_is_recorded_also_a_question_and_one_that_is_refused() {
    let it = ExtensionServer::start(&[("greeter", "scopes = [\"read\"]", GREETER)]);
    it.server.act("greeter:call", json!({ "action": "pane:list" }));
    let new = json!({ "action": "pane:new", "params": { "argv": ["true"] } });
    it.server.act("greeter:call", new);
    it.server.act("pane:list", json!({}));
    let history = it.server.history();
    let questions = history.iter().filter(|event| event.data["actionName"] == "pane:list");
    assert!(questions.clone().all(|event| event.data["caller"] == "ext:greeter"));
    let names: Vec<_> = questions.map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["action:start", "action:success"]);
    let refused = history.iter().find(|event| event.data["actionName"] == "pane:new").unwrap();
    assert_eq!(
        (refused.name.as_str(), &refused.data["caller"]),
        ("action:error", &json!("ext:greeter"))
    );
    assert_eq!(refused.data["errorInfo"]["code"], "forbidden");
    assert!(refused.data.get("allowedBy").is_none(), "{refused:?}");
    let audit = it.server.act("audit:list", json!({ "caller": "ext:greeter" })).to_string();
    assert!(audit.contains("pane:new") && audit.contains("forbidden"), "{audit}");
}

#[test]
fn an_action_of_paned_or_of_another_extension_is_not_replaced() {
    let code = r#"
for message in messages():
    if message.get("method") == "initialize":
        first = message
        send(id=1, method="registerAction", params={"name": "pane:list", "description": "x"})
        send(id=2, method="registerAction", params={"name": "greeter:hello", "description": "x"})
        send(id=3, method="registerAction", params={"name": "twice", "description": "x"})
        send(id=4, method="registerAction", params={"name": "twice", "description": "y"})
    elif "method" not in message:
        if "error" in message:
            print(message["id"], message["error"]["data"]["code"], file=sys.stderr)
        if message["id"] == 4:
            answer(first)
"#;
    let it = ExtensionServer::start(&[("greeter", "", GREETER), ("thief", "", code)]);
    let log = wait_for("three refusals", || {
        let log = it.log("thief");
        log.contains("4 conflict").then_some(log)
    });
    assert!(log.contains("1 invalid") && log.contains("2 invalid"), "{log}");
    let answer = it.server.act("greeter:hello", json!({ "name": "Ada" }));
    assert_eq!(answer["hello"], "Ada");
    assert_eq!(it.info("thief")["actions"], json!(["thief:twice"]));
}

#[test]
fn the_process_has_only_its_pipes_and_no_secrets() {
    let it = ExtensionServer::start(&[("greeter", "", GREETER)]);
    let pid = it.pid("greeter");
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environ = String::from_utf8_lossy(&environ);
    assert!(environ.contains("PANED_EXTENSION=greeter"), "{environ}");
    assert!(!environ.contains("PANED_TOKEN") && !environ.contains(&it.server.token()));
    let open: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            Some(std::fs::read_link(path).ok()?.to_string_lossy().into_owned())
        })
        .collect();
    assert_eq!(open.len(), 3, "{open:?}");
    assert!(open.iter().all(|target| target.starts_with("pipe:")), "{open:?}");
}

#[test]
fn a_flood_of_requests_is_bounded_and_the_server_stays_responsive() {
    let code = r#"
import threading
def flood():
    number = 0
    while True:
        number += 1
        send(id=number, method="executeAction", params={"action": "pane:list"})
for message in messages():
    if message.get("method") == "initialize":
        answer(message)
        threading.Thread(target=flood, daemon=True).start()
        break
hang()
"#;
    let it = ExtensionServer::start(&[("flood", "", code)]);
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", it.server.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = memory();
    for _ in 0..200 {
        let panes: Value = it.server.act("pane:list", json!({}));
        assert_eq!(panes, json!([]));
    }
    assert!(memory() < before + 100_000, "{before} {}", memory());
    let (_, _, code) = decode_output(&it.server.cli(&["ls"]));
    assert_eq!(code, 0);
}
