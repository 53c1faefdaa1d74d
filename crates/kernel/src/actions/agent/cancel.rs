//! `agent:cancel`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentCancel;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// The message, as `agent:message` has named it.
    message_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentCancelOutput {
    /// The message, of which nothing was typed.
    message_id: String,
}

impl Action for AgentCancel {
    const NAME: &'static str = "agent:cancel";
    const DOC: &'static str = "Cancel a message to an agent while it is queued. Its outcome is then \
                              `refused`; one that is being typed, or was, is not cancelled.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = AgentCancelOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentCancelOutput, Refusal> {
        let Params { pane_id, message_id } = params;
        let kernel = &context.kernel;
        kernel.panes().get(&pane_id)?;
        kernel.agents().cancel(kernel, &pane_id, &message_id).await?;
        Ok(AgentCancelOutput { message_id })
    }
}
