//! Records a pane's exit: once, in the table, then in the journal.

use std::sync::Arc;

use paned_backend::Output;
use paned_model::{Exit, PaneStatus, Time};
use paned_term::lines;
use serde_json::{Map, Value, json};

use super::observer::PaneExitReport;
use super::pane::PaneState;
use super::record::PaneExit;
use super::{Pane, PaneChange, exit_notice};
use crate::Kernel;
use crate::journal::{EventDraft, draft};

/// How far back to look for a line that is not blank. The first step is mostly enough.
const LOOK_BACK: [u64; 3] = [4 << 10, 64 << 10, 1 << 20];
/// How many characters of that line are kept; the notice cuts it further.
const LONGEST: usize = 1000;

/// The exit of a pane whose keeper died: how the program ended is not known.
pub(crate) fn lost_exit(at: Time) -> PaneExit {
    PaneExit { status: PaneStatus::Lost, exit: None, timed_out: false, at }
}

/// Records the exit, unless one is recorded already.
pub(crate) fn record_exit(kernel: &Kernel, pane: &Arc<Pane>, mut end: PaneExit) {
    // Looked up before the exit is published: a client that waits for it may remove the pane at
    // once.
    let found = kernel.panes().get(&pane.id);
    let is_listed = found.is_ok_and(|found| Arc::ptr_eq(&found, pane));
    let mut state = pane.lock();
    if state.record.end.is_some() {
        return;
    }
    if state.is_forced {
        end.status = PaneStatus::Killed;
    }
    state.record.end = Some(end);
    let text = state.record.notify_on_exit.then(|| notice(&state, end));
    let notice = text.as_ref().map(|text| notice_event(&state, text));
    let drafts = exit_events(pane, end).into_iter().chain(notice).collect();
    kernel.journal().record(drafts, vec![state.record.put()]);
    let parent = state.record.parent().cloned();
    drop(state);
    let report = PaneExitReport {
        listed: is_listed.then_some(pane),
        notice: parent.as_ref().zip(text.as_deref()),
    };
    kernel.panes().report(kernel, pane, &PaneChange::Exited(report));
    pane.notify();
}

/// The exit notice for the client that started the pane.
fn notice(state: &PaneState, end: PaneExit) -> String {
    let output = state.output();
    let last = output.as_deref().and_then(last_line).unwrap_or_default();
    let lines = output.as_deref().map_or(0, lines_of);
    exit_notice::notice(&state.record, end, lines, &last)
}

fn notice_event(state: &PaneState, text: &str) -> EventDraft {
    let record = &state.record;
    let to = record.parent().map(|parent| &parent.id);
    let mut payload = json!({ "to": to, "text": text });
    if let Some(recipient) = &record.notice.recipient {
        payload["recipient"] = json!(recipient);
    }
    draft("pane:notice", &record.event_payload(payload))
}

/// How many lines it printed, including a last one without a newline.
fn lines_of(output: &dyn Output) -> u64 {
    let open = read_from(output, output.end().saturating_sub(1)).is_some_and(|last| last != b"\n");
    output.lines() + u64::from(open && 0 < output.end())
}

/// The last line that is not blank.
fn last_line(output: &dyn Output) -> Option<String> {
    let first = output.first();
    let end = output.end();
    LOOK_BACK.iter().find_map(|back| {
        let from = end.saturating_sub(*back).max(first);
        let bytes = read_from(output, from)?;
        // What precedes the first newline is the rest of a line, unless the kept output starts
        // here.
        let begin = bytes.iter().position(|byte| *byte == b'\n').filter(|_| first < from);
        let mut lines = bytes[begin.unwrap_or(0)..].rsplit(|byte| *byte == b'\n');
        lines.find_map(|line| {
            let text = lines::clean(line, LONGEST).text;
            (!text.trim().is_empty()).then(|| text.into_owned())
        })
    })
}

/// All bytes from an offset on, if they can be read.
fn read_from(output: &dyn Output, from: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(output.end() - from).ok()?];
    let mut read = 0;
    while read < bytes.len() {
        match output.read(from + read as u64, &mut bytes[read..]) {
            Ok(Ok(got @ 1..)) => read += got,
            Ok(Ok(_) | Err(_)) | Err(_) => return None,
        }
    }
    Some(bytes)
}

/// The events of an exit.
fn exit_events(pane: &Pane, end: PaneExit) -> Vec<EventDraft> {
    let id = pane.event_payload(json!({}));
    match end.status {
        PaneStatus::Lost => vec![draft("pane:lost", &id)],
        PaneStatus::Killed => {
            vec![draft("pane:killed", &id), draft("pane:exited", &exited_payload(pane, end))]
        }
        PaneStatus::Starting | PaneStatus::Running | PaneStatus::Exited => {
            vec![draft("pane:exited", &exited_payload(pane, end))]
        }
    }
}

fn exited_payload(pane: &Pane, end: PaneExit) -> Value {
    let mut payload = Map::new();
    payload.insert("exitCode".into(), json!(end.exit.and_then(Exit::code)));
    if let Some(signal) = end.exit.and_then(Exit::signal) {
        payload.insert("exitSignal".into(), json!(signal));
    }
    payload.insert("status".into(), json!(end.status));
    payload.insert("timedOut".into(), json!(end.timed_out));
    pane.event_payload(Value::Object(payload))
}
