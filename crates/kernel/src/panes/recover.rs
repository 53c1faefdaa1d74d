//! Finding the panes again: what the journal remembers against what is there.

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
use super::{Pane, PaneRecord, exit};
use crate::Kernel;
use crate::agents::{self, AgentOrigin};
use crate::dispatch::draft;
use crate::grants::{StoredGrant, random_name};
use crate::journal::RecordChange;

/// How many milliseconds a program waits for an answer of its terminal. Many wait longer; none waits much less.
const QUERY_TIMEOUT_MS: u64 = 500;
/// How much of its output is looked at for questions that it still waits for.
const RECENT: u64 = 64 << 10;

/// Takes over what was found. Answers how many panes live.
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

/// Takes over one pane; whether it lives.
fn recover_one(kernel: &Kernel, found: RecoveredPane, known: Option<PaneRecord>) -> bool {
    let is_new = known.is_none();
    let Some(mut record) =
        known.or_else(|| read_record(&found)).or_else(|| guess_record(kernel, &found))
    else {
        return false;
    };
    record.pid = match &found.state {
        RecoveredState::Alive(link) => Some(link.pid),
        RecoveredState::Unresponsive(silent) => silent.pid.or(record.pid),
        RecoveredState::Ended(..) | RecoveredState::Lost(_) => record.pid,
    };
    let is_refuted = undo_lost(&mut record, &found.state);
    kernel.grants().insert(record.grant.clone());
    let (reach, size) = initial_connection(&found.state);
    let pane = Arc::new(Pane::new(record, size, reach));
    // Whatever the limit says: what is there is there.
    if kernel.panes().insert(pane.clone(), usize::MAX).is_err() {
        return false;
    }
    if is_new {
        record_event(kernel, &pane, "pane:created");
    }
    let lives = matches!(found.state, RecoveredState::Alive(_) | RecoveredState::Unresponsive(_));
    if is_refuted && lives {
        record_event(kernel, &pane, "pane:found");
        agents::publish_recovered(kernel, &pane);
    }
    resume_state(kernel, &pane, found.state);
    lives
}

/// A pane was called lost whose keeper did not answer, or not in time. It is not if it lives, or if its tape knows how
/// it ended.
fn undo_lost(record: &mut PaneRecord, state: &RecoveredState) -> bool {
    let is_known = !matches!(state, RecoveredState::Lost(_));
    let refuted = record.end.take_if(|end| is_known && end.status == PaneStatus::Lost).is_some();
    if refuted {
        // What follows an end has not been done for the one that comes.
        let made = record.agent.as_mut().and_then(|agent| agent.made.as_mut());
        made.into_iter().for_each(|made| made.exit_handled = false);
    }
    refuted
}

fn record_event(kernel: &Kernel, pane: &Pane, name: &str) {
    let payload = pane.event_payload(json!({}));
    kernel.journal().record(vec![draft(name, &payload)], vec![pane.lock().record.put()]);
}

