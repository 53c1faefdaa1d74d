//! `pane:close`

use std::time::Duration;

use paned_backend::PaneCommand;
use paned_model::frame::Survivor;
use paned_model::{Code, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::access::AccessRequest;
use crate::panes::Pane;
use crate::panes::close::{forget, kill, traces};
use crate::registry::{Action, ActionContext, ActionKind};

/// How long it may take to release an adopted pane.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);

pub(in crate::actions) struct PaneClose;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Kill it at once, even if its keeper does not respond, and delete it even if some of its
    /// processes cannot be stopped.
    #[serde(default)]
    force: bool,
    /// Confirms that the caller may stop the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneCloseOutput {
    /// Processes that could not be stopped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    survivors: Vec<Survivor>,
}

impl Action for PaneClose {
    const NAME: &'static str = "pane:close";
    const DOC: &'static str = "Stop a pane's program and delete the pane with its output. An \
                              adopted pane is released, and its program keeps running.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = PaneCloseOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).ending(params.itself)
    }

    async fn run(
        context: ActionContext,
        Params { pane_id, force, .. }: Params,
    ) -> Result<PaneCloseOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&pane_id)?;
        if pane.is_adopted() {
            match release_adopted(&pane).await {
                // Ends the pipe recorder only; the program belongs to tmux.
                Err(refusal) if force && refusal.code == Code::Unavailable => {
                    let traces = traces(kernel, &pane);
                    kernel.backend().end(pane.id.clone(), traces, Duration::ZERO).await?;
                }
                released => released?,
            }
            forget(kernel, &pane).await?;
            return Ok(PaneCloseOutput { survivors: Vec::new() });
        }
        let grace = if force { Duration::ZERO } else { kernel.limits().kill_grace };
        let (_, survivors) = kill(kernel, &pane, grace, force).await?;
        if !survivors.is_empty() && !force {
            let sentence = format!(
                "pane `{pane_id}` was not deleted because {} of its processes could not be \
                stopped; set `force` to delete it anyway",
                survivors.len()
            );
            let details = json!({ "survivors": survivors });
            return Err(Refusal::new(Code::Busy, sentence).with_details(details));
        }
        forget(kernel, &pane).await?;
        Ok(PaneCloseOutput { survivors })
    }
}

/// Stops watching an adopted pane. If its pipe recorder is gone, it is not watched any more.
async fn release_adopted(pane: &Pane) -> Result<(), Refusal> {
    let commands = match pane.commands() {
        Ok(commands) => commands,
        Err(refusal) if refusal.code == Code::Gone => return Ok(()),
        // It is being adopted, or its pipe recorder does not answer.
        Err(refusal) => return Err(refusal),
    };
    let (reply, answer) = oneshot::channel();
    if commands.send(PaneCommand::Detach(reply)).await.is_ok() {
        let _ = timeout(RELEASE_TIMEOUT, answer).await;
    }
    Ok(())
}
