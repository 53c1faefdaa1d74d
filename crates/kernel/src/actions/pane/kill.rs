//! `pane:kill`

use std::sync::Arc;
use std::time::Duration;

use paned_backend::{PaneCommand, ProcessFingerprint, REPLY_TIMEOUT};
use paned_model::frame::{RefusalReason, Survivor};
use paned_model::{Code, PaneId, PaneInfo, PaneStatus, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::Kernel;
use crate::access::AccessRequest;
use crate::panes::Pane;
use crate::registry::{Action, ActionContext, ActionKind};

/// How long a responsive keeper may take beyond the grace: to kill the processes, to drain the
/// output, to answer.
const KEEPER_MARGIN: Duration = Duration::from_secs(10);
/// How long the server may take to scan what a program printed before it was killed.
const SCAN_TIMEOUT: Duration = Duration::from_secs(60);
/// How long between two probes of a keeper that is ending a pane.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

pub(in crate::actions) struct PaneKill;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How long the program may take to exit when asked, in milliseconds, before it is killed.
    #[schemars(range(max = 600_000))]
    grace_ms: Option<u64>,
    /// End it at once, and without its keeper if that does not answer: the keeper is killed, too.
    #[serde(default)]
    force: bool,
    /// Confirms that the caller may end the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneKillOutput {
    /// The pane. It stays readable until it is removed.
    id: PaneId,
    /// `killed` only if every process of it is gone.
    status: PaneStatus,
    /// The code the program returned, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    /// The signal that ended the program, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<String>,
    /// Processes that could not be ended.
    survivors: Vec<Survivor>,
}

impl Action for PaneKill {
    const NAME: &'static str = "pane:kill";
    const DOC: &'static str =
        "End a pane's program and all that it started; the pane stays readable.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = PaneKillOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).ending(params.itself)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneKillOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let usual = if params.force { Duration::ZERO } else { kernel.limits().kill_grace };
        let grace = check_grace(params.grace_ms)?.unwrap_or(usual);
        let (info, survivors) = kill(kernel, &pane, grace, params.force).await?;
        Ok(PaneKillOutput {
            id: info.id,
            status: info.status,
            exit_code: info.exit_code,
            exit_signal: info.exit_signal,
            survivors,
        })
    }
}

fn check_grace(millis: Option<u64>) -> Result<Option<Duration>, Refusal> {
    match millis {
        Some(600_001..) => {
            Err(Refusal::invalid("`graceMs` goes up to 600000, which is ten minutes"))
        }
        other => Ok(other.map(Duration::from_millis)),
    }
}

/// Ends all processes of a pane; returns the pane's new state and the processes that survived.
pub(in crate::actions) async fn kill(
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
            // It is being started, or its keeper does not answer: without the keeper its processes
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
pub(in crate::actions) fn traces(kernel: &Kernel, pane: &Pane) -> ProcessFingerprint {
    let state = pane.lock();
    let lost = state.record.end.map_or_else(|| kernel.now(), |end| end.at);
    ProcessFingerprint {
        variable: format!("PANED_TOKEN=paned_{}_", state.record.grant.grant.id),
        pid: state.record.pid.filter(|_| state.record.origin.is_none()).unwrap_or(u32::MAX),
        created: state.record.created_at,
        lost,
    }
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
        "the keeper of pane `{}` does not answer; this may still be carried out when the keeper \
         continues; with `force` the pane is ended without it",
        pane.id
    );
    Refusal::new(Code::Timeout, sentence)
}
