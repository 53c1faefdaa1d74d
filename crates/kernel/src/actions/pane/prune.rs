//! `pane:prune`

use std::sync::Arc;

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::remove::remove;
use crate::access::AccessRequest;
use crate::panes::Pane;
use crate::panes::restart::RestartStage;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PanePrune;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Only panes that ended at least this many milliseconds ago.
    #[serde(default)]
    older_ms: u64,
    /// Only panes with this tag.
    tag: Option<String>,
    /// Only report what would be deleted.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PanePruneOutput {
    /// The panes that were deleted, oldest first.
    removed: Vec<PrunedPane>,
    /// Panes that have ended and could not be deleted.
    kept: Vec<UnprunedPane>,
    /// How many bytes of output were deleted.
    bytes: u64,
}

/// A pane that was deleted.
#[derive(Serialize, JsonSchema)]
struct PrunedPane {
    /// Its id.
    id: PaneId,
    /// How many bytes of its output were kept.
    bytes: u64,
}

/// A pane that has ended and could not be deleted.
#[derive(Serialize, JsonSchema)]
struct UnprunedPane {
    /// Its id.
    id: PaneId,
    /// Why it stays.
    why: String,
}

impl Action for PanePrune {
    const NAME: &'static str = "pane:prune";
    const DOC: &'static str = "Delete the panes that have ended, with their output.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = PanePruneOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PanePruneOutput, Refusal> {
        let ActionContext { kernel, caller, .. } = context;
        let mut output = PanePruneOutput { removed: Vec::new(), kept: Vec::new(), bytes: 0 };
        let panes = kernel.panes().list();
        let panes = panes.into_iter().filter(|pane| kernel.reaches(&pane.id, &caller));
        for pane in panes.filter(|pane| params.matches(pane, kernel.now().0)) {
            let id = pane.id.clone();
            let bytes = pane.output().map_or(0, |output| output.end() - output.first());
            let removed = if params.dry_run { Ok(()) } else { remove(&kernel, &pane).await };
            match removed {
                Ok(()) => {
                    output.bytes += bytes;
                    output.removed.push(PrunedPane { id, bytes });
                }
                Err(refusal) => output.kept.push(UnprunedPane { id, why: refusal.sentence }),
            }
        }
        Ok(output)
    }
}

impl Params {
    fn matches(&self, pane: &Arc<Pane>, now: u64) -> bool {
        let state = pane.lock();
        // Its program is about to be started again, so it has not ended for good.
        let is_due =
            state.record.restart.is_some_and(|it| matches!(it.stage, RestartStage::Due(_)));
        let is_pending = state.record.previous_run.as_ref().is_some_and(|it| it.is_pending);
        if is_due || is_pending {
            return false;
        }
        let ended_at = state.record.end.map_or(pane.created_at, |end| end.at);
        // A program that a restart policy will start again has not ended for good.
        let is_restart_due = state.record.restart.is_some_and(|restart| restart.is_due());
        !state.status().is_live()
            && !is_restart_due
            && self.tag.as_ref().is_none_or(|tag| state.record.tags.contains(tag))
            && self.older_ms <= now.saturating_sub(ended_at.0)
    }
}