/// Goes on with a pane as it was found.
fn resume_state(kernel: &Kernel, pane: &Arc<Pane>, state: RecoveredState) {
    match state {
        RecoveredState::Alive(link) => connect(kernel, pane, link),
        RecoveredState::Unresponsive(UnresponsivePane {
            output, keeper, pending: later, ..
        }) => {
            let ending = output.as_ref().and_then(|output| output.ending());
            pane.mark_unresponsive(output, keeper);
            // Its program has ended, and others of its processes may not have.
            if let Some(ending) = ending {
                mark_exited(kernel, pane, exit_of(ending));
            }
            let (kernel, pane) = (kernel.clone(), pane.clone());
            tokio::spawn(async move { resume_if_present(&kernel, &pane, later.await) });
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

/// The keeper of a pane lives, and has let us go: it is reached again.
pub(crate) fn reconnect(kernel: &Kernel, pane: &Arc<Pane>) {
    tracing::warn!(pane = %pane.id, "the keeper of a pane has let us go; it is tried again");
    pane.mark_unresponsive(pane.output(), None);
    // Whoever follows it as an agent begins anew, as after a restart.
    kernel.agents().forget(&pane.id);
    let (kernel, pane) = (kernel.clone(), pane.clone());
    tokio::spawn(async move {
        let state = kernel.backend().reconnect(pane.id.clone()).await;
        resume_if_present(&kernel, &pane, state);
    });
}

/// Goes on with a pane, unless it was forgotten meanwhile.
fn resume_if_present(kernel: &Kernel, pane: &Arc<Pane>, state: RecoveredState) {
    if kernel.panes().get(&pane.id).is_ok_and(|there| Arc::ptr_eq(&there, pane)) {
        resume_state(kernel, pane, state);
    }
}

/// Looks after a pane whose keeper is there.
fn connect(kernel: &Kernel, pane: &Arc<Pane>, link: PaneHandle) {
    let link = resume_adopted(kernel, pane, link);
    pane.lock().ignore_queries_before = expired_queries_end(link.output.as_ref(), kernel.now());
    pane.connect(&link);
    task::spawn_task(kernel, pane, link);
    kernel.agents().spawn_task(kernel, pane, AgentOrigin::Recovered);
}

/// Up to where a program's questions came too long ago. Whoever asked while no server was there was answered by a
/// terminal that was attached, or has given up, or is gone: an answer would be typing that nobody did.
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

fn mark_exited(kernel: &Kernel, pane: &Pane, end: PaneExit) {
    exit::record_exit(kernel, pane, end);
    agents::publish_exit(kernel, pane);
    pane.notify();
}

/// The scribe of an adopted pane was found; tmux is the way to all else.
fn resume_adopted(kernel: &Kernel, pane: &Pane, link: PaneHandle) -> PaneHandle {
    let origin = pane.lock().record.origin.clone();
    match (origin, &kernel.setup().adopted_tmux) {
        (Some(origin), Some(foreign)) => foreign.resume(&pane.id, link, origin.location()),
        (Some(_) | None, _) => link,
    }
}

/// How far a pane can be reached before anybody looks after it, and how large it is.
fn initial_connection(state: &RecoveredState) -> (KeeperConnection, Size) {
    let (output, keeper) = match state {
        RecoveredState::Alive(link) => (Some(link.output.clone()), None),
        RecoveredState::Unresponsive(silent) => (silent.output.clone(), silent.keeper),
        RecoveredState::Ended(output, _) => (Some(output.clone()), None),
        RecoveredState::Lost(output) => (output.clone(), None),
    };
    let size = output.as_ref().map(|output| output.size()).unwrap_or_default();
    let reach = match state {
        RecoveredState::Alive(_) | RecoveredState::Unresponsive(_) => {
            KeeperConnection::Unresponsive { output, keeper }
        }
        RecoveredState::Ended(..) | RecoveredState::Lost(_) => {
            KeeperConnection::Detached { output }
        }
    };
    (reach, size)
}

fn exit_of(ending: ExitRecord) -> PaneExit {
    let status = if ending.killed { PaneStatus::Killed } else { PaneStatus::Exited };
    PaneExit { status, exit: ending.exit, timed_out: ending.timed_out, at: ending.at }
}

/// The record as it lies beside the tape: for a pane that the journal does not know.
fn read_record(found: &RecoveredPane) -> Option<PaneRecord> {
    let read = serde_json::from_str(&found.record);
    read.inspect_err(
        |error| tracing::error!(pane = %found.id, %error, "cannot read a pane's record"),
    )
    .ok()
}

/// What the system knows of a program that lives and that we have no record of: it is listed, and can be ended. Its own grant
/// is lost, and it gets none.
fn guess_record(kernel: &Kernel, found: &RecoveredPane) -> Option<PaneRecord> {
    let pid = match &found.state {
        RecoveredState::Alive(link) => Some(link.pid),
        RecoveredState::Unresponsive(silent) => silent.pid,
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
        created_at: kernel.now(),
        expires_at: None,
    });
    tracing::warn!(pane = %found.id, pid, "a program without a record lives; it is listed as it is found");
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
        notice: ExitNoticeFormat::default(),
        timeout_seconds: None,
        ancestors: Vec::new(),
        pid,
        modes: String::new(),
        view: None,
        origin: None,
        agent: None,
        created_at: kernel.now(),
        grant,
        end: None,
    })
}

/// A pane that the journal remembers and that is not there: somebody was interrupted while removing it, or
/// took its folder away.
fn record_removed(kernel: &Kernel, record: PaneRecord) {
    let payload = record.event_payload(json!({}));
    let lost = record.end.is_none().then(|| draft("pane:lost", &payload));
    let drafts = lost.into_iter().chain([draft("pane:removed", &payload)]).collect();
    let changes: Vec<RecordChange> = vec![PaneRecord::delete(&record.id)];
    kernel.journal().record(drafts, changes);
}
