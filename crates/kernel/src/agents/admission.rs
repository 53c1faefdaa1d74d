//! How many agents there may be, and who makes room for another.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use paned_model::{Code, PaneId, Refusal};
use paned_policy::evict::{self, EvictCandidate};

use super::{AgentRequest, Agents};
use crate::panes::Pane;
use crate::{Caller, Kernel, actions};

/// Followers of a pane that are ours: its agent's own task.
const OWN_WATCHERS: usize = 1;

/// The right to start one agent. Let go once it is in the table, or was not started after all.
pub(crate) struct AgentSlot {
    kernel: Kernel,
    id: PaneId,
}

impl Drop for AgentSlot {
    fn drop(&mut self) {
        let coming = &self.kernel.agents().starting;
        coming.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Agents {
    /// Makes room for one more agent of this name: where there are too many, the one that has been idle for
    /// longest goes, of those that the caller reaches; never the caller's own.
    pub(crate) async fn admit(
        &self,
        kernel: &Kernel,
        id: &PaneId,
        caller: &Caller,
    ) -> Result<AgentSlot, Refusal> {
        loop {
            if let Some(place) = self.reserve(kernel, id) {
                return Ok(place);
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
                tracing::info!(pane = %pane.id, "an idle agent made room for another");
            }
        }
    }

    fn reserve(&self, kernel: &Kernel, id: &PaneId) -> Option<AgentSlot> {
        let mut coming = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let there = living(kernel);
        let there: HashSet<&PaneId> = there.iter().map(|pane| &pane.id).chain(&*coming).collect();
        if kernel.limits().agents <= there.len() {
            return None;
        }
        coming.insert(id.clone());
        Some(AgentSlot { kernel: kernel.clone(), id: id.clone() })
    }
}

fn full(kernel: &Kernel) -> Refusal {
    let limit = kernel.limits().agents;
    let sentence = format!(
        "there are {limit} agents already, and none that you may close is idle and unwatched; close one, or raise the \
         limit"
    );
    Refusal::new(Code::Limit, sentence)
}

/// Every pane with a living agent.
fn living(kernel: &Kernel) -> Vec<Arc<Pane>> {
    let is_living = |pane: &Arc<Pane>| {
        let state = pane.lock();
        state.agent.is_some() && state.status().is_live()
    };
    kernel.panes().list().into_iter().filter(is_living).collect()
}

/// What decides whether the agent in a pane may go, if it holds a living one.
pub(crate) fn candidate(kernel: &Kernel, pane: &Pane) -> Option<EvictCandidate> {
    let state = pane.lock();
    let agent = state.agent.as_ref().filter(|_| state.status().is_live())?;
    let ours = kernel.agents().find(&pane.id).map_or(0, |_| OWN_WATCHERS);
    let others = pane.watchers().saturating_sub(ours);
    let watched = (0 < others).then(|| format!("{others} follow its output"));
    Some(EvictCandidate {
        pane: pane.id.clone(),
        state: agent.state,
        since: agent.since,
        queued: agent.queued,
        watched_by: state.size_held_by.clone().or(watched),
        persist: state.record.persist,
    })
}

/// Whether an agent may go still, by a fresh look.
async fn is_still_evictable(kernel: &Kernel, pane: &Arc<Pane>) -> bool {
    if let Some(agent) = kernel.agents().find(&pane.id) {
        let _ = agent.ask(AgentRequest::Inspect).await;
    }
    let now = kernel.now();
    candidate(kernel, pane).is_some_and(|agent| evict::may_evict(&agent, 0, now).is_ok())
}

/// Closes an agent that may go, by a fresh look; whether it did.
pub(crate) async fn evict(kernel: &Kernel, pane: &Arc<Pane>) -> Result<bool, Refusal> {
    if !is_still_evictable(kernel, pane).await {
        return Ok(false);
    }
    actions::close(kernel, pane).await?;
    Ok(!kernel.panes().contains(&pane.id))
}
