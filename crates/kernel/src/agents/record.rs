//! What is stored of an agent, in the record of its pane; and the publication of its state: in the
//! pane, then in the journal, and in the meta that older tools read.

use std::collections::BTreeMap;

use paned_model::agent::share;
use paned_model::{AgentInfo, AgentState, StateSource, Time};
use paned_policy::agent::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::worktree::Worktree;
use crate::Kernel;
use crate::dispatch::draft;
use crate::panes::pane::PaneState;
use crate::panes::{Pane, PaneRecord};

/// The stored record of an agent: its profile, how it was started, and its last published state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentRecord {
    /// The name of its profile.
    pub(crate) profile: String,
    /// The last published state.
    pub(crate) state: AgentState,
    /// Since when.
    pub(crate) since: Time,
    /// How it was started, if by `agent:create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made: Option<AgentLaunch>,
}

/// How an agent was started, so that it can be started again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentLaunch {
    /// The requested command line in place of the one of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) argv: Option<Vec<String>>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Whether it asks before it acts, if the request said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) permissions: Option<Permissions>,
    /// Variables on top of the server's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// Whether startup dialogs are answered as its profile says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) trust: bool,
    /// Whether it is restarted when it fails.
    #[serde(default)]
    pub(crate) restart: RestartPolicy,
    /// How many times in a row it was restarted after a failure.
    #[serde(default)]
    pub(crate) attempt: u32,
    /// Whether its exit was handled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) exit_handled: bool,
    /// The worktree that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<Worktree>,
}

/// Whether an agent is started again by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RestartPolicy {
    /// It is not.
    #[default]
    Never,
    /// When its program returns another code than 0, or a signal ends it that we did not send.
    OnFailure,
}

impl AgentRecord {
    /// An agent whose program is about to be started.
    pub(crate) fn new(profile: &str, now: Time) -> Self {
        Self { profile: profile.to_owned(), state: AgentState::Starting, since: now, made: None }
    }

    /// An agent whose program was started before this server.
    pub(crate) fn recovered(profile: &str, now: Time) -> Self {
        Self { state: AgentState::Unknown, ..Self::new(profile, now) }
    }

    /// The state of the agent in a pane before its screen was read.
    pub(crate) fn initial_info(record: &PaneRecord) -> Option<AgentInfo> {
        let agent = record.agent.as_ref()?;
        let (state, since) = match record.end {
            Some(end) => (AgentState::Exited, end.at),
            None => (agent.state, agent.since),
        };
        Some(AgentInfo {
            profile: agent.profile.clone(),
            state,
            kind: None,
            dialog: None,
            until: None,
            since,
            source: StateSource::Process,
            confidence: 1.0,
            context_percent: None,
            queued: 0,
        })
    }
}

/// Stores the state of an agent in its pane, and records an event if the state or the dialog has
/// changed.
pub(super) fn publish(kernel: &Kernel, pane: &Pane, info: &AgentInfo, age_ms: u64) {
    let mut state = pane.lock();
    let before = state.agent.replace(info.clone());
    let from = state.record.agent.as_ref().map_or(AgentState::Starting, |agent| agent.state);
    let dialog_id = |info: &AgentInfo| info.dialog.as_ref().map(|dialog| dialog.id.clone());
    let dialog_changed = before.as_ref().and_then(dialog_id) != dialog_id(info);
    if from == info.state && !dialog_changed {
        return;
    }
    update_record(&mut state, info, kernel.now());
    let payload = payload(pane, info, from, age_ms);
    kernel.journal().record(vec![draft("agent:state", &payload)], vec![state.record.put()]);
    let is_shown = state.record.view.is_some();
    drop(state);
    if is_shown {
        // A pane that waits for space in a view may get it now.
        kernel.tmux_views().pane_changed(&pane.id);
    }
}

/// Publishes the exit of an agent whose program ended while no task followed it.
pub(crate) fn publish_exit(kernel: &Kernel, pane: &Pane) {
    let info = AgentRecord::initial_info(&pane.lock().record);
    if let Some(info) = info {
        publish(kernel, pane, &info, 0);
    }
}

/// Publishes a recovered agent: its state is not known yet.
pub(crate) fn publish_recovered(kernel: &Kernel, pane: &Pane) {
    let info = AgentRecord::initial_info(&pane.lock().record);
    if let Some(info) = info {
        let info = AgentInfo { state: AgentState::Unknown, since: kernel.now(), ..info };
        publish(kernel, pane, &info, 0);
    }
}

fn payload(pane: &Pane, info: &AgentInfo, from: AgentState, age_ms: u64) -> Value {
    let mut payload = Map::new();
    payload.insert("profile".into(), json!(info.profile));
    payload.insert("from".into(), json!(from));
    payload.insert("to".into(), json!(info.state));
    if let Some(kind) = info.kind {
        payload.insert("kind".into(), json!(kind));
    }
    if let Some(dialog) = &info.dialog {
        payload.insert("dialog".into(), json!(dialog));
    }
    if let Some(until) = info.until {
        payload.insert("until".into(), json!(until));
    }
    payload.insert("source".into(), json!(info.source));
    payload.insert("confidence".into(), json!(share(info.confidence)));
    payload.insert("ageMs".into(), json!(age_ms));
    pane.event_payload(Value::Object(payload))
}

/// Updates the record and the meta of the pane.
fn update_record(state: &mut PaneState, info: &AgentInfo, now: Time) {
    if let Some(agent) = &mut state.record.agent {
        agent.profile.clone_from(&info.profile);
        agent.state = info.state;
        agent.since = info.since;
    }
    let meta = &mut state.record.meta;
    meta.insert("agent.runtime".into(), json!(info.profile));
    meta.insert("agent.lastEventAt".into(), json!(now));
    match legacy_status(info.state) {
        Some(word) => meta.insert("agent.status".into(), json!(word)),
        None => meta.remove("agent.status"),
    };
    if info.state != AgentState::Error {
        meta.remove("agent.error");
    }
}

/// The status word that older tools use for a state: only an agent that waits for a prompt is idle,
/// and there is no word for one that has ended.
fn legacy_status(state: AgentState) -> Option<&'static str> {
    match state {
        AgentState::Ready => Some("idle"),
        AgentState::Error => Some("error"),
        AgentState::Starting
        | AgentState::Busy
        | AgentState::Blocked
        | AgentState::Limited
        | AgentState::Unknown => Some("running"),
        AgentState::Exited => None,
    }
}
