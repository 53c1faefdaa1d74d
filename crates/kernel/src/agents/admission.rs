//! The limit of running agents, and which one is evicted for a new one.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use paned_model::{Code, PaneId, Refusal};
use paned_policy::evict::{self, EvictCandidate};

use super::{AgentRequest, Agents};
use crate::panes::{Pane, close};
use crate::{Caller, Kernel};

/// Watchers of a pane that are not clients: the task of its agent.
const OWN_WATCHERS: usize = 1;

/// The right to start one agent. Dropped when its pane is registered, or when the start has failed.
pub(crate) struct AgentSlot {
    kernel: Kernel,
    id: PaneId,
}

impl Drop for AgentSlot {
    fn drop(&mut self) {
        let starting = &self.kernel.agents().starting;
        starting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Agents {
    /// Reserves a slot for a new agent of this name. At the limit, it evicts the agent that has
    /// been idle for longest, of those that the caller may access; never the caller's own.
    pub(crate) async fn admit(
        &self,
        kernel: &Kernel,
        id: &PaneId,
        caller: &Caller,
    ) -> Result<AgentSlot, Refusal> {
        loop {
            if let Some(slot) = self.reserve(kernel, id) {
                return Ok(slot);
            }
            let living = living(kernel);
            let reached = living.iter().filter(|pane| {
                kernel.reaches(&pane.id, caller) && caller.pane.as_ref() != Some(&pane.pane_ref())
            });
            let candidates: Vec<EvictCandidate> =
                reached.filter_map(|pane| candidate(kernel, pane)).collect();
            let first = evict::first(&candidates, kernel.now()).ok_or_else(|| full(kernel))?;
            let pane = kernel.panes().get(&first.pane)?;
            if evict(kernel, &pane).await? {
                tracing::info!(pane = %pane.id, "an idle agent was evicted for a new one");
            }
        }
    }

    fn reserve(&self, kernel: &Kernel, id: &PaneId) -> Option<AgentSlot> {
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let agents = living(kernel);
        let agents: HashSet<&PaneId> =
            agents.iter().map(|pane| &pane.id).chain(&*starting).collect();
        if kernel.limits().agents <= agents.len() {
            return None;
        }
        starting.insert(id.clone());
        Some(AgentSlot { kernel: kernel.clone(), id: id.clone() })
    }
}

fn full(kernel: &Kernel) -> Refusal {
    let limit = kernel.limits().agents;
    let sentence = format!(
        "the limit of {limit} agents is reached, and none of them is idle and unwatched; close \
        one with `agent:close`, or raise `limits.agents` in config.toml"
    );
    Refusal::new(Code::Limit, sentence)
}

/// All panes with a running agent.
fn living(kernel: &Kernel) -> Vec<Arc<Pane>> {
    let is_living = |pane: &Arc<Pane>| {
        let state = pane.lock();
        state.agent.is_some() && state.status().is_live()
    };
    kernel.panes().list().into_iter().filter(is_living).collect()
}

/// The facts that decide whether the agent in a pane may be evicted, if one runs there.
pub(crate) fn candidate(kernel: &Kernel, pane: &Pane) -> Option<EvictCandidate> {
    let state = pane.lock();
    let agent = state.agent.as_ref().filter(|_| state.status().is_live())?;
    let ours = kernel.agents().find(&pane.id).map_or(0, |_| OWN_WATCHERS);
    let others = pane.watchers().saturating_sub(ours);
    let watched = (0 < others).then(|| format!("{others} clients follow its output"));
    Some(EvictCandidate {
        pane: pane.id.clone(),
        state: agent.state,
        since: agent.since,
        queued: agent.queued,
        watched_by: state.size_held_by.clone().or(watched),
        persist: state.record.persist,
    })
}

/// Whether an agent may still be evicted, checked on its present screen.
async fn is_still_evictable(kernel: &Kernel, pane: &Arc<Pane>) -> bool {
    if let Some(agent) = kernel.agents().find(&pane.id) {
        let _ = agent.ask(AgentRequest::Inspect).await;
    }
    let now = kernel.now();
    candidate(kernel, pane).is_some_and(|agent| evict::may_evict(&agent, 0, now).is_ok())
}

/// Closes an agent if it may still be evicted; returns whether the pane is gone.
pub(crate) async fn evict(kernel: &Kernel, pane: &Arc<Pane>) -> Result<bool, Refusal> {
    if !is_still_evictable(kernel, pane).await {
        return Ok(false);
    }
    close::close(kernel, pane).await?;
    Ok(!kernel.panes().contains(&pane.id))
}
