//! `agent:list`

use paned_model::{AgentState, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::panes::listed::{self, Listed};
use crate::panes::pane::State;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Only agents that do this.
    state: Option<AgentState>,
    /// Only agents of this profile.
    profile: Option<String>,
}

impl Action for AgentList {
    const NAME: &'static str = "agent:list";
    const DOC: &'static str = "Show all agents, or those that match, oldest first.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Vec<Listed>;

    fn touches(_: &Params) -> Touches {
        Touches::reached()
    }

    async fn run(context: Context, params: Params) -> Result<Vec<Listed>, Refusal> {
        Ok(listed::list(&context, |pane| params.picks(pane)))
    }
}

impl Params {
    fn picks(&self, pane: &State) -> bool {
        pane.agent.as_ref().is_some_and(|agent| {
            self.state.is_none_or(|state| agent.state == state)
                && self.profile.as_ref().is_none_or(|profile| agent.profile == *profile)
        })
    }
}
