//! Ends panes and removes them.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::{PaneCommand, ProcessFingerprint, REPLY_TIMEOUT};
use paned_model::frame::{RefusalReason, Survivor};
use paned_model::{Code, PaneInfo, Refusal};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::{Pane, PaneChange, PaneRecord, restart};
use crate::Kernel;
use crate::journal::{RecordChange, draft};

/// How long a responsive keeper may take beyond the grace: to kill the processes, to drain the
/// output, to answer.
const KEEPER_MARGIN: Duration = Duration::from_secs(10);
/// How long the server may take to scan what a program printed before it was killed.
const SCAN_TIMEOUT: Duration = Duration::from_secs(60);
/// How long between two probes of a keeper that is ending a pane.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Ends a pane's program and removes the pane, unless one of its processes survives.
pub(crate) async fn close(kernel: &Kernel, pane: &Arc<Pane>) -> Result<(), Refusal> {
    let (_, survivors) = kill(kernel, pane, kernel.limits().kill_grace, false).await?;
    if survivors.is_empty() { forget(kernel, pane).await } else { Ok(()) }
}

/// Ends all processes of a pane; returns the pane's new state and the processes that survived.
pub(crate) async fn kill(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    grace: Duration,
    force: bool,
) -> Result<(PaneInfo, Vec<Survivor>), Refusal> {
    restart::cancel(kernel, pane);
    let killed = kill_for_restart(kernel, pane, grace, force).await;
    // Its program may have failed by itself in the meantime.
    restart::cancel(kernel, pane);
    killed
}

/// As [`kill`]; a restart that is due stays so.
pub(crate) async fn kill_for_restart(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    grace: Duration,
    force: bool,
) -> Result<(PaneInfo, Vec<Survivor>), Refusal> {
    let _guard = KillGuard::new(pane);
    let survivors = kill_processes(kernel, pane, grace, force).await?;
    if survivors.is_empty() {
        // The keeper has reported the exit; the table follows once the last output is scanned,
        // which takes as long as there is output. Without an exit on the tape nothing has ended.
        if timeout(KEEPER_MARGIN, pane.ended()).await.is_err() {
            pane.readable()?.ending().ok_or_else(|| kill_timeout(pane))?;
            timeout(SCAN_TIMEOUT, pane.ended()).await.map_err(|_| kill_timeout(pane))?;
        }
        pane.check_responsive()?;
    } else {
        kernel.emit("pane:survived", &pane.event_payload(json!({ "survivors": survivors })));
    }
    Ok((pane.info(), survivors))
}

/// Ends all processes of a pane, with its keeper or without; returns those that survived.
async fn kill_processes(
    kernel: &Kernel,
    pane: &Pane,
    grace: Duration,
    force: bool,
) -> Result<Vec<Survivor>, Refusal> {
    // Without its keeper the tmux of an adopted pane cannot be reached.
    let may_force = force && !pane.is_adopted();
    loop {
        let commands = match pane.commands() {
            Ok(commands) => commands,
            Err(refusal) if refusal.code == Code::Gone => {
                return kill_orphans(kernel, pane, grace).await;
            }
            Err(refusal) if may_force && refusal.code == Code::Unavailable => {
                return kill_without_keeper(kernel, pane, grace).await;
            }
            // It is being started, or its keeper does not respond: without the keeper its processes
            // would be orphaned.
            Err(refusal) => return Err(refusal),
        };
        match ask_keeper(pane, &commands, grace, force).await {
            Ok(Some(survivors)) => return Ok(survivors),
            Ok(None) if has_lost_keeper(pane, &commands).await? => {
                return kill_orphans(kernel, pane, grace).await;
            }
            // The connection is another one by now.
            Ok(None) => {}
            Err(refusal) if may_force && refusal.code == Code::Timeout => {
                return kill_without_keeper(kernel, pane, grace).await;
            }
            Err(refusal) => return Err(refusal),
        }
    }
}

/// Whether the keeper whose connection was closed is dead. Waits until that is known: its tape may
/// be closed a moment later than its connection.
async fn has_lost_keeper(
    pane: &Pane,
    commands: &mpsc::Sender<PaneCommand>,
) -> Result<bool, Refusal> {
    let mut changes = pane.watch();
    let output = pane.readable()?;
    let is_connected = || pane.sender().is_ok_and(|sender| sender.same_channel(commands));
    let known = async {
        while output.has_live_keeper() && is_connected() && changes.changed().await.is_ok() {}
    };
    timeout(KEEPER_MARGIN, known).await.map_err(|_| kill_timeout(pane))?;
    Ok(!output.has_live_keeper())
}

