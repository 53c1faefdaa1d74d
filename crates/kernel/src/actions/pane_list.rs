//! `pane:list`

use paned_model::{AgentInfo, AgentState, Meta, Refusal, Scope, Status};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::panes::listed::{self, Listed};
use crate::panes::pane::State;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct PaneList;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Only panes with this tag.
    tag: Option<String>,
    /// Only panes in this status.
    status: Option<Status>,
    /// Only agents that do this.
    agent_state: Option<AgentState>,
    /// Only panes whose meta holds all of this.
    #[serde(default)]
    meta: Meta,
}

impl Action for PaneList {
    const NAME: &'static str = "pane:list";
    const DOC: &'static str = "Show all panes, or those that match, oldest first.";
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
        self.tag.as_ref().is_none_or(|tag| pane.record.tags.contains(tag))
            && self.status.is_none_or(|status| pane.status() == status)
            && self.does(pane.agent.as_ref())
            && self.meta.iter().all(|(key, value)| pane.meta().get(key) == Some(value))
    }

    fn does(&self, agent: Option<&AgentInfo>) -> bool {
        self.agent_state.is_none_or(|state| agent.is_some_and(|agent| agent.state == state))
    }
}
