//! How a pane's end is written down: once, in the table, then in the journal.

use paned_model::{Exit, Status, Time};
use serde_json::{Map, Value, json};

use super::Pane;
use super::record::End;
use crate::Kernel;
use crate::dispatch::draft;
use crate::journal::Draft;

/// The end of a pane whose keeper died: how the program ended is not known.
pub(crate) fn lost(at: Time) -> End {
    End { status: Status::Lost, exit: None, timed_out: false, at }
}

/// Writes the end down, unless it was before.
pub(crate) fn record(kernel: &Kernel, pane: &Pane, end: End) {
    let mut state = pane.lock();
    if state.record.end.is_some() {
        return;
    }
    state.record.end = Some(end);
    kernel.journal().record(drafts(pane, end), vec![state.record.put()]);
    drop(state);
    pane.stir();
}

/// The events that tell of an end.
fn drafts(pane: &Pane, end: End) -> Vec<Draft> {
    let id = json!({ "paneId": pane.id });
    match end.status {
        Status::Lost => vec![draft("pane:lost", &id)],
        Status::Killed => vec![draft("pane:killed", &id), draft("pane:exited", &exited(pane, end))],
        Status::Starting | Status::Running | Status::Exited => {
            vec![draft("pane:exited", &exited(pane, end))]
        }
    }
}

fn exited(pane: &Pane, end: End) -> Value {
    let mut payload = Map::new();
    payload.insert("paneId".into(), json!(pane.id));
    payload.insert("exitCode".into(), json!(end.exit.and_then(Exit::code)));
    if let Some(signal) = end.exit.and_then(Exit::signal) {
        payload.insert("exitSignal".into(), json!(signal));
    }
    payload.insert("status".into(), json!(end.status));
    payload.insert("timedOut".into(), json!(end.timed_out));
    Value::Object(payload)
}
