//! The publication of an agent's state: in the pane, then in the journal, and in the meta that
//! older tools read.

use paned_model::agent::share;
use paned_model::{AgentInfo, AgentState, Time};
use serde_json::{Map, Value, json};

use crate::Kernel;
use crate::journal::draft;
use crate::panes::agent_record::AgentRecord;
use crate::panes::pane::PaneState;
use crate::panes::{Pane, PaneChange};

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
    kernel.note_dialog(pane, info);
    if is_shown {
        // A pane that waits for space in a view may get it now.
        kernel.panes().report(kernel, pane, &PaneChange::View);
    }
}

/// Publishes the exit of an agent whose program ended while no task followed it.
pub(super) fn publish_exit(kernel: &Kernel, pane: &Pane) {
    let info = AgentRecord::initial_info(&pane.lock().record);
    if let Some(info) = info {
        publish(kernel, pane, &info, 0);
    }
}

/// Publishes a recovered agent: its state is not known yet.
pub(super) fn publish_recovered(kernel: &Kernel, pane: &Pane) {
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
