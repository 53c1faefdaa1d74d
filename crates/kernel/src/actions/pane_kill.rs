//! `pane:kill`

use std::sync::Arc;
use std::time::Duration;

use paned_model::frame::Survivor;
use paned_model::{Code, PaneId, PaneInfo, Refusal, Scope, Status};
use paned_substrate::Command;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::Kernel;
use crate::panes::Pane;
use crate::registry::{Action, Context, Kind};

/// How long the keeper may take beyond the grace: to make the processes end, to drain, to answer.
const BEYOND: Duration = Duration::from_secs(10);

pub(super) struct PaneKill;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How long the program may take to end when asked, in milliseconds, before it is made to.
    #[schemars(range(max = 600_000))]
    grace_ms: Option<u64>,
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
    type Params = Params;
    type Answer = Killed;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Killed, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let grace = check_grace(params.grace_ms)?.unwrap_or(kernel.limits().grace);
        let (info, survivors) = kill(kernel, &pane, grace).await?;
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
) -> Result<(PaneInfo, Vec<Survivor>), Refusal> {
    let commands = match pane.commands() {
        Ok(commands) => commands,
        // One that has ended and has no keeper has no processes either.
        Err(refusal) if refusal.code == Code::Gone => return Ok((pane.info(), Vec::new())),
        // It is being started, or its keeper does not answer: what that looks after would be nobody's.
        Err(refusal) => return Err(refusal),
    };
    let _under_way = UnderWay::new(pane);
    let (reply, answer) = oneshot::channel();
    let survivors = match commands.send(Command::Kill(grace, reply)).await {
        Ok(()) => timeout(grace + BEYOND, answer).await.map_err(|_| too_slow(pane))?,
        // The keeper has just finished, or died; either way the table will say.
        Err(_) => Ok(Vec::new()),
    };
    let survivors = survivors.unwrap_or_default();
    if survivors.is_empty() {
        // The keeper has told it; the table knows in a moment. If it does not, nothing has ended.
        timeout(BEYOND, pane.ended()).await.map_err(|_| too_slow(pane))?;
        pane.check_heard()?;
    } else {
        kernel.emit("pane:survived", &json!({ "paneId": pane.id, "survivors": survivors }));
    }
    Ok((pane.info(), survivors))
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
    Refusal::new(Code::Timeout, format!("the keeper of pane `{}` does not answer", pane.id))
}
