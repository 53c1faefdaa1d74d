//! Recovers panes: compares the records of the journal with the panes that the backend finds.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use paned_backend::{Output, PaneHandle, RecoveredPane, RecoveredState, UnresponsivePane};
use paned_model::frame::ExitRecord;
use paned_model::{
    Grant, GrantId, Instance, Meta, PaneId, PaneRef, PaneSet, PaneStatus, Size, Time,
};
use serde_json::json;

use super::exit_notice::ExitNoticeFormat;
use super::pane::KeeperConnection;
use super::record::{PaneExit, PaneTitle};
use super::task;
use super::{Pane, PaneChange, PaneRecord, exit};
use crate::Kernel;
use crate::grants::{StoredGrant, random_name};
use crate::journal::{RecordChange, draft};

/// How many milliseconds a program waits for a reply of its terminal. Many wait longer; none waits
/// much less.
const QUERY_TIMEOUT_MS: u64 = 500;
/// How much of its output is searched for queries that it still waits for.
const RECENT: u64 = 64 << 10;

/// Takes over the panes that were found. Returns how many live.
pub(crate) fn recover_all(
    kernel: &Kernel,
    found: Vec<RecoveredPane>,
    remembered: Vec<PaneRecord>,
) -> usize {
    let mut remembered: HashMap<PaneId, PaneRecord> =
        remembered.into_iter().map(|record| (record.id.clone(), record)).collect();
    let mut living = 0;
    for found in found {
        let known = remembered.remove(&found.id);
        living += usize::from(recover_one(kernel, found, known));
    }
    remembered.into_values().for_each(|record| record_removed(kernel, record));
    living
}

/// Takes over one pane. Returns whether it lives.
fn recover_one(kernel: &Kernel, found: RecoveredPane, known: Option<PaneRecord>) -> bool {
    let is_new = known.is_none();
    let Some(mut record) =
        known.or_else(|| read_record(&found)).or_else(|| guess_record(kernel, &found))
    else {
        return false;
    };
    if record.id != found.id {
        // The record beside the tape is that of the pane before it got another name.
        record.id = found.id.clone();
        record.restart = None;
    }
    record.pid = match &found.state {
        RecoveredState::Alive(handle) => Some(handle.pid),
        RecoveredState::Unresponsive(unresponsive) => unresponsive.pid.or(record.pid),
        RecoveredState::Ended(..) | RecoveredState::Lost(_) => record.pid,
    };
    let is_refuted = undo_lost(&mut record, &found.state);
    kernel.grants().insert(record.grant.clone());
    let (connection, size) = initial_connection(&found.state);
    let pane = Arc::new(Pane::new(record, size, connection));
    // The limit does not apply: these panes exist already.
    if kernel.panes().insert(pane.clone(), usize::MAX).is_err() {
        return false;
    }
    if is_new {
        record_event(kernel, &pane, "pane:created");
    }
    let lives = matches!(found.state, RecoveredState::Alive(_) | RecoveredState::Unresponsive(_));
    if is_refuted && lives {
        record_event(kernel, &pane, "pane:found");
        kernel.panes().report(kernel, &pane, &PaneChange::Refound);
    }
    resume_state(kernel, &pane, found.state);
    lives
}

/// Clears a `lost` exit that proves wrong: the keeper had not answered, or not in time. The pane is
/// not lost if it lives, or if its tape records how it ended.
fn undo_lost(record: &mut PaneRecord, state: &RecoveredState) -> bool {
    let is_known = !matches!(state, RecoveredState::Lost(_));
    let refuted = record.end.take_if(|end| is_known && end.status == PaneStatus::Lost).is_some();
    if refuted {
        // The work that follows an exit has not been done for the real exit.
        let made = record.agent.as_mut().and_then(|agent| agent.made.as_mut());
        made.into_iter().for_each(|made| made.exit_handled = false);
    }
    refuted
}

fn record_event(kernel: &Kernel, pane: &Pane, name: &str) {
    let payload = pane.event_payload(json!({}));
    kernel.journal().record(vec![draft(name, &payload)], vec![pane.lock().record.put()]);
}

