//! `agent:set-state`

use std::str::FromStr;

use paned_model::{AgentState, BlockKind, PaneId, Refusal, Scope};
use paned_policy::agent::HookReport;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::meta;
use crate::actions::support::meta::MetaChangeOutput;
use crate::actions::support::param_rules::any_case;
use crate::agents::{AgentOrigin, AgentRequest, GENERIC, SESSION, is_session_id};
use crate::registry::{Action, ActionContext, ActionKind};

/// The maximum length of one field; a hook may send a whole tool's output.
const LONGEST: usize = 64 << 10;
/// The maximum number of fields that are read.
const MOST: usize = 64;

/// The words for a status that are understood, in any case.
const STATUS_WORDS: [&str; 15] = [
    "running",
    "busy",
    "working",
    "idle",
    "ready",
    "waiting",
    "error",
    "failed",
    "blocked",
    "permission",
    "starting",
    "limited",
    "exited",
    "done",
    "unknown",
];
/// A session id, as [`is_session_id`] accepts it.
const SESSION_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$";

pub(in crate::actions) struct AgentSetState;

/// Whatever a hook sends: flat, with `agent.` before each key, or under `agent`.
#[derive(Deserialize)]
pub(in crate::actions) struct Params(Map<String, Value>);

impl JsonSchema for Params {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentReport".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let field = |doc: &str, mut schema: Value| {
            schema["description"] = json!(doc);
            schema
        };
        json_schema!({
            "type": "object",
            "description": "A hook's report. Fields may also have the prefix `agent.`, or be \
                           nested under `agent`; other fields are used as evidence as well.",
            "properties": {
                "paneId": field("The pane; defaults to the caller's.", id(PaneId::PATTERN)),
                "runtime": field("The agent program: the name of a profile.", json!({})),
                "sessionId": field("The agent's own session id.", id(SESSION_PATTERN)),
                "status": field(
                    "Its status: `running`, `idle`, `error`, or a state of `agent:state`.",
                    text(&status_pattern()),
                ),
                "kind": field(
                    "The kind of question it is waiting on: `permission`, `plan`, `question`, …",
                    json!({}),
                ),
                "error": field("The error message.", json!({})),
                "event": field(
                    "The hook's name of the event; `hook_event_name` and `type` are synonyms.",
                    json!({}),
                ),
                "agent": { "patternProperties": synonyms() },
            },
            "patternProperties": synonyms(),
            "additionalProperties": true,
        })
    }
}

/// The rules of fields under all their names.
fn synonyms() -> Value {
    json!({
        r"^(agent\.)?(paneId|pane|pane_id)$": id(PaneId::PATTERN),
        r"^(agent\.)?(sessionId|session_id|sessionID)$": id(SESSION_PATTERN),
        r"^(agent\.)?(status|state)$": text(&status_pattern()),
    })
}

/// A text of this pattern. A list, an object or null says nothing and is ignored.
fn text(pattern: &str) -> Value {
    json!({ "type": ["string", "array", "object", "null"], "pattern": pattern })
}

/// The same for an id, which a number or a boolean can be as well.
fn id(pattern: &str) -> Value {
    let mut schema = text(pattern);
    schema["type"] = json!(["string", "array", "object", "null", "boolean", "number"]);
    schema["minimum"] = json!(0);
    schema
}

/// The pattern of the words for a status.
fn status_pattern() -> String {
    let words: Vec<String> = STATUS_WORDS.iter().map(|word| any_case(word)).collect();
    format!("^({})$", words.join("|"))
}

/// A report in its parsed form.
#[derive(Debug, Default, PartialEq)]
struct AgentHookReport {
    pane: Option<String>,
    runtime: Option<String>,
    session: Option<String>,
    status: Option<String>,
    error: Option<String>,
    report: HookReport,
}

impl Action for AgentSetState {
    const NAME: &'static str = "agent:set-state";
    const DOC: &'static str = "Report an agent's state from its own hooks. It is weighed with \
                              the evidence on its screen.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["*"];
    type Params = Params;
    type Answer = MetaChangeOutput;

    fn access(Params(fields): &Params) -> AccessRequest {
        // Without `paneId` it is the caller's own pane; what cannot be parsed is refused in `run`.
        let named =
            AgentHookReport::read(fields).ok().and_then(|report| read_id(&report.pane?).ok());
        AccessRequest::panes(&named)
    }

