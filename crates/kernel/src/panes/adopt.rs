//! Finding the panes again: what the journal remembers against what is there.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use paned_model::frame::Ending;
use paned_model::{Grant, GrantId, Instance, Meta, PaneId, PaneRef, PaneSet, Size, Status, Time};
use paned_substrate::{Found, Link, Output, Silent, State};
use serde_json::json;

use super::notice::Manner;
use super::pane::Reach;
use super::record::{End, Title};
use super::task;
use super::{Pane, Record, end};
use crate::Kernel;
use crate::agents::{self, Life};
use crate::dispatch::draft;
use crate::grants::{Stored, random_name};
use crate::journal::Change;

/// How many milliseconds a program waits for an answer of its terminal. Many wait longer; none waits much less.
const PATIENCE: u64 = 500;
/// How much of its output is looked at for questions that it still waits for.
const RECENT: u64 = 64 << 10;

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
    let Some(mut record) = known.or_else(|| read(&found)).or_else(|| guess(kernel, &found)) else {
        return false;
    };
    record.pid = match &found.state {
        State::Alive(link) => Some(link.pid),
        State::Silent(silent) => silent.pid.or(record.pid),
        State::Ended(..) | State::Lost(_) => record.pid,
    };
    let is_refuted = refute(&mut record, &found.state);
    kernel.grants().insert(record.grant.clone());
    let (reach, size) = reach(&found.state);
    let pane = Arc::new(Pane::new(record, size, reach));
    // Whatever the limit says: what is there is there.
    if kernel.panes().insert(pane.clone(), usize::MAX).is_err() {
        return false;
    }
    if is_new {
        tell(kernel, &pane, "pane:created");
    }
    let lives = matches!(found.state, State::Alive(_) | State::Silent(_));
    if is_refuted && lives {
        tell(kernel, &pane, "pane:found");
        agents::found_again(kernel, &pane);
    }
    settle(kernel, &pane, found.state);
    lives
}

/// A pane was called lost whose keeper did not answer, or not in time. It is not if it lives, or if its tape knows how
/// it ended.
fn refute(record: &mut Record, state: &State) -> bool {
    let is_known = !matches!(state, State::Lost(_));
    let refuted = record.end.take_if(|end| is_known && end.status == Status::Lost).is_some();
    if refuted {
        // What follows an end has not been done for the one that comes.
        let made = record.agent.as_mut().and_then(|agent| agent.made.as_mut());
        made.into_iter().for_each(|made| made.settled = false);
    }
    refuted
}

fn tell(kernel: &Kernel, pane: &Pane, name: &str) {
    let payload = pane.about(json!({}));
    kernel.journal().record(vec![draft(name, &payload)], vec![pane.lock().record.put()]);
}

/// Goes on with a pane as it was found.
fn settle(kernel: &Kernel, pane: &Arc<Pane>, state: State) {
    match state {
        State::Alive(link) => mind(kernel, pane, link),
        State::Silent(Silent { output, keeper, later, .. }) => {
            let ending = output.as_ref().and_then(|output| output.ending());
            pane.hush(output, keeper);
            // Its program has ended, and others of its processes may not have.
            if let Some(ending) = ending {
                over(kernel, pane, ended(ending));
            }
            let (kernel, pane) = (kernel.clone(), pane.clone());
            tokio::spawn(async move { settle_if_there(&kernel, &pane, later.await) });
        }
        State::Ended(output, ending) => {
            pane.unlink_to(Some(output));
            over(kernel, pane, ended(ending));
        }
        State::Lost(output) => {
            pane.unlink_to(output);
            over(kernel, pane, end::lost(kernel.now()));
        }
    }
}

/// The keeper of a pane lives, and has let us go: it is reached again.
pub(crate) fn again(kernel: &Kernel, pane: &Arc<Pane>) {
    tracing::warn!(pane = %pane.id, "the keeper of a pane has let us go; it is tried again");
    pane.hush(pane.output(), None);
    // Whoever follows it as an agent begins anew, as after a restart.
    kernel.agents().forget(&pane.id);
    let (kernel, pane) = (kernel.clone(), pane.clone());
    tokio::spawn(async move {
        let state = kernel.ground().reach(pane.id.clone()).await;
        settle_if_there(&kernel, &pane, state);
    });
}

/// Goes on with a pane, unless it was forgotten meanwhile.
fn settle_if_there(kernel: &Kernel, pane: &Arc<Pane>, state: State) {
    if kernel.panes().get(&pane.id).is_ok_and(|there| Arc::ptr_eq(&there, pane)) {
        settle(kernel, pane, state);
    }
}