/// Asks the keeper to end the pane. None if the keeper goes away before it answers.
async fn ask_keeper(
    pane: &Pane,
    commands: &mpsc::Sender<PaneCommand>,
    grace: Duration,
    force: bool,
) -> Result<Option<Vec<Survivor>>, Refusal> {
    let margin = if force { REPLY_TIMEOUT } else { KEEPER_MARGIN };
    let (reply, answer) = oneshot::channel();
    let sent = timeout(REPLY_TIMEOUT, commands.send(PaneCommand::Kill(grace, reply))).await;
    if sent.map_err(|_| kill_timeout(pane))?.is_err() {
        return Ok(None);
    }
    let answered = timeout(grace + margin, answer);
    tokio::select! {
        answer = answered => Ok(answer.map_err(|_| kill_timeout(pane))?.ok()),
        () = wait_unresponsive(commands), if !pane.is_adopted() => Err(kill_timeout(pane)),
    }
}

/// Returns once a keeper does not answer empty input within the deadline of input. A kill may take
/// arbitrarily long; only a probe distinguishes a keeper that is busy with it from one that is
/// stopped.
async fn wait_unresponsive(commands: &mpsc::Sender<PaneCommand>) {
    loop {
        let (reply, answer) = oneshot::channel();
        if commands.send(PaneCommand::Input(Vec::new(), reply)).await.is_err() {
            return std::future::pending().await;
        }
        if let Ok(Err(RefusalReason::TimedOut | RefusalReason::Cancelled)) = answer.await {
            return;
        }
        sleep(PROBE_INTERVAL).await;
    }
}

/// Ends the processes that a crashed keeper has left behind: it died before its program, or after
/// it while other processes of the pane were alive. A keeper that finished normally has left none.
async fn kill_orphans(
    kernel: &Kernel,
    pane: &Pane,
    grace: Duration,
) -> Result<Vec<Survivor>, Refusal> {
    match pane.is_adopted() {
        false => Ok(kernel.backend().end(pane.id.clone(), traces(kernel, pane), grace).await?),
        true => Ok(Vec::new()),
    }
}

/// Ends a pane whose keeper is alive but does not answer, and the keeper.
async fn kill_without_keeper(
    kernel: &Kernel,
    pane: &Pane,
    grace: Duration,
) -> Result<Vec<Survivor>, Refusal> {
    pane.lock().is_forced = true;
    let ended = kernel.backend().end(pane.id.clone(), traces(kernel, pane), grace).await;
    if !matches!(&ended, Ok(survivors) if survivors.is_empty()) {
        pane.lock().is_forced = false;
    }
    Ok(ended?)
}

/// How to recognise the pane's processes: only they got the token with its grant's id.
pub(crate) fn traces(kernel: &Kernel, pane: &Pane) -> ProcessFingerprint {
    let state = pane.lock();
    let lost = state.record.end.map_or_else(|| kernel.now(), |end| end.at);
    ProcessFingerprint {
        variable: format!("PANED_TOKEN=paned_{}_", state.record.grant.grant.id),
        pid: state.record.pid.filter(|_| state.record.origin.is_none()).unwrap_or(u32::MAX),
        created: state.record.created_at,
        lost,
    }
}

/// Removes a pane: its files first, so that an interruption leaves at most a record without a pane,
/// which the next start removes. Its name is freed last: all of this goes by name, and must not
/// affect the next pane of that name. For the same reason it is done once, even with concurrent
/// callers.
pub(crate) async fn forget(kernel: &Kernel, pane: &Arc<Pane>) -> Result<(), Refusal> {
    let mut is_removed = pane.is_removed.lock().await;
    if *is_removed {
        return Ok(());
    }
    kernel.backend().remove(pane.id.clone()).await?;
    *is_removed = true;
    kernel.grants().remove(&pane.lock().record.grant.grant.id);
    kernel.panes().report(kernel, pane, &PaneChange::Removed);
    let removed = draft("pane:removed", &pane.event_payload(json!({})));
    let redact = RecordChange::Redact { pane: pane.id.to_string() };
    kernel.journal().record(vec![removed], vec![PaneRecord::delete(&pane.id), redact]);
    kernel.panes().remove(pane);
    Ok(())
}

/// Counts a kill while it is in progress.
struct KillGuard<'a>(&'a Pane);

impl<'a> KillGuard<'a> {
    fn new(pane: &'a Pane) -> Self {
        pane.lock().kills += 1;
        Self(pane)
    }
}

impl Drop for KillGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().kills -= 1;
    }
}

fn kill_timeout(pane: &Pane) -> Refusal {
    let sentence = format!(
        "the keeper of pane `{}` does not respond; the request may still take effect when it \
        does; set `force` to stop the pane without its keeper",
        pane.id
    );
    Refusal::new(Code::Timeout, sentence)
}
