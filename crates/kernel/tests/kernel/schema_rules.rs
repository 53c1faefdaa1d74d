//! The schema of parameters says what is refused, no more and no less: every field of every action
//! is given many values, alone and in pairs, and what the schema says of them is compared with what
//! the action does.

use paned_kernel::ActionDefinition;
use paned_model::{Code, Scope};
use serde_json::{Map, Value, json};

use crate::schema::accepts;
use crate::test_kernel::TestKernel;

/// Actions that are not called: they end the kernel under test.
const ENDING: [&str; 2] = ["server:stop", "server:upgrade"];
/// Formats that JSON Schema cannot describe; the schema names them, and a value of them is below.
const FORMATS: [(&str, &str); 6] = [
    ("date-time", "2026-01-02T03:04:05Z"),
    ("folder", "/"),
    ("http-address", "http://127.0.0.1:1/"),
    ("key", "ctrl+c"),
    ("layout-toml", ""),
    ("regex", "a.c"),
];
/// Fields whose rule depends on the state of a pane or on the caller, with the reason.
const STATEFUL: [(&str, &str, &str); 7] = [
    ("agent:create", "profile", "it must be the name of a profile"),
    ("agent:message", "notify", "the owner's requests come from no pane"),
    ("agent:set-state", "paneId", "without it the report is about the caller's pane"),
    ("pane:screen", "at", "it must not be beyond the end of the output"),
    ("pane:read", "since", "it must not be beyond the end of the output"),
    ("pane:wait", "since", "it must not be beyond the end of the output"),
    ("pane:run", "timeoutSeconds", "the fake program never ends"),
];

/// Refusals that depend on state.
const STATE_SENTENCES: [&str; 4] = [
    // No machine has a program without a name.
    "must not start with an empty program name",
    "is not tracked as an agent",
    "pass `paneId` to specify the pane",
    "requires a `cwd` in a git repository",
];

/// A kernel with a pane that every call is about.
async fn kernel() -> TestKernel {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    server
}

/// Values that some rule may be about.
fn probes() -> Vec<Value> {
    let texts =
        ["", " ", "a", "a b", "a/b", "-x", "\u{e4}", "a\nb", "a\tb", "a\u{0}b", "/", "/tmp"];
    let more =
        ["%3", "3", "022", "999", "00000", "YQ==", "YR==", "YQ", "pane:x", "Gap", "x:y", "a=b"];
    let mut probes: Vec<Value> = texts.iter().chain(&more).map(|text| json!(text)).collect();
    for length in [65, 129, 201, 257] {
        probes.push(json!("x".repeat(length)));
    }
    for number in [0_u64, 1, 101, 1001, 65536, 86_400_001, 1 << 32] {
        probes.push(json!(number));
    }
    let others = [json!(-1), json!(0.5), json!(true), json!(null), json!([]), json!({})];
    probes.extend(others);
    probes.push(json!([""]));
    probes.push(json!(["a"]));
    probes.push(json!(["a\u{0}"]));
    probes.push(json!(vec!["a"; 65]));
    probes.push(json!({ "": 1 }));
    probes.push(json!({ "agent.sessionId": "x" }));
    probes.push(json!({ "a": "b" }));
    probes.push(json!({ "a=b": "c" }));
    probes.push(json!({ "cols": 1, "rows": 1 }));
    probes.push(json!({ "cols": 80, "rows": 24 }));
    probes
}

/// A value that a field accepts.
fn sample(name: &str, schema: &Value) -> Value {
    if let Some(format) = schema["format"].as_str()
        && let Some((_, text)) = FORMATS.iter().find(|(known, _)| *known == format)
    {
        return json!(text);
    }
    if let Some(first) = schema["items"].get("format").and_then(Value::as_str)
        && let Some((_, text)) = FORMATS.iter().find(|(known, _)| *known == first)
    {
        return json!([text]);
    }
    if let Some(default) = schema.get("default").filter(|default| default.is_string()) {
        return default.clone();
    }
    let usual = match name {
        "paneId" => json!("a"),
        "panes" | "paneIds" => json!(["a"]),
        "scopes" => json!(["read"]),
        "timeoutMs" | "quietMs" | "graceMs" => json!(1),
        "after" => json!("1-2"),
        "argv" => json!(["sh"]),
        "profile" => json!("codex"),
        "tmux" => json!("/tmp/none"),
        "since" => json!(0),
        _ => Value::Null,
    };
    let words = ["anyOf", "oneOf"].iter().find_map(|key| schema[key].as_array());
    let words = words.into_iter().flatten().flat_map(|one| match one["oneOf"].as_array() {
        Some(inner) => inner.clone(),
        None => vec![one.clone()],
    });
    let constants: Vec<Value> = words.filter_map(|one| one.get("const").cloned()).collect();
    let mut candidates = vec![usual];
    candidates.extend(constants);
    candidates.extend(probes());
    let fits = |value: &&Value| !value.is_null() && accepts(schema, value);
    let found = candidates.iter().find(fits);
    found.unwrap_or_else(|| panic!("no sample for `{name}`: {schema}")).clone()
}

/// Whether the parts that the schema only names by a format are beyond this test.
fn has_open_format(schema: &Value) -> bool {
    schema.to_string().contains("\"format\":\"")
        && FORMATS
            .iter()
            .any(|(format, _)| schema.to_string().contains(&format!("\"format\":\"{format}\"")))
}

fn is_stateful(action: &str, field: &str) -> bool {
    STATEFUL.iter().any(|(of, name, _)| *of == action && *name == field)
}

struct Comparison<'a> {
    server: &'a TestKernel,
    name: &'a str,
    schema: &'a Value,
    /// Whether it may start a pane.
    starts: bool,
    mistakes: Vec<String>,
}

