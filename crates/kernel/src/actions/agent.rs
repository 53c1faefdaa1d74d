//! What the actions on agents have in common.

use paned_model::{AgentInfo, PaneId, Refusal};

use crate::panes::Pane;

/// What the agent in a pane is doing, or the refusal that there is none.
pub(super) fn agent(pane: &Pane) -> Result<AgentInfo, Refusal> {
    pane.lock().agent.clone().ok_or_else(|| no_agent(&pane.id))
}

/// The refusal to treat a pane as an agent.
pub(super) fn no_agent(id: &PaneId) -> Refusal {
    Refusal::invalid(format!(
        "the program in pane `{id}` is not followed as an agent; `agent:create` starts one, and `agent:set-state` \
         with `runtime` says what a program is"
    ))
}
