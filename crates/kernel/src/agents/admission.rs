//! The limits of running agents: of all, of those that agents start, and how deep. And which agent
//! is evicted for a new one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use paned_model::{Code, PaneId, Refusal};
use paned_policy::evict::{self, EvictCandidate};

use super::{AgentRequest, Agents};
use crate::panes::{Pane, close};
use crate::{Caller, Kernel};

/// Watchers of a pane that are not clients: the task of its agent.
const OWN_WATCHERS: usize = 1;

/// An agent that is to be started.
#[derive(Clone, Copy)]
pub(crate) struct NewAgent<'a> {
    /// The name of its pane.
    pub(crate) id: &'a PaneId,
    pub(crate) caller: &'a Caller,
    /// The pane whose agent it replaces, which does not count.
    pub(crate) replaced: Option<&'a PaneId>,
}

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
        new: NewAgent<'_>,
    ) -> Result<AgentSlot, Refusal> {
        let caller = new.caller;
        loop {
            if let Some(slot) = self.reserve(kernel, new)? {
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

    /// A slot, unless all are taken; refuses what a limit for agents that start agents forbids.
    fn reserve(&self, kernel: &Kernel, new: NewAgent<'_>) -> Result<Option<AgentSlot>, Refusal> {
        // Checked and taken under one lock, for agents that are started at the same time.
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let living = living(kernel);
        let above = lineage_agents(kernel, new.caller);
        check_depth(kernel, new)?;
        for agent in &above {
            check_number(kernel, agent, &started_by(kernel, agent, &living, &starting), new)?;
        }
        let agents: HashSet<&PaneId> =
            living.iter().map(|pane| &pane.id).chain(starting.keys()).collect();
        if kernel.limits().agents <= agents.len() {
            return Ok(None);
        }
        starting.insert(new.id.clone(), above);
        Ok(Some(AgentSlot { kernel: kernel.clone(), id: new.id.clone() }))
    }
}

/// The agents from the pane of a caller upwards.
fn lineage_agents(kernel: &Kernel, caller: &Caller) -> Vec<PaneId> {
    let Some(own) = caller.pane.as_ref().and_then(|own| kernel.panes().find(own)) else {
        return Vec::new();
    };
    let above = ancestors_of(kernel, &own);
    let agents = std::iter::once(own).chain(above).filter(|it| it.lock().record.agent.is_some());
    agents.map(|agent| agent.id.clone()).collect()
}

fn ancestors_of(kernel: &Kernel, pane: &Pane) -> Vec<Arc<Pane>> {
    let ancestors = pane.lock().record.ancestors.clone();
    ancestors.iter().filter_map(|above| kernel.panes().find(above)).collect()
}

/// The agents that run or are being started below an agent.
fn started_by<'a>(
    kernel: &Kernel,
    agent: &PaneId,
    living: &'a [Arc<Pane>],
    starting: &'a HashMap<PaneId, Vec<PaneId>>,
) -> HashSet<&'a PaneId> {
    let is_below = |pane: &&Arc<Pane>| ancestors_of(kernel, pane).iter().any(|it| it.id == *agent);
    let running = living.iter().filter(is_below).map(|pane| &pane.id);
    running
        .chain(starting.iter().filter(|(_, above)| above.contains(agent)).map(|(id, _)| id))
        .collect()
}

fn check_depth(kernel: &Kernel, new: NewAgent<'_>) -> Result<(), Refusal> {
    let limit = kernel.limits().agent_depth;
    let depth = kernel.agents_above(new.caller);
    if depth <= limit || new.replaced.is_some() {
        return Ok(());
    }
    let sentence = format!(
        "agents may start agents {limit} deep, and {depth} are above this one already; do the task \
        yourself, or ask a person to raise `limits.agent_depth` in config.toml"
    );
    Err(Refusal::new(Code::Limit, sentence))
}

fn check_number(
    kernel: &Kernel,
    agent: &PaneId,
    started: &HashSet<&PaneId>,
    new: NewAgent<'_>,
) -> Result<(), Refusal> {
    let limit = kernel.limits().agents_per_agent;
    let number = started.iter().filter(|id| Some(**id) != new.replaced).count();
    if number < limit {
        return Ok(());
    }
    let sentence = format!(
        "agent `{agent}` has {number} running agents, itself or through others, and the limit is \
        {limit}; close one with `pane:close`, or ask a person to raise `limits.agents_per_agent` in \
        config.toml"
    );
    Err(Refusal::new(Code::Limit, sentence))
}

fn full(kernel: &Kernel) -> Refusal {
    let limit = kernel.limits().agents;
    let sentence = format!(
        "the limit of {limit} agents is reached, and none of them is idle and unwatched; close \
        one with `pane:close`, or raise `limits.agents` in config.toml"
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
