//! What the actions on agents have in common.

use paned_model::{AgentInfo, PaneId, Refusal};

use crate::Kernel;
use crate::agents::AgentHandle;
use crate::panes::Pane;
use crate::panes::pane::pane_gone;

/// What the agent in a pane is doing, or the refusal that there is none.
pub(super) fn agent(pane: &Pane) -> Result<AgentInfo, Refusal> {
    pane.lock().agent.clone().ok_or_else(|| no_agent(&pane.id))
}

/// Whoever follows the agent in a pane, or why nobody does.
pub(super) fn agent_handle(kernel: &Kernel, pane: &Pane) -> Result<AgentHandle, Refusal> {
    agent(pane)?;
    pane.check_responsive()?;
    kernel.agents().find(&pane.id).ok_or_else(|| {
        let status = pane.lock().status();
        if status.is_live() { no_agent(&pane.id) } else { pane_gone(&pane.id, status) }
    })
}

/// The refusal to treat a pane as an agent.
pub(super) fn no_agent(id: &PaneId) -> Refusal {
    Refusal::invalid(format!(
        "the program in pane `{id}` is not followed as an agent; `agent:create` starts one, and `agent:set-state` \
         with `runtime` says what a program is"
    ))
}