    async fn run(
        context: ActionContext,
        Params(fields): Params,
    ) -> Result<MetaChangeOutput, Refusal> {
        let kernel = &context.kernel;
        let report = AgentHookReport::read(&fields)?;
        let id: PaneId = match (&report.pane, &context.caller.pane) {
            (Some(id), _) => read_id(id)?,
            (None, Some(pane)) => pane.id.clone(),
            (None, None) => {
                return Err(Refusal::invalid("pass `paneId` to specify the pane"));
            }
        };
        follow_as_agent(kernel, &id, report.runtime.as_deref())?;
        let before = kernel.panes().get(&id)?.lock().meta().clone();
        if is_of_another_program(kernel, &id, report.runtime.as_deref()).await {
            return Ok(meta::change(&context, &id, |_| Ok(()))?.since(before));
        }
        let is_followed = match kernel.agents().find(&id) {
            Some(agent) => {
                agent.ask(|reply| AgentRequest::Report(report.report, reply)).await.is_some()
            }
            None => false,
        };
        // An error is over once another status is reported.
        let is_past_error =
            report.error.is_none() && report.status.as_deref().is_some_and(|it| it != "error");
        // An agent's task treats the report as evidence and sets the status itself.
        let status = report.status.filter(|_| !is_followed);
        let now = kernel.now();
        let changed = meta::change(&context, &id, |meta| {
            let mut set = |key: &str, value: Option<String>| {
                if let Some(value) = value {
                    meta.insert(key.to_owned(), json!(value));
                }
            };
            set("agent.runtime", report.runtime);
            set(SESSION, report.session);
            set("agent.error", report.error);
            set("agent.status", status);
            if is_past_error {
                meta.remove("agent.error");
            }
            meta.insert("agent.lastEventAt".into(), json!(now));
            Ok(())
        })?;
        Ok(changed.since(before))
    }
}

fn read_id(text: &str) -> Result<PaneId, Refusal> {
    PaneId::from_str(text).map_err(|error| Refusal::invalid(format!("`paneId`: {error}")))
}

/// Starts to follow a pane as an agent, if a runtime is given and it is not followed yet.
fn follow_as_agent(kernel: &Kernel, id: &PaneId, runtime: Option<&str>) -> Result<(), Refusal> {
    let pane = kernel.panes().get(id)?;
    let Some(runtime) = runtime else { return Ok(()) };
    if pane.lock().record.agent.is_some() || !pane.lock().status().is_live() {
        return Ok(());
    }
    let meta = [("agent.runtime".to_owned(), json!(runtime))].into_iter().collect();
    // A runtime without a profile is kept as meta only.
    let Some(agent) = kernel.agents().recognise(kernel, &[], &meta, AgentOrigin::Recovered) else {
        return Ok(());
    };
    pane.set_agent(kernel, agent);
    // Its task starts once its keeper answers.
    if pane.check_responsive().is_err() {
        return Ok(());
    }
    kernel.agents().spawn_task(kernel, &pane, AgentOrigin::Recovered);
    Ok(())
}

/// Whether the reporting program is not the one that the pane's agent is: an agent that was started
/// by the agent, in the same pane. Where the agent's profile does not recognise the screen, the
/// other program has taken its place, and its profile is used from now on.
async fn is_of_another_program(kernel: &Kernel, id: &PaneId, runtime: Option<&str>) -> bool {
    let Some(agent) = kernel.agents().find(id) else { return false };
    let named = runtime.and_then(|name| kernel.agents().profile(name).ok());
    let Some(named) = named else { return false };
    let (followed, state) = {
        let seen = agent.seen();
        let info = &seen.borrow().info;
        (info.profile.clone(), info.state)
    };
    if followed == named.name {
        return false;
    }
    if followed != GENERIC && !matches!(state, AgentState::Unknown | AgentState::Starting) {
        return true;
    }
    agent.switch_profile(named).await;
    false
}

impl AgentHookReport {
    fn read(fields: &Map<String, Value>) -> Result<Self, Refusal> {
        let mut report = Self::default();
        let nested = fields.get("agent").and_then(Value::as_object).into_iter().flatten();
        for (key, value) in nested.chain(fields).take(MOST) {
            let Some(text) = value_text(value) else { continue };
            report.take(key.strip_prefix("agent.").unwrap_or(key), text)?;
        }
        Ok(report)
    }

