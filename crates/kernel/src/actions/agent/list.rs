//! `agent:list`

use paned_model::{AgentState, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::actions::pane::list::list;
use crate::panes::list_cache::PaneJson;
use crate::panes::pane::PaneState;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Only agents in this state.
    state: Option<AgentState>,
    /// Only agents of this profile.
    profile: Option<String>,
}

impl Action for AgentList {
    const NAME: &'static str = "agent:list";
    const DOC: &'static str = "List agents, oldest first.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = Vec<PaneJson>;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: Params) -> Result<Vec<PaneJson>, Refusal> {
        Ok(list(&context, |pane| params.matches(pane)))
    }
}

impl Params {
    fn matches(&self, pane: &PaneState) -> bool {
        pane.agent.as_ref().is_some_and(|agent| {
            self.state.is_none_or(|state| agent.state == state)
                && self.profile.as_ref().is_none_or(|profile| agent.profile == *profile)
        })
    }
}
