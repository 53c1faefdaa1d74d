//! `pane:kill`

use std::sync::Arc;
use std::time::Duration;

use paned_model::frame::{Refused, Survivor};
use paned_model::{Code, PaneId, PaneInfo, Refusal, Scope, Status};
use paned_substrate::{ANSWER, Command, Traces};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::Kernel;
use crate::panes::Pane;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

/// How long a keeper that answers may take beyond the grace: to make the processes end, to drain, to answer.
const BEYOND: Duration = Duration::from_secs(10);
/// How long between two probes of a keeper that is ending a pane.
const BETWEEN: Duration = Duration::from_secs(1);

pub(super) struct PaneKill;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How long the program may take to end when asked, in milliseconds, before it is made to.
    #[schemars(range(max = 600_000))]
    grace_ms: Option<u64>,
    /// End it at once, and without its keeper if that does not answer: the keeper is ended, too.
    #[serde(default)]
    force: bool,
    /// Whether it is meant although it is the pane that this comes from.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Killed {
    /// The pane. It stays readable until it is removed.
    id: PaneId,
    /// `killed` only if every process of it is gone.
    status: Status,
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
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = Killed;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id).ending(params.itself)
    }

    async fn run(context: Context, params: Params) -> Result<Killed, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let usual = if params.force { Duration::ZERO } else { kernel.limits().grace };
        let grace = check_grace(params.grace_ms)?.unwrap_or(usual);
        let (info, survivors) = kill(kernel, &pane, grace, params.force).await?;
        Ok(Killed {
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

/// Ends whatever is left of a pane; answers what it is then and who would not go.
pub(super) async fn kill(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    grace: Duration,
    force: bool,
) -> Result<(PaneInfo, Vec<Survivor>), Refusal> {
    let _under_way = UnderWay::new(pane);
    let survivors = match pane.commands() {
        Ok(commands) => match ask(pane, &commands, grace, force).await {
            Err(refusal) if force && !pane.is_adopted() && refusal.code == Code::Timeout => {
                without_keeper(kernel, pane, grace).await?
            }
            asked => asked?,
        },
        Err(refusal) if refusal.code == Code::Gone => left_behind(kernel, pane, grace).await?,
        // Without its keeper nobody reaches the tmux of an adopted one.
        Err(refusal) if force && !pane.is_adopted() && refusal.code == Code::Unavailable => {
            without_keeper(kernel, pane, grace).await?
        }
        // It is being started, or its keeper does not answer: what that looks after would be nobody's.
        Err(refusal) => return Err(refusal),
    };
    if survivors.is_empty() {
        // The keeper has told it; the table knows in a moment. If it does not, nothing has ended.
        timeout(BEYOND, pane.ended()).await.map_err(|_| too_slow(pane))?;
        pane.check_heard()?;
    } else {
        kernel.emit("pane:survived", &pane.about(json!({ "survivors": survivors })));
    }
    Ok((pane.info(), survivors))
}

/// Has the keeper end it.
async fn ask(
    pane: &Pane,
    commands: &mpsc::Sender<Command>,
    grace: Duration,
    force: bool,
) -> Result<Vec<Survivor>, Refusal> {
    let beyond = if force { ANSWER } else { BEYOND };
    let (reply, answer) = oneshot::channel();
    let sent = timeout(ANSWER, commands.send(Command::Kill(grace, reply))).await;
    if sent.map_err(|_| too_slow(pane))?.is_err() {
        // The keeper has just finished, or died; either way the table will say.
        return Ok(Vec::new());
    }
    let answered = timeout(grace + beyond, answer);
    tokio::select! {
        answer = answered => Ok(answer.map_err(|_| too_slow(pane))?.unwrap_or_default()),
        () = silence(commands), if !pane.is_adopted() => Err(too_slow(pane)),
    }
}

/// Returns once a keeper does not answer input that has no bytes within the deadline of input. A kill takes as long as it
/// takes; only a probe tells a keeper that is busy with it from one that is stopped.
async fn silence(commands: &mpsc::Sender<Command>) {
    loop {
        let (reply, answer) = oneshot::channel();
        if commands.send(Command::Input(Vec::new(), reply)).await.is_err() {
            return std::future::pending().await;
        }
        if let Ok(Err(Refused::Late | Refused::TakenBack)) = answer.await {
            return;
        }
        sleep(BETWEEN).await;
    }
}

/// Ends what a keeper has left behind that died: before its program, or after it while others of the pane's processes
/// lived. One that has finished has left nothing.
async fn left_behind(
    kernel: &Kernel,
    pane: &Pane,
    grace: Duration,
) -> Result<Vec<Survivor>, Refusal> {
    match pane.is_adopted() {
        false => Ok(kernel.ground().end(pane.id.clone(), traces(kernel, pane), grace).await?),
        true => Ok(Vec::new()),
    }
}

/// Ends a pane whose keeper lives and does not answer, and the keeper.
async fn without_keeper(
    kernel: &Kernel,
    pane: &Pane,
    grace: Duration,
) -> Result<Vec<Survivor>, Refusal> {
    pane.lock().is_forced = true;
    let ended = kernel.ground().end(pane.id.clone(), traces(kernel, pane), grace).await;
    if !matches!(&ended, Ok(survivors) if survivors.is_empty()) {
        pane.lock().is_forced = false;
    }
    Ok(ended?)
}

/// How the pane's processes are recognised: its grant is in the token that only they were given.
pub(super) fn traces(kernel: &Kernel, pane: &Pane) -> Traces {
    let state = pane.lock();
    let lost = state.record.end.map_or_else(|| kernel.now(), |end| end.at);
    Traces {
        variable: format!("PANED_TOKEN=paned_{}_", state.record.grant.grant.id),
        pid: state.record.pid.filter(|_| state.record.origin.is_none()).unwrap_or(u32::MAX),
        created: state.record.created_at,
        lost,
    }
}

/// A kill, while it is under way.
struct UnderWay<'a>(&'a Pane);

impl<'a> UnderWay<'a> {
    fn new(pane: &'a Pane) -> Self {
        pane.lock().kills += 1;
        Self(pane)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.lock().kills -= 1;
    }
}

fn too_slow(pane: &Pane) -> Refusal {
    let sentence = format!(
        "the keeper of pane `{}` does not answer; this may still be carried out when the keeper \
         continues; with `force` the pane is ended without it",
        pane.id
    );
    Refusal::new(Code::Timeout, sentence)
}