    fn take(&mut self, key: &str, text: String) -> Result<(), Refusal> {
        match key {
            "paneId" | "pane" | "pane_id" => {
                read_id(&text)?;
                self.pane = Some(text);
            }
            "runtime" => self.runtime = Some(text),
            "sessionId" | "session_id" | "sessionID" => self.session = Some(check_session(text)?),
            "error" => self.error = Some(text),
            "event" | "hook_event_name" | "type" => self.report.event = Some(text),
            "status" | "state" => {
                let (word, state) = status(&text)?;
                self.status = Some(word.to_owned());
                self.report.state = Some(state);
            }
            "kind" => self.report.kind = kind(&text),
            other => self.report.fields.push((other.to_owned(), text)),
        }
        Ok(())
    }
}

/// Refuses what cannot be a session id: it is used to find a transcript.
fn check_session(text: String) -> Result<String, Refusal> {
    if is_session_id(&text) {
        return Ok(text);
    }
    let sentence = "invalid `sessionId`: use 1 to 128 letters, digits, `.`, `_`, `:` and `-`, \
                   starting with a letter or digit";
    Err(Refusal::invalid(sentence))
}

/// A value as text; arrays and objects are ignored.
fn value_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(text.chars().take(LONGEST).collect())
}

/// The status word to store, and the state that it reports.
fn status(text: &str) -> Result<(&'static str, AgentState), Refusal> {
    let lower = text.to_lowercase();
    let found = match lower.as_str() {
        "running" | "busy" | "working" => ("running", AgentState::Busy),
        "idle" | "ready" | "waiting" => ("idle", AgentState::Ready),
        "error" | "failed" => ("error", AgentState::Error),
        "blocked" | "permission" => ("running", AgentState::Blocked),
        "starting" => ("running", AgentState::Starting),
        "limited" => ("running", AgentState::Limited),
        "exited" | "done" => ("idle", AgentState::Exited),
        "unknown" => ("running", AgentState::Unknown),
        _ => {
            let text = text.escape_debug();
            return Err(Refusal::invalid(format!(
                "invalid status `{text}`: expected running, idle, error, starting, ready, busy, \
                blocked or limited"
            )));
        }
    };
    Ok(found)
}

fn kind(text: &str) -> Option<BlockKind> {
    serde_json::from_value(json!(text.to_lowercase())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(fields: Value) -> AgentHookReport {
        AgentHookReport::read(fields.as_object().unwrap()).unwrap()
    }

    #[test]
    fn flat_prefixed_and_nested_are_the_same() {
        let flat = read(json!({ "paneId": "p", "status": "idle", "sessionId": "s" }));
        let prefixed =
            read(json!({ "paneId": "p", "agent.status": "idle", "agent.sessionId": "s" }));
        let nested =
            read(json!({ "paneId": "p", "agent": { "status": "idle", "sessionId": "s" } }));
        assert_eq!(flat, prefixed);
        assert_eq!(flat, nested);
        assert_eq!(flat.report.state, Some(AgentState::Ready));
        assert_eq!((flat.status.as_deref(), flat.session.as_deref()), (Some("idle"), Some("s")));
    }

    #[test]
    fn hooks_of_many_programs_are_taken_as_they_are() {
        let report = read(json!({
            "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "ls" },
            "session_id": "77", "n": 3, "none": null,
        }));
        assert_eq!(report.report.event.as_deref(), Some("PermissionRequest"));
        assert_eq!(report.session.as_deref(), Some("77"));
        let fields = vec![("tool_name".into(), "Bash".into()), ("n".into(), "3".into())];
        assert_eq!(sorted(report.report.fields), sorted(fields));
        assert_eq!(
            read(json!({ "type": "session.idle" })).report.event.as_deref(),
            Some("session.idle")
        );
    }

    fn sorted(mut fields: Vec<(String, String)>) -> Vec<(String, String)> {
        fields.sort();
        fields
    }

    #[test]
    fn a_status_that_is_none_is_refused_with_those_there_are() {
        let fields = json!({ "status": "fine" });
        let refusal = AgentHookReport::read(fields.as_object().unwrap()).unwrap_err();
        assert!(refusal.sentence.contains("invalid status `fine`: expected running, idle"));
    }
}
