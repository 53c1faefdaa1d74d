//! What is stored of an agent, in the record of its pane.

use std::path::PathBuf;

use paned_model::{AgentInfo, AgentState, StateSource, Time};
use paned_policy::agent::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PaneRecord;

/// The stored record of an agent: its profile, how it was started, and its last published state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentRecord {
    /// The name of its profile.
    pub(crate) profile: String,
    /// The last published state.
    pub(crate) state: AgentState,
    /// Since when.
    pub(crate) since: Time,
    /// How it was started, if by `agent:create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made: Option<AgentLaunch>,
}

/// How an agent was started, so that it can be started again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentLaunch {
    /// The requested command line in place of the one of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) argv: Option<Vec<String>>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Whether it asks before it acts, if the request said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) permissions: Option<Permissions>,
    /// Whether startup dialogs are answered as its profile says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) trust: bool,
    /// Whether it is restarted when it fails.
    #[serde(default)]
    pub(crate) restart: RestartPolicy,
    /// How many times in a row it was restarted after a failure.
    #[serde(default)]
    pub(crate) attempt: u32,
    /// Whether its exit was handled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) exit_handled: bool,
    /// The worktree that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<Worktree>,
}

/// A worktree that was created for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Worktree {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The repository it belongs to.
    pub(crate) repository: PathBuf,
    /// The branch that is checked out there.
    pub(crate) branch: String,
    /// The commit that it started from.
    pub(crate) base: String,
    /// Whether the branch was created for it.
    pub(crate) is_new: bool,
}

/// Whether an agent is restarted automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RestartPolicy {
    /// It is not.
    #[default]
    Never,
    /// If its program exits with a code other than 0, or is terminated by a signal that paned did
    /// not send.
    OnFailure,
}

impl AgentRecord {
    /// An agent whose program is about to be started.
    pub(crate) fn new(profile: &str, now: Time) -> Self {
        Self { profile: profile.to_owned(), state: AgentState::Starting, since: now, made: None }
    }

    /// An agent whose program was started before this server.
    pub(crate) fn recovered(profile: &str, now: Time) -> Self {
        Self { state: AgentState::Unknown, ..Self::new(profile, now) }
    }

    /// The state of the agent in a pane before its screen was read.
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
