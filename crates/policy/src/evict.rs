//! Which agents may be evicted when capacity is needed: those that wait for a prompt and have no
//! viewer.

use paned_model::{AgentState, PaneId, Time};

/// An agent considered for eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvictCandidate {
    /// Its pane.
    pub pane: PaneId,
    /// What it is doing.
    pub state: AgentState,
    /// Since when.
    pub since: Time,
    /// How many messages are queued for it.
    pub queued: usize,
    /// The client that is viewing it, if any.
    pub watched_by: Option<String>,
    /// Whether it is marked as never to be evicted.
    pub persist: bool,
}

/// Whether an agent may be evicted: it has no work in progress, no queued messages and no viewer.
///
/// # Errors
/// Why it stays.
pub fn may_evict(agent: &EvictCandidate, idle_ms: u64, now: Time) -> Result<(), String> {
    if agent.persist {
        return Err("it is persistent (`persist`)".into());
    }
    if !agent.state.takes_prompts() {
        return Err(format!("it is {}", agent.state));
    }
    if 0 < agent.queued {
        return Err(format!("{} messages are queued for it", agent.queued));
    }
    if let Some(viewer) = &agent.watched_by {
        return Err(format!("a client is watching it ({viewer})"));
    }
    let idle = now.since(agent.since);
    if idle < idle_ms {
        return Err(format!("it has been idle for only {} s", idle / 1000));
    }
    Ok(())
}

/// The agent to evict first: the one that has been idle for longest.
#[must_use]
pub fn first(agents: &[EvictCandidate], now: Time) -> Option<&EvictCandidate> {
    let evictable = agents.iter().filter(|agent| may_evict(agent, 0, now).is_ok());
    evictable.min_by_key(|agent| (agent.since, &agent.pane))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(id: &str, state: AgentState, since: u64) -> EvictCandidate {
        let pane = id.parse().unwrap();
        EvictCandidate {
            pane,
            state,
            since: Time(since),
            queued: 0,
            watched_by: None,
            persist: false,
        }
    }

    #[test]
    fn only_one_that_waits_for_a_prompt_may_go() {
        for state in AgentState::ALL {
            let expect = matches!(state, AgentState::Ready | AgentState::Error);
            assert_eq!(may_evict(&agent("a", state, 0), 0, Time(1)).is_ok(), expect, "{state}");
        }
    }

    #[test]
    fn whoever_is_missed_stays_and_the_reason_is_told() {
        let idle = || agent("a", AgentState::Ready, 0);
        let says =
            |agent: EvictCandidate, idle_ms| may_evict(&agent, idle_ms, Time(5000)).unwrap_err();
        assert!(says(EvictCandidate { persist: true, ..idle() }, 0).contains("persist"));
        assert!(says(EvictCandidate { queued: 2, ..idle() }, 0).contains("2 messages"));
        let watched_by = Some("attach 1".to_owned());
        assert!(says(EvictCandidate { watched_by, ..idle() }, 0).contains("attach 1"));
        assert_eq!(says(idle(), 6000), "it has been idle for only 5 s");
    }

    #[test]
    fn the_longest_idle_goes_first() {
        let agents = [
            agent("busy", AgentState::Busy, 1),
            agent("late", AgentState::Ready, 9),
            agent("early", AgentState::Error, 3),
        ];
        assert_eq!(first(&agents, Time(10)).unwrap().pane.as_str(), "early");
        assert_eq!(first(&agents[..1], Time(10)), None);
    }
}