/// Looks after a pane whose keeper is there.
fn mind(kernel: &Kernel, pane: &Arc<Pane>, link: Link) {
    let link = resume(kernel, pane, link);
    pane.lock().asked_before = asked_long_ago(link.output.as_ref(), kernel.now());
    pane.link(&link);
    task::mind(kernel, pane, link);
    kernel.agents().mind(kernel, pane, Life::Found);
}

/// Up to where a program's questions came too long ago. Whoever asked while no server was there was answered by a
/// terminal that was attached, or has given up, or is gone: an answer would be typing that nobody did.
fn asked_long_ago(output: &dyn Output, now: Time) -> u64 {
    let end = output.end();
    let mut at = output.taken().max(end.saturating_sub(RECENT)).max(output.first());
    while at < end {
        match output.time(at) {
            Ok(Ok(stamp)) if now.since(stamp.time) <= PATIENCE => return at,
            Ok(Ok(stamp)) => at = stamp.until.max(at + 1),
            Ok(Err(gap)) => at = gap.first.max(at + 1),
            Err(_) => return end,
        }
    }
    end
}

fn over(kernel: &Kernel, pane: &Pane, end: End) {
    end::record(kernel, pane, end);
    agents::ended_unseen(kernel, pane);
    pane.stir();
}

/// The scribe of an adopted pane was found; tmux is the way to all else.
fn resume(kernel: &Kernel, pane: &Pane, link: Link) -> Link {
    let origin = pane.lock().record.origin.clone();
    match (origin, &kernel.setup().foreign) {
        (Some(origin), Some(foreign)) => foreign.resume(&pane.id, link, origin.spot()),
        (Some(_) | None, _) => link,
    }
}

/// How far a pane can be reached before anybody looks after it, and how large it is.
fn reach(state: &State) -> (Reach, Size) {
    let (output, keeper) = match state {
        State::Alive(link) => (Some(link.output.clone()), None),
        State::Silent(silent) => (silent.output.clone(), silent.keeper),
        State::Ended(output, _) => (Some(output.clone()), None),
        State::Lost(output) => (output.clone(), None),
    };
    let size = output.as_ref().map(|output| output.size()).unwrap_or_default();
    let reach = match state {
        State::Alive(_) | State::Silent(_) => Reach::Silent { output, keeper },
        State::Ended(..) | State::Lost(_) => Reach::Unlinked { output },
    };
    (reach, size)
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

/// What the system knows of a program that lives and that we have no record of: it is listed, and can be ended. Its own grant
/// is lost, and it gets none.
fn guess(kernel: &Kernel, found: &Found) -> Option<Record> {
    let pid = match &found.state {
        State::Alive(link) => Some(link.pid),
        State::Silent(silent) => silent.pid,
        State::Ended(..) | State::Lost(_) => return None,
    };
    let of_process = |name: &str| pid.map(|pid| PathBuf::from(format!("/proc/{pid}/{name}")));
    let words = of_process("cmdline").and_then(|file| fs::read(file).ok()).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let argv: Vec<String> = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let cwd = of_process("cwd").and_then(|link| fs::read_link(link).ok());
    let pane = PaneRef { id: found.id.clone(), instance: Instance(random_name(12)) };
    let instance = pane.instance.clone();
    let (grant, _) = Stored::new(Grant {
        id: GrantId(random_name(10)),
        label: format!("pane {}", found.id),
        scopes: BTreeSet::new(),
        panes: PaneSet::Only(BTreeSet::new()),
        pane: Some(pane),
        created_at: kernel.now(),
        expires_at: None,
    });
    tracing::warn!(pane = %found.id, pid, "a program without a record lives; it is listed as it is found");
    Some(Record {
        id: found.id.clone(),
        instance,
        title: Title::Command(argv.join(" ").replace(char::is_control, " ")),
        argv,
        cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default(),
        meta: Meta::new(),
        tags: Vec::new(),
        persist: false,
        notify_on_exit: false,
        notice: Manner::default(),
        timeout_seconds: None,
        ancestors: Vec::new(),
        pid,
        modes: String::new(),
        wish: None,
        origin: None,
        agent: None,
        created_at: kernel.now(),
        grant,
        end: None,
    })
}

/// A pane that the journal remembers and that is not there: somebody was interrupted while removing it, or
/// took its folder away.
fn vanished(kernel: &Kernel, record: Record) {
    let payload = record.about(json!({}));
    let lost = record.end.is_none().then(|| draft("pane:lost", &payload));
    let drafts = lost.into_iter().chain([draft("pane:removed", &payload)]).collect();
    let changes: Vec<Change> = vec![Record::delete(&record.id)];
    kernel.journal().record(drafts, changes);
}
