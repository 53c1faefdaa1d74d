//! Helpers shared by the actions on agents.

use paned_model::{AgentInfo, PaneId, Refusal};

use crate::Kernel;
use crate::agents::AgentHandle;
use crate::panes::Pane;
use crate::panes::pane::pane_gone;

/// The state of the agent in a pane, or the refusal that there is none.
pub(in crate::actions) fn agent(pane: &Pane) -> Result<AgentInfo, Refusal> {
    pane.lock().agent.clone().ok_or_else(|| no_agent(&pane.id))
}

/// The handle of the task that follows the agent in a pane, or why there is none.
pub(in crate::actions) fn agent_handle(
    kernel: &Kernel,
    pane: &Pane,
) -> Result<AgentHandle, Refusal> {
    agent(pane)?;
    pane.check_responsive()?;
    kernel.agents().find(&pane.id).ok_or_else(|| {
        let status = pane.lock().status();
        if status.is_live() { no_agent(&pane.id) } else { pane_gone(&pane.id, status) }
    })
}

/// The refusal to treat a pane as an agent.
pub(in crate::actions) fn no_agent(id: &PaneId) -> Refusal {
    Refusal::invalid(format!(
        "the program in pane `{id}` is not tracked as an agent; start agents with \
        `agent:create`, or identify this program with `agent:set-state`"
    ))
}
