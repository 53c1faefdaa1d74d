//! How news of an agent is told: in the table, then in the journal, with the words that older tools read.

use paned_model::agent::share;
use paned_model::{AgentInfo, AgentState};
use serde_json::{Map, Value, json};

use super::AgentRecord;
use super::status::legacy_status;
use crate::Kernel;
use crate::dispatch::draft;
use crate::panes::Pane;
use crate::panes::pane::PaneState;

/// Puts what is known of an agent into the table, and tells it if it does something else now.
pub(super) fn publish(kernel: &Kernel, pane: &Pane, info: &AgentInfo, age_ms: u64) {
    let mut state = pane.lock();
    let before = state.agent.replace(info.clone());
    let from = state.record.agent.as_ref().map_or(AgentState::Starting, |agent| agent.state);
    let asked = |info: &AgentInfo| info.dialog.as_ref().map(|dialog| dialog.id.clone());
    let is_asked = before.as_ref().and_then(asked) != asked(info);
    if from == info.state && !is_asked {
        return;
    }
    update_record(&mut state, info, kernel.now());
    let told = payload(pane, info, from, age_ms);
    kernel.journal().record(vec![draft("agent:state", &told)], vec![state.record.put()]);
    let is_shown = state.record.view.is_some();
    drop(state);
    if is_shown {
        // Whoever waits for room may get it now.
        kernel.tmux_views().pane_changed(&pane.id);
    }
}

/// An agent's program ended while nobody looked, and so has what is known of it.
pub(crate) fn publish_exit(kernel: &Kernel, pane: &Pane) {
    let info = AgentRecord::initial_info(&pane.lock().record);
    if let Some(info) = info {
        publish(kernel, pane, &info, 0);
    }
}

/// An agent lives that was called over with its pane: what it does is not known yet.
pub(crate) fn publish_recovered(kernel: &Kernel, pane: &Pane) {
    let info = AgentRecord::initial_info(&pane.lock().record);
    if let Some(info) = info {
        let (state, since) = (AgentState::Unknown, kernel.now());
        publish(kernel, pane, &AgentInfo { state, since, ..info }, 0);
    }
}

fn payload(pane: &Pane, info: &AgentInfo, from: AgentState, age_ms: u64) -> Value {
    let mut told = Map::new();
    told.insert("profile".into(), json!(info.profile));
    told.insert("from".into(), json!(from));
    told.insert("to".into(), json!(info.state));
    if let Some(kind) = info.kind {
        told.insert("kind".into(), json!(kind));
    }
    if let Some(dialog) = &info.dialog {
        told.insert("dialog".into(), json!(dialog));
    }
    if let Some(until) = info.until {
        told.insert("until".into(), json!(until));
    }
    told.insert("source".into(), json!(info.source));
    told.insert("confidence".into(), json!(share(info.confidence)));
    told.insert("ageMs".into(), json!(age_ms));
    pane.event_payload(Value::Object(told))
}

/// What the pane's record and meta say of it from now on.
fn update_record(state: &mut PaneState, info: &AgentInfo, now: paned_model::Time) {
    if let Some(agent) = &mut state.record.agent {
        agent.profile.clone_from(&info.profile);
        (agent.state, agent.since) = (info.state, info.since);
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
