//! Extensions that refuse actions, whatever the interface.

use paned_e2e::{Request, decode_output, kill9};
use paned_model::Code;
use serde_json::json;

use crate::support::ExtensionServer;

/// Refuses programs called `forbidden` and never answers about `slow`.
const GUARD: &str = r#"
for message in messages():
    if message.get("method") == "initialize":
        answer(message)
    elif message.get("method") == "beforeAction":
        params = json.dumps(message["params"]["params"])
        if "forbidden" in params:
            answer(message, {"cancel": True, "reason": "not this program"})
        elif "slow" not in params:
            answer(message, {})
"#;
const VETO: &str = "veto = [\"pane:new\", \"pane:run\", \"shell:run\"]\ntimeoutMs = 500";

#[test]
fn a_veto_holds_over_http_the_command_line_and_another_tools_protocol() {
    let args = ["--compat", "opencode-pty=127.0.0.1:0,open"];
    let it = ExtensionServer::start_with(&args, &[("guard", VETO, GUARD)]);
    let new = json!({ "argv": ["/bin/sh", "-c", "forbidden"] });
    let refusal = it.server.try_act("pane:new", new.clone()).unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert_eq!(refusal.sentence, "the extension `guard` vetoed `pane:new`: not this program");
    let details = json!({ "extension": "guard", "reason": "not this program" });
    assert_eq!(refusal.details, Some(details));
    let request = Request::new("POST", "/action/pane:new").header("host", &it.server.authority());
    let request = request.header("authorization", &format!("Bearer {}", it.server.token()));
    assert_eq!(request.json(&new).over_tcp(&it.server.authority()).status, 403);
    let (_, error, code) = decode_output(&it.server.cli(&["new", "--", "sh", "-c", "forbidden"]));
    assert_eq!(code, i32::from(Code::Vetoed.exit()), "{error}");
    assert!(error.contains("guard") && error.contains("not this program"), "{error}");
    let url = it.server.ready()["compat"]["opencode-pty"].as_str().unwrap().to_owned();
    let authority = url.strip_prefix("http://").unwrap();
    let body = json!({ "command": "/bin/sh", "args": ["-c", "forbidden"] });
    let request = Request::new("POST", "/api/sessions").header("host", authority);
    let reply = request.json(&body).over_tcp(authority);
    assert_ne!(reply.status, 200, "{reply:?}");
    assert!(it.server.act("pane:list", json!({})).as_array().unwrap().is_empty());
    it.server.act("pane:new", json!({ "argv": ["/bin/sh", "-c", "true"] }));
}

#[test]
fn a_required_extension_that_does_not_answer_or_run_refuses() {
    let required = format!("{VETO}\nrequired = true");
    let it = ExtensionServer::start(&[("guard", &required, GUARD)]);
    let new = |word: &str| it.server.try_act("pane:new", json!({ "argv": ["/bin/echo", word] }));
    new("fine").unwrap();
    let refusal = new("slow").unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert!(refusal.sentence.contains("no answer within 500 ms"), "{refusal}");
    kill9(it.pid("guard"));
    // Restarting, or not noticed yet: in either case there is no consent.
    let refusal = new("fine").unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed, "{refusal}");
    it.until_status("guard", "running");
    new("fine").unwrap();
}

#[test]
fn a_required_extension_that_never_starts_refuses_from_the_first_moment() {
    let required = format!("{VETO}\nrequired = true");
    let it = ExtensionServer::start_only(&[], &[("guard", &required, "hang()")]);
    let refusal = it.server.try_act("pane:new", json!({ "argv": ["true"] })).unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert!(refusal.sentence.contains("paned ext info guard"), "{refusal}");
    it.server.act("pane:list", json!({}));
    it.server.act("ext:remove", json!({ "name": "guard" }));
    it.server.act("pane:new", json!({ "argv": ["true"] }));
}

#[test]
fn without_a_veto_of_them_questions_and_input_are_not_recorded() {
    let it = ExtensionServer::start(&[("guard", VETO, GUARD)]);
    it.server.act("pane:list", json!({}));
    let history = it.server.history();
    let asked = history.iter().filter(|event| event.name.starts_with("action:"));
    let names: Vec<_> = asked.map(|event| event.data["actionName"].clone()).collect();
    assert!(!names.contains(&json!("pane:list")), "{names:?}");
}
