//! `pane:kill`

use std::time::Duration;

use paned_model::frame::Survivor;
use paned_model::{PaneId, PaneStatus, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::panes::close::kill;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneKill;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How long the program may take to exit, in milliseconds, before it is killed.
    #[schemars(range(max = 600_000))]
    grace_ms: Option<u64>,
    /// Kill it at once. If its keeper does not respond, the keeper is killed as well.
    #[serde(default)]
    force: bool,
    /// Confirms that the caller may stop the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneKillOutput {
    /// The pane. It stays readable until it is deleted.
    id: PaneId,
    /// `killed` only if every process of it is gone.
    status: PaneStatus,
    /// The program's exit code, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    /// The signal that terminated the program, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<String>,
    /// Whether its restart policy was about to start it again, which is cancelled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restart_cancelled: bool,
    /// Processes that could not be stopped.
    survivors: Vec<Survivor>,
}

impl Action for PaneKill {
    const NAME: &'static str = "pane:kill";
    const DOC: &'static str = "Stop a pane's program and all its child processes. The pane and its output stay \
        readable.";
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
        let restart = pane.info().restart;
        let restart_cancelled = restart.is_some_and(|restart| restart.next_at.is_some());
        let (info, survivors) = kill(kernel, &pane, grace, params.force).await?;
        Ok(PaneKillOutput {
            id: info.id,
            status: info.status,
            exit_code: info.exit_code,
            exit_signal: info.exit_signal,
            restart_cancelled,
            survivors,
        })
    }
}

/// The grace that was asked for, if any.
pub(super) fn check_grace(millis: Option<u64>) -> Result<Option<Duration>, Refusal> {
    match millis {
        Some(600_001..) => Err(Refusal::invalid("`graceMs` must be at most 600000 (ten minutes)")),
        other => Ok(other.map(Duration::from_millis)),
    }
}
