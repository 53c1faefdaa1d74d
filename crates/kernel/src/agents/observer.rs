//! Follows what happens to panes on behalf of the agents in them.

use super::on_exit::ended;
use super::publish::{publish_exit, publish_recovered};
use super::{AgentOrigin, send_to_agent};
use crate::Kernel;
use crate::panes::{Pane, PaneChange, PaneObserver};

/// Tells the agents' tasks and the outbox what happens to panes.
pub(crate) struct AgentPaneObserver;

impl PaneObserver for AgentPaneObserver {
    fn observe(&self, kernel: &Kernel, pane: &Pane, change: &PaneChange<'_>) {
        let agents = kernel.agents();
        match change {
            PaneChange::Reconnected(pane) => {
                agents.spawn_task(kernel, pane, AgentOrigin::Recovered);
            }
            // The agent's task starts anew, as after a restart.
            PaneChange::Disconnected => agents.forget(&pane.id),
            PaneChange::Refound => publish_recovered(kernel, pane),
            PaneChange::Typed(typed) => {
                if let Some(agent) = agents.find(&pane.id) {
                    agent.typing(typed);
                    agent.typed(typed.clone());
                }
            }
            PaneChange::View => {}
            PaneChange::Exited(report) => {
                if let Some((parent, text)) = report.notice {
                    // An agent reads messages, not events.
                    let key = format!("end of {} of {}", pane.id, pane.created_at.0);
                    send_to_agent(kernel, parent, text, key);
                }
                if let Some(pane) = report.listed {
                    ended(kernel, pane);
                }
            }
            PaneChange::ExitRecovered => publish_exit(kernel, pane),
            PaneChange::Removed => {
                agents.forget(&pane.id);
                agents.outbox().forget(kernel, &pane.id);
            }
        }
    }
}
