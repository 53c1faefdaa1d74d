//! What is remembered of an agent, with its pane.

use std::collections::BTreeMap;

use paned_model::{AgentInfo, AgentState, StateSource, Time};
use paned_policy::agent::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::worktree::Worktree;
use crate::panes::PaneRecord;

/// What is remembered of an agent: what it is judged by, how it was started, and what was last told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentRecord {
    /// The profile that says what its screens mean.
    pub(crate) profile: String,
    /// What was last told of it.
    pub(crate) state: AgentState,
    /// Since when.
    pub(crate) since: Time,
    /// How it was started, when `agent:create` did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made: Option<AgentLaunch>,
}

/// How an agent was started, so that it can be started again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentLaunch {
    /// The command line that was asked for in place of the profile's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) argv: Option<Vec<String>>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Whether it asks before it acts, if anybody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) permissions: Option<Permissions>,
    /// Variables on top of the server's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// Whether questions at its start are answered as its profile says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) trust: bool,
    /// Whether it is started again when it fails.
    #[serde(default)]
    pub(crate) restart: RestartPolicy,
    /// How often it was started again, one failure after the other.
    #[serde(default)]
    pub(crate) attempt: u32,
    /// Whether what follows its end has been done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) exit_handled: bool,
    /// The worktree that was made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<Worktree>,
}

/// Whether an agent is started again by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RestartPolicy {
    /// It is not.
    #[default]
    Never,
    /// When its program returns another code than 0, or a signal ends it that we did not send.
    OnFailure,
}

impl AgentRecord {
    /// An agent whose program is about to be started.
    pub(crate) fn new(profile: &str, now: Time) -> Self {
        let (state, since) = (AgentState::Starting, now);
        Self { profile: profile.to_owned(), state, since, made: None }
    }

    /// An agent that was there before anybody followed it.
    pub(crate) fn recovered(profile: &str, now: Time) -> Self {
        Self { state: AgentState::Unknown, ..Self::new(profile, now) }
    }

    /// What can be said of the agent in a pane before anybody has looked at it.
    pub(crate) fn initial_info(record: &PaneRecord) -> Option<AgentInfo> {
        let agent = record.agent.as_ref()?;
        let (state, since) = match record.end {
            Some(end) => (AgentState::Exited, end.at),
            None => (agent.state, agent.since),
        };
        Some(AgentInfo {
            profile: agent.profile.clone(),
            state,
            kind: None,
            dialog: None,
            until: None,
            since,
            source: StateSource::Process,
            confidence: 1.0,
            context_percent: None,
            queued: 0,
        })
    }
}