impl Comparison<'_> {
    /// Calls the action, and notes where it does something else than its schema says.
    async fn compare(&mut self, params: &Map<String, Value>) {
        let params = Value::Object(params.clone());
        let is_described = accepts(self.schema, &params);
        let body = params.to_string();
        let call = self.server.kernel.dispatch(self.name, body.as_bytes(), &self.server.owner);
        let outcome = tokio::time::timeout(std::time::Duration::from_secs(90), call).await;
        let Ok(outcome) = outcome else { return };
        let refusal = outcome.err();
        let is_invalid = refusal.as_ref().is_some_and(|refusal| refusal.code == Code::Invalid);
        let is_about_state = refusal.as_ref().is_some_and(|refusal| {
            let details = refusal.details.as_ref();
            details.is_some_and(|details| details.get("program").is_some())
                || STATE_SENTENCES.iter().any(|part| refusal.sentence.contains(part))
        });
        let agrees = match is_described {
            true => !is_invalid || is_about_state,
            false => refusal.is_some(),
        };
        if !agrees {
            let what = refusal.map_or_else(|| "accepted".to_owned(), |it| it.sentence);
            let word = if is_described { "valid" } else { "invalid" };
            self.mistakes.push(format!("{}: {word} by its schema: {body}: {what}", self.name));
        }
        // What was started must not fill the table of panes.
        if self.starts {
            close_others(self.server).await;
        }
    }
}

async fn close_others(server: &TestKernel) {
    let act = async |name: &str, params: Value| {
        server.kernel.dispatch(name, params.to_string().as_bytes(), &server.owner).await
    };
    let listed = act("pane:list", json!({})).await.unwrap();
    let panes: Vec<Value> = serde_json::from_str(listed.get()).unwrap();
    for pane in panes.iter().filter(|pane| pane["id"] != "a") {
        let _ = act("pane:close", json!({ "paneId": pane["id"], "force": true })).await;
    }
}

/// The smallest parameters that an action takes: the required ones, and what its rules about
/// several fields ask for.
fn smallest(fields: &Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut params = Map::new();
    for name in required.iter().filter_map(Value::as_str) {
        params.insert(name.to_owned(), sample(name, &fields[name]));
    }
    if accepts(schema, &Value::Object(params.clone())) {
        return params;
    }
    let names: Vec<&String> = fields.keys().collect();
    for one in &names {
        for other in &names {
            let mut more = params.clone();
            more.insert((*one).clone(), sample(one, &fields[*one]));
            more.insert((*other).clone(), sample(other, &fields[*other]));
            if accepts(schema, &Value::Object(more.clone())) {
                return more;
            }
        }
    }
    panic!("no parameters are valid: {schema:#}")
}

async fn compare_action(server: &TestKernel, action: &ActionDefinition) -> Vec<String> {
    let (schema, _) = action.schemas();
    let Some(fields) = schema["properties"].as_object() else { return Vec::new() };
    let mut comparison = Comparison {
        server,
        name: &action.name,
        schema: &schema,
        starts: action.scope == Scope::Spawn,
        mistakes: Vec::new(),
    };
    let base = smallest(fields, &schema);
    comparison.compare(&base).await;
    for (name, field) in fields.iter().filter(|(name, _)| !is_stateful(&action.name, name)) {
        for probe in probes() {
            if has_open_format(field) && (probe.is_string() || probe.is_array()) {
                continue;
            }
            let mut params = base.clone();
            params.insert(name.clone(), probe);
            comparison.compare(&params).await;
        }
        // In pairs: what does not go together.
        for (other, second) in fields.iter().take_while(|(other, _)| *other != name) {
            if is_stateful(&action.name, other) {
                continue;
            }
            let mut params = base.clone();
            params.insert(name.clone(), sample(name, field));
            params.insert(other.clone(), sample(other, second));
            comparison.compare(&params).await;
        }
    }
    comparison.mistakes
}

/// Compares all actions whose name this picks.
async fn compare_all(picks: impl Fn(&str) -> bool) {
    let registry = TestKernel::new().await.kernel.registry();
    let mut mistakes = Vec::new();
    let picked = registry.iter().filter(|action| picks(&action.name));
    for action in picked.filter(|action| !ENDING.contains(&&*action.name)) {
        let server = kernel().await;
        mistakes.extend(compare_action(&server, action).await);
    }
    assert!(mistakes.is_empty(), "{} mistakes:\n{}", mistakes.len(), mistakes.join("\n"));
}

/// Whether an action starts a pane from all that a pane can be given.
fn is_large(name: &str) -> bool {
    matches!(name, "agent:create" | "pane:new" | "pane:run" | "session:start")
}

#[tokio::test(start_paused = true)]
async fn starting_a_pane_refuses_what_its_schema_forbids_and_nothing_else() {
    compare_all(is_large).await;
}

#[tokio::test(start_paused = true)]
async fn actions_on_panes_refuse_what_their_schema_forbids_and_nothing_else() {
    compare_all(|name| name.starts_with("pane:") && !is_large(name)).await;
}

#[tokio::test(start_paused = true)]
async fn actions_on_agents_refuse_what_their_schema_forbids_and_nothing_else() {
    compare_all(|name| name.starts_with("agent:") && !is_large(name)).await;
}

#[tokio::test(start_paused = true)]
async fn all_other_actions_refuse_what_their_schema_forbids_and_nothing_else() {
    let is_other = |name: &str| !name.starts_with("pane:") && !name.starts_with("agent:");
    compare_all(|name| is_other(name) && !is_large(name)).await;
}
