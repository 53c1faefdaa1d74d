//! An action is defined once: HTTP, the command line and OpenAPI all show the same.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../crates/kernel/tests/kernel/schema.rs"]
mod schema;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use paned_e2e::{FakeAgent, Request, Server, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

fn names(actions: &Value) -> BTreeSet<String> {
    let actions = actions.as_array().unwrap().iter();
    actions.map(|action| action["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_action_is_the_same_through_every_face() {
    let server = Server::start();
    let listed = server.ask("GET", "/actions").json();
    let actions = names(&listed);
    assert!(20 <= actions.len());

    let cli = server.cli(&["list", "--json"]);
    assert_eq!(names(&serde_json::from_slice(&cli.stdout).unwrap()), actions);

    let openapi = server.ask("GET", "/openapi.json").json();
    let paths = openapi["paths"].as_object().unwrap().keys();
    let described: BTreeSet<String> =
        paths.filter_map(|path| path.strip_prefix("/action/")).map(str::to_owned).collect();
    assert_eq!(described, actions);

    for action in listed.as_array().unwrap() {
        check(&server, action);
    }
}

/// Each is reached over HTTP and by command, and refuses an unknown field with the same sentence.
fn check(server: &Server, action: &Value) {
    let name = action["name"].as_str().unwrap();
    for schema in ["params", "answer"] {
        assert!(action[schema].is_object(), "{name} has no schema of its {schema}");
    }
    assert!(action["doc"].as_str().unwrap().ends_with('.'), "{name}");
    if name == "agent:set-state" {
        // Whatever a hook has to say.
        return assert_eq!(action["params"]["additionalProperties"], true);
    }
    assert_eq!(action["params"]["additionalProperties"], false, "{name}");
    let body = serde_json::json!({ "no such field": 1 });
    let request =
        Request::new("POST", &format!("/action/{name}")).header("host", "paned").json(&body);
    let over_http = request.over_unix(&server.socket()).unwrap().outcome().unwrap_err();
    assert!(over_http.sentence.contains("no such field"), "{name}: {over_http}");
    let by_command = server.cli(&["action", name, "--body", &body.to_string()]);
    let said = String::from_utf8(by_command.stderr).unwrap();
    assert!(said.contains(&over_http.sentence), "{name}: {said}");
    assert_eq!(by_command.status.code(), Some(i32::from(over_http.code.exit())));
}

/// A server whose every answer is compared with what it says of its answers.
struct SchemaCheckedServer {
    server: Server,
    actions: Value,
}

impl SchemaCheckedServer {
    fn start() -> Self {
        let server = Server::start();
        let profiles = server.state().parent().unwrap().join(".config/paned/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
        let actions = server.ask("GET", "/actions").json();
        Self { server, actions }
    }

    #[track_caller]
    fn act(&self, name: &str, params: Value) -> Value {
        let answer = self.server.act(name, params);
        let mut actions = self.actions.as_array().unwrap().iter();
        let action = actions.find(|action| action["name"] == name).unwrap();
        schema::check(name, &action["answer"], &answer);
        answer
    }

    /// The same for one that only needs a pane.
    #[track_caller]
    fn act_on(&self, pane: &str, names: &[&str]) {
        for name in names {
            self.act(name, json!({ "paneId": pane }));
        }
    }
}

#[test]
fn panes_and_the_server_answer_as_they_are_described() {
    let described = SchemaCheckedServer::start();
    let script = "printf 'one\\ntwo\\n'; exec cat";
    described.act("pane:new", json!({ "id": "a", "argv": ["sh", "-c", script] }));
    described.act("pane:wait", json!({ "paneId": "a", "pattern": "two", "since": 0 }));
    described.act("pane:wait", json!({ "paneId": "a", "pattern": "three", "timeoutMs": 1 }));
    for view in ["lines", "raw", "rendered"] {
        described.act("pane:read", json!({ "paneId": "a", "view": view }));
    }
    described.act("pane:search", json!({ "pattern": "o" }));
    described.act("pane:write", json!({ "paneId": "a", "text": "x" }));
    described.act("pane:paste", json!({ "paneId": "a", "text": "x", "submit": true }));
    described.act("pane:keys", json!({ "paneId": "a", "keys": ["enter"] }));
    described.act("pane:resize", json!({ "paneId": "a", "size": { "cols": 90, "rows": 30 } }));
    described.act("pane:rename", json!({ "paneId": "a", "title": "A" }));
    described.act("pane:set-meta", json!({ "paneId": "a", "key": "k", "value": [1] }));
    described.act("pane:update-meta", json!({ "paneId": "a", "set": { "l": 2 } }));
    described.act_on("a", &["pane:get", "pane:screen", "pane:get-meta", "pane:kill"]);
    described.act("pane:run", json!({ "argv": ["sh", "-c", "exit 3"] }));
    described.act("shell:run", json!({ "command": "echo x" }));
    described.act("grant:create", json!({ "scopes": ["read"], "label": "x" }));
    described.act("grant:create-code", json!({ "scopes": ["read"], "label": "x" }));
    described.act("event:emit", json!({ "name": "x:y", "payload": 1 }));
    for name in ["server:status", "pane:list", "grant:list", "agent:profiles", "session:list"] {
        described.act(name, json!({}));
    }
    described.act_on("a", &["pane:close"]);
}

#[test]
fn agents_answer_as_they_are_described() {
    let described = SchemaCheckedServer::start();
    let agent = FakeAgent::new(&[]);
    let mut params = agent.params("a");
    params["profile"] = json!("fake-agent");
    described.act("agent:create", params);
    described.act("agent:wait", json!({ "paneId": "a", "state": "ready" }));
    described.act("agent:message", json!({ "paneId": "a", "text": "hello", "wait": "done" }));
    described.act("agent:wait", json!({ "paneId": "a", "blocked": true, "timeoutMs": 1 }));
    described.act_on("a", &["agent:state", "agent:explain", "agent:messages", "agent:last"]);
    described.act_on("a", &["agent:interrupt"]);
    for name in ["agent:list", "server:status", "pane:list", "agent:cleanup"] {
        described.act(name, json!({}));
    }
}

/// Calls a compatible route, and compares its answer with the document.
#[track_caller]
fn compat(described: &SchemaCheckedServer, route: &str, path: &str, body: Option<Value>) -> Value {
    let server = &described.server;
    let (method, pattern) = route.split_once(' ').unwrap();
    let request = Request::new(method, path).header("host", "paned");
    let request = match &body {
        Some(body) => request.json(body),
        None => request,
    };
    let reply = request.over_unix(&server.socket()).unwrap();
    assert_eq!(reply.status, 200, "{route}: {}", reply.body);
    let document = server.ask("GET", "/openapi.json").json();
    let operation = &document["paths"][pattern][method.to_ascii_lowercase()];
    let media = operation["responses"]["200"]["content"].as_object().unwrap().values().next();
    schema::check(route, &media.unwrap()["schema"], &reply.json());
    if let Some(body) = body {
        let media = operation["requestBody"]["content"].as_object().unwrap().values().next();
        schema::check(route, &media.unwrap()["schema"], &body);
    }
    reply.json()
}

#[test]
fn compatible_routes_answer_as_they_are_described() {
    let described = SchemaCheckedServer::start();
    let agent = FakeAgent::new(&[]);
    let mut params = agent.params("a");
    params["profile"] = json!("fake-agent");
    params["tags"] = json!(["agentmux"]);
    described.act("agent:create", params);
    for name in ["health", "sessions", "idle", "capture"] {
        let path = format!("/compat/agentmux/{name}");
        compat(&described, &format!("GET {path}"), &path, None);
    }
    let key = Some(json!({ "key": "Escape", "repeat": "2" }));
    compat(&described, "POST /compat/agentmux/key", "/compat/agentmux/key", key);
    for name in ["status", "messages"] {
        let route = format!("GET /compat/agentapi/{{pane}}/{name}");
        compat(&described, &route, &format!("/compat/agentapi/a/{name}"), None);
    }
    let said = Some(json!({ "content": "x", "type": "raw" }));
    compat(&described, "POST /compat/agentapi/message", "/compat/agentapi/message", said);
    let sessions = "/compat/opencode-pty/api/sessions";
    let create = Some(json!({ "command": "cat", "args": [], "description": "a cat" }));
    let made = compat(&described, &format!("POST {sessions}"), sessions, create);
    let one = format!("{sessions}/{}", made["id"].as_str().unwrap());
    compat(&described, &format!("GET {sessions}"), sessions, None);
    compat(&described, &format!("GET {sessions}/{{id}}"), &one, None);
    let input = Some(json!({ "data": "x" }));
    compat(&described, &format!("POST {sessions}/{{id}}/input"), &format!("{one}/input"), input);
    for view in ["raw", "plain"] {
        let route = format!("GET {sessions}/{{id}}/buffer/{view}");
        compat(&described, &route, &format!("{one}/buffer/{view}"), None);
    }
    let health = "/compat/opencode-pty/health";
    compat(&described, &format!("GET {health}"), health, None);
    compat(&described, &format!("DELETE {sessions}/{{id}}"), &one, None);
    let cleanup = format!("{one}/cleanup");
    compat(&described, &format!("DELETE {sessions}/{{id}}/cleanup"), &cleanup, None);
}

/// What `tests/openapi/hooks.py` leaves out: actions that end the server, and streams.
#[test]
fn the_end_of_a_server_is_answered_as_it_is_described() {
    let mut described = SchemaCheckedServer::start();
    for name in ["server:stop", "server:upgrade"] {
        let refused = described.server.try_act(name, json!({ "now": true })).unwrap_err();
        assert_eq!(refused.code, Code::Invalid, "{name}");
    }
    described.act("server:upgrade", json!({}));
    described.act("server:stop", json!({}));
    wait_for("the end of the server", || described.server.child().try_wait().unwrap());
}

#[test]
fn a_stream_is_refused_as_it_is_described() {
    let server = Server::start();
    let document = server.ask("GET", "/openapi.json").json();
    for (path, query, status, media) in [
        ("/events", "?since=x", 400, "application/json"),
        ("/events", "?include=**", 400, "application/json"),
        ("/compat/agentapi/events", "", 404, "application/problem+json"),
        ("/compat/agentapi/{pane}/events", "", 404, "application/problem+json"),
    ] {
        let reply = server.ask("GET", &format!("{}{query}", path.replace("{pane}", "none")));
        assert_eq!((reply.status, reply.header("content-type")), (status, Some(media)), "{path}");
        let responses = &document["paths"][path]["get"]["responses"];
        let described = responses[status.to_string()]["$ref"].as_str().unwrap();
        let described = document.pointer(&described[1..]).unwrap();
        assert!(described["content"][media].is_object(), "{path}: {described}");
        assert!(responses["200"]["content"]["text/event-stream"].is_object(), "{path}");
    }
}

#[test]
fn the_description_is_valid_openapi_3_1() {
    let server = Server::start();
    let text = server.ask("GET", "/openapi.json").body;
    let file = server.state().join("openapi.json");
    std::fs::write(&file, &text).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let ensure = Command::new(root.join("scripts/ensure")).arg("openapi").status().unwrap();
    assert!(ensure.success());
    let validator = root.join(".cache/openapi/bin/openapi-spec-validator");
    let checked = Command::new(validator).args(["--schema", "3.1"]).arg(&file).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn metrics_and_health_say_how_it_is() {
    let server = Server::start();
    server.act("pane:new", serde_json::json!({ "id": "a", "argv": ["cat"] }));
    let metrics = server.ask("GET", "/metrics");
    assert_eq!(metrics.status, 200);
    assert!(metrics.body.contains("paned_panes{status=\"running\"} 1"), "{}", metrics.body);
    let open = Request::new("GET", "/health").header("host", &server.authority());
    let open = open.over_tcp(&server.authority()).json();
    assert_eq!(open, serde_json::json!({ "status": "ok" }), "anyone hears no more than that");
    let known = server.ask("GET", "/health").json();
    assert_eq!((&known["status"], &known["pid"]), (&"ok".into(), &server.pid().into()));
}
