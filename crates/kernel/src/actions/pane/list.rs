//! `pane:list`

use paned_model::{AgentInfo, AgentState, Meta, PaneStatus, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::panes::list_cache::PaneJson;
use crate::panes::pane::PaneState;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneList;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Only panes with this tag.
    tag: Option<String>,
    /// Only panes in this status.
    status: Option<PaneStatus>,
    /// Only agents in this state.
    agent_state: Option<AgentState>,
    /// Only panes whose meta contains all of this.
    #[serde(default)]
    meta: Meta,
}

impl Action for PaneList {
    const NAME: &'static str = "pane:list";
    const DOC: &'static str = "List panes, oldest first.";
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

/// The panes that the caller may reach and that `picks` selects, oldest first.
pub(in crate::actions) fn list(
    context: &ActionContext,
    picks: impl Fn(&PaneState) -> bool,
) -> Vec<PaneJson> {
    let ActionContext { kernel, caller, .. } = context;
    let panes = kernel.panes().list();
    let reached = panes.iter().filter(|pane| kernel.reaches(&pane.id, caller));
    let listed = reached.filter_map(|pane| {
        let mut pane = pane.lock();
        picks(&pane).then(|| pane.listed())
    });
    listed.collect()
}

impl Params {
    fn matches(&self, pane: &PaneState) -> bool {
        self.tag.as_ref().is_none_or(|tag| pane.record.tags.contains(tag))
            && self.status.is_none_or(|status| pane.status() == status)
            && self.matches_agent_state(pane.agent.as_ref())
            && self.meta.iter().all(|(key, value)| pane.meta().get(key) == Some(value))
    }

    fn matches_agent_state(&self, agent: Option<&AgentInfo>) -> bool {
        self.agent_state.is_none_or(|state| agent.is_some_and(|agent| agent.state == state))
    }
}
