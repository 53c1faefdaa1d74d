//! `agent:state`

use paned_model::{AgentInfo, Refusal, Scope};

use super::OnPane;
use super::agent::agent;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentState;

impl Action for AgentState {
    const NAME: &'static str = "agent:state";
    const DOC: &'static str = "Show what an agent is doing.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = OnPane;
    type Answer = AgentInfo;

    fn touches(params: &OnPane) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<AgentInfo, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        agent(&pane)
    }
}
