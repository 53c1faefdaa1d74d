//! `agent:state`

use paned_model::{AgentInfo, Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::actions::support::agents::agent;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentStateAction;

impl Action for AgentStateAction {
    const NAME: &'static str = "agent:state";
    const DOC: &'static str = "Show what an agent is doing.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = PaneIdParams;
    type Answer = AgentInfo;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<AgentInfo, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        agent(&pane)
    }
}
