//! `pane:release`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneRelease;

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneReleaseOutput {
    /// The pane.
    id: PaneId,
    /// Whether this client held its size until now.
    released: bool,
}

impl Action for PaneRelease {
    const NAME: &'static str = "pane:release";
    const DOC: &'static str = "Release the size of a pane that this client holds on its persistent \
                              connection. The size stays as it is until another client sets it.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = PaneIdParams;
    type Answer = PaneReleaseOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<PaneReleaseOutput, Refusal> {
        context.kernel.panes().get(&pane_id)?;
        let released = match &context.caller.client {
            Some(client) => client.release(&pane_id).await,
            // A client without a persistent connection holds nothing.
            None => false,
        };
        Ok(PaneReleaseOutput { id: pane_id, released })
    }
}