/// Continues with a pane in the state it was found in.
fn resume_state(kernel: &Kernel, pane: &Arc<Pane>, state: RecoveredState) {
    match state {
        RecoveredState::Alive(handle) => connect(kernel, pane, handle),
        RecoveredState::Unresponsive(UnresponsivePane { output, keeper, pending, .. }) => {
            let ending = output.as_ref().and_then(|output| output.ending());
            pane.mark_unresponsive(output, keeper);
            // Its program has exited, but other processes of it may still run.
            if let Some(ending) = ending {
                mark_exited(kernel, pane, exit_of(ending));
            }
            let kernel = kernel.clone();
            let pane = pane.clone();
            tokio::spawn(async move { resume_if_present(&kernel, &pane, pending.await) });
        }
        RecoveredState::Ended(output, ending) => {
            pane.detach_with(Some(output));
            mark_exited(kernel, pane, exit_of(ending));
        }
        RecoveredState::Lost(output) => {
            pane.detach_with(output);
            mark_exited(kernel, pane, exit::lost_exit(kernel.now()));
        }
    }
}

/// The keeper has closed the connection but lives: connects to it again.
pub(crate) fn reconnect(kernel: &Kernel, pane: &Arc<Pane>) {
    tracing::warn!(pane = %pane.id, "the keeper of a pane closed the connection; reconnecting");
    pane.mark_unresponsive(pane.output(), None);
    // The agent's task starts anew, as after a restart.
    kernel.panes().report(kernel, pane, &PaneChange::Disconnected);
    let kernel = kernel.clone();
    let pane = pane.clone();
    tokio::spawn(async move {
        let state = kernel.backend().reconnect(pane.id.clone()).await;
        resume_if_present(&kernel, &pane, state);
    });
}

/// Continues with a pane, unless it was removed meanwhile.
fn resume_if_present(kernel: &Kernel, pane: &Arc<Pane>, state: RecoveredState) {
    if kernel.panes().get(&pane.id).is_ok_and(|there| Arc::ptr_eq(&there, pane)) {
        resume_state(kernel, pane, state);
    }
}

/// Starts the tasks of a pane whose keeper is connected.
fn connect(kernel: &Kernel, pane: &Arc<Pane>, handle: PaneHandle) {
    let handle = resume_adopted(kernel, pane, handle);
    pane.lock().ignore_queries_before = expired_queries_end(handle.output.as_ref(), kernel.now());
    pane.connect(&handle);
    task::spawn_task(kernel, pane, handle);
    kernel.panes().report(kernel, pane, &PaneChange::Reconnected(pane));
}

/// The offset up to which a program's queries are too old to answer. A query that was sent while no
/// server ran was answered by an attached terminal, or its program has given up or exited: a reply
/// now would be input that no user typed.
fn expired_queries_end(output: &dyn Output, now: Time) -> u64 {
    let end = output.end();
    let mut at = output.taken().max(end.saturating_sub(RECENT)).max(output.first());
    while at < end {
        match output.time(at) {
            Ok(Ok(stamp)) if now.since(stamp.time) <= QUERY_TIMEOUT_MS => return at,
            Ok(Ok(stamp)) => at = stamp.until.max(at + 1),
            Ok(Err(gap)) => at = gap.first.max(at + 1),
            Err(_) => return end,
        }
    }
    end
}

fn mark_exited(kernel: &Kernel, pane: &Arc<Pane>, end: PaneExit) {
    exit::record_exit(kernel, pane, end);
    kernel.panes().report(kernel, pane, &PaneChange::ExitRecovered);
    pane.notify();
}

/// The recorder of an adopted pane was found; everything else goes through tmux.
fn resume_adopted(kernel: &Kernel, pane: &Pane, handle: PaneHandle) -> PaneHandle {
    let origin = pane.lock().record.origin.clone();
    match (origin, &kernel.setup().adopted_tmux) {
        (Some(origin), Some(adopted_tmux)) => {
            adopted_tmux.resume(&pane.id, handle, origin.location())
        }
        (Some(_) | None, _) => handle,
    }
}

