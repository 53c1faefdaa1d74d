//! Finding the panes again: what the journal remembers against what is there.

use std::collections::HashMap;
use std::sync::Arc;

use paned_model::frame::Ending;
use paned_model::{PaneId, Size, Status};
use paned_substrate::{Found, Link, State};
use serde_json::json;

use super::pane::Reach;
use super::record::End;
use super::task;
use super::{Pane, Record, end};
use crate::Kernel;
use crate::agents::{self, Life};
use crate::dispatch::draft;
use crate::journal::Change;

/// Takes over what was found. Answers how many panes live.
pub(crate) fn all(kernel: &Kernel, found: Vec<Found>, remembered: Vec<Record>) -> usize {
    let mut remembered: HashMap<PaneId, Record> =
        remembered.into_iter().map(|record| (record.id.clone(), record)).collect();
    let mut living = 0;
    for found in found {
        let known = remembered.remove(&found.id);
        living += usize::from(one(kernel, found, known));
    }
    remembered.into_values().for_each(|record| vanished(kernel, record));
    living
}

/// Takes over one pane; whether it lives.
fn one(kernel: &Kernel, found: Found, known: Option<Record>) -> bool {
    let is_new = known.is_none();
    let Some(mut record) = known.or_else(|| read(&found)) else {
        return false;
    };
    if let State::Alive(link) = &found.state {
        record.pid = Some(link.pid);
    }
    kernel.grants().insert(record.grant.clone());
    let state = resume(kernel, &record, found.state);
    let (reach, ending, link) = match state {
        State::Alive(link) => (reach(&link), None, Some(link)),
        State::Ended(output, ending) => {
            (Reach::Unlinked { output: Some(output) }, Some(ended(ending)), None)
        }
        State::Lost(output) => (Reach::Unlinked { output }, Some(end::lost(kernel.now())), None),
    };
    let size = match &reach {
        Reach::Linked { output, .. } | Reach::Unlinked { output: Some(output) } => output.size(),
        Reach::Starting | Reach::Unlinked { output: None } => Size::default(),
    };
    let pane = Arc::new(Pane::new(record, size, reach));
    // Whatever the limit says: what is there is there.
    if kernel.panes().insert(pane.clone(), usize::MAX).is_err() {
        return false;
    }
    if is_new {
        let payload = json!({ "paneId": pane.id });
        kernel
            .journal()
            .record(vec![draft("pane:created", &payload)], vec![pane.lock().record.put()]);
    }
    if let Some(ending) = ending {
        end::record(kernel, &pane, ending);
        agents::ended_unseen(kernel, &pane);
    }
    let lives = link.is_some();
    if let Some(link) = link {
        task::mind(kernel, &pane, link);
        kernel.agents().mind(kernel, &pane, Life::Found);
    }
    lives
}

/// The scribe of an adopted pane was found; tmux is the way to all else.
fn resume(kernel: &Kernel, record: &Record, state: State) -> State {
    match (state, &record.origin, &kernel.setup().foreign) {
        (State::Alive(link), Some(origin), Some(foreign)) => {
            State::Alive(foreign.resume(&record.id, link, origin.spot()))
        }
        (state, _, _) => state,
    }
}

fn reach(link: &Link) -> Reach {
    let (output, commands) = (link.output.clone(), link.commands.clone());
    Reach::Linked { output, commands, typed: link.typed.clone() }
}

fn ended(ending: Ending) -> End {
    let status = if ending.killed { Status::Killed } else { Status::Exited };
    End { status, exit: ending.exit, timed_out: ending.timed_out, at: ending.at }
}

/// The record as it lies beside the tape: for a pane that the journal does not know.
fn read(found: &Found) -> Option<Record> {
    let read = serde_json::from_str(&found.record);
    read.inspect_err(
        |error| tracing::error!(pane = %found.id, %error, "cannot read a pane's record"),
    )
    .ok()
}

/// A pane that the journal remembers and that is not there: somebody was interrupted while removing it, or
/// took its folder away.
fn vanished(kernel: &Kernel, record: Record) {
    let payload = json!({ "paneId": record.id });
    let lost = record.end.is_none().then(|| draft("pane:lost", &payload));
    let drafts = lost.into_iter().chain([draft("pane:removed", &payload)]).collect();
    let changes: Vec<Change> = vec![Record::delete(&record.id)];
    kernel.journal().record(drafts, changes);
}