/// The connection of a pane before its task is started, and its size.
fn initial_connection(state: &RecoveredState) -> (KeeperConnection, Size) {
    let (output, keeper) = match state {
        RecoveredState::Alive(handle) => (Some(handle.output.clone()), None),
        RecoveredState::Unresponsive(unresponsive) => {
            (unresponsive.output.clone(), unresponsive.keeper)
        }
        RecoveredState::Ended(output, _) => (Some(output.clone()), None),
        RecoveredState::Lost(output) => (output.clone(), None),
    };
    let size = output.as_ref().map(|output| output.size()).unwrap_or_default();
    let connection = match state {
        RecoveredState::Alive(_) | RecoveredState::Unresponsive(_) => {
            KeeperConnection::Unresponsive { output, keeper }
        }
        RecoveredState::Ended(..) | RecoveredState::Lost(_) => {
            KeeperConnection::Detached { output }
        }
    };
    (connection, size)
}

fn exit_of(ending: ExitRecord) -> PaneExit {
    let status = if ending.killed { PaneStatus::Killed } else { PaneStatus::Exited };
    PaneExit { status, exit: ending.exit, timed_out: ending.timed_out, at: ending.at }
}

/// The record that is stored beside the tape: for a pane that the journal does not know.
fn read_record(found: &RecoveredPane) -> Option<PaneRecord> {
    let read = serde_json::from_str(&found.record);
    read.inspect_err(
        |error| tracing::error!(pane = %found.id, %error, "cannot read a pane's record"),
    )
    .ok()
}

/// A record made of what the system knows of a living program that has none: it is listed, and can
/// be ended. Its own grant is lost; the new one allows nothing.
fn guess_record(kernel: &Kernel, found: &RecoveredPane) -> Option<PaneRecord> {
    let pid = match &found.state {
        RecoveredState::Alive(handle) => Some(handle.pid),
        RecoveredState::Unresponsive(unresponsive) => unresponsive.pid,
        RecoveredState::Ended(..) | RecoveredState::Lost(_) => return None,
    };
    let of_process = |name: &str| pid.map(|pid| PathBuf::from(format!("/proc/{pid}/{name}")));
    let words = of_process("cmdline").and_then(|file| fs::read(file).ok()).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let argv: Vec<String> = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let cwd = of_process("cwd").and_then(|link| fs::read_link(link).ok());
    let pane = PaneRef { id: found.id.clone(), instance: Instance(random_name(12)) };
    let instance = pane.instance.clone();
    let (grant, _) = StoredGrant::new(Grant {
        id: GrantId(random_name(10)),
        label: format!("pane {}", found.id),
        scopes: BTreeSet::new(),
        panes: PaneSet::Only(BTreeSet::new()),
        pane: Some(pane),
        device: false,
        created_with: Vec::new(),
        created_at: kernel.now(),
        expires_at: None,
    });
    tracing::warn!(pane = %found.id, pid, "found a running program without a record; it is \
        listed with the available information");
    Some(PaneRecord {
        id: found.id.clone(),
        instance,
        title: PaneTitle::Command(argv.join(" ").replace(char::is_control, " ")),
        argv,
        cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default(),
        meta: Meta::new(),
        tags: Vec::new(),
        persist: false,
        notify_on_exit: false,
        max_lines: None,
        notice: ExitNoticeFormat::default(),
        timeout_seconds: None,
        ancestors: Vec::new(),
        pid,
        modes: String::new(),
        view: None,
        origin: None,
        agent: None,
        agents_above: 0,
        earlier: Vec::new(),
        restart: None,
        previous_run: None,
        created_at: kernel.now(),
        grant,
        end: None,
    })
}

/// A pane in the journal that does not exist: its removal was interrupted, or its folder was
/// deleted.
fn record_removed(kernel: &Kernel, record: PaneRecord) {
    let payload = record.event_payload(json!({}));
    let lost = record.end.is_none().then(|| draft("pane:lost", &payload));
    let drafts = lost.into_iter().chain([draft("pane:removed", &payload)]).collect();
    let changes: Vec<RecordChange> = vec![PaneRecord::delete(&record.id)];
    kernel.journal().record(drafts, changes);
}
