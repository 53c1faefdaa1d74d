//! The state of an agent, as all crates and the API name it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::Time;

/// What an agent is doing, as far as paned can tell.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// Its program is starting and does not accept a prompt yet.
    Starting,
    /// It is waiting for a prompt.
    Ready,
    /// It is working.
    Busy,
    /// It is waiting for an answer to a question on its screen.
    Blocked,
    /// It has reached its provider's usage limit.
    Limited,
    /// Its last turn failed; it accepts a prompt.
    Error,
    /// Its program has exited.
    Exited,
    /// Its state is unknown. This never means ready.
    Unknown,
}

impl AgentState {
    /// Every state there is.
    pub const ALL: [Self; 8] = [
        Self::Starting,
        Self::Ready,
        Self::Busy,
        Self::Blocked,
        Self::Limited,
        Self::Error,
        Self::Exited,
        Self::Unknown,
    ];

    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Blocked => "blocked",
            Self::Limited => "limited",
            Self::Error => "error",
            Self::Exited => "exited",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it accepts a prompt now, as a new turn.
    #[must_use]
    pub const fn takes_prompts(self) -> bool {
        matches!(self, Self::Ready | Self::Error)
    }
}

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The kind of question an agent is waiting on.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// Whether it may use a tool.
    Permission,
    /// Whether to accept a plan.
    Plan,
    /// A question to the user.
    Question,
    /// Whether a folder is trusted, and other questions at the first start.
    Trust,
    /// A login.
    Login,
    /// How to continue after a usage limit was reached.
    Limit,
}

impl BlockKind {
    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Plan => "plan",
            Self::Question => "question",
            Self::Trust => "trust",
            Self::Login => "login",
            Self::Limit => "limit",
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A question on an agent's screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// Changes with each question, but not when another option is selected.
    pub id: String,
    /// The kind of question.
    pub kind: BlockKind,
    /// The question, as the screen shows it.
    pub text: String,
    /// The possible answers, as far as they can be read.
    pub options: Vec<DialogOption>,
}

/// One way to answer a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogOption {
    /// Its text.
    pub label: String,
    /// The keys that choose it, by name.
    pub keys: Vec<String>,
    /// Whether Enter would choose it now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub selected: bool,
    /// Whether it allows or denies, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allows: Option<bool>,
}

/// The evidence that a state came from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum StateSource {
    /// The program's own hook, or a report in its name.
    Hook,
    /// The title of its window.
    Title,
    /// A progress or prompt mark in its output.
    Osc,
    /// What its screen shows.
    Screen,
    /// What its process does.
    Process,
    /// What was typed.
    Input,
    /// The absence of changes.
    Quiet,
}

impl StateSource {
    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Title => "title",
            Self::Osc => "osc",
            Self::Screen => "screen",
            Self::Process => "process",
            Self::Input => "input",
            Self::Quiet => "quiet",
        }
    }
}

/// An agent, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// The profile that describes its program.
    pub profile: String,
    /// Its state.
    pub state: AgentState,
    /// The kind of question it is waiting on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<BlockKind>,
    /// That question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// When its usage limit is lifted, if it shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Since when it has been in this state.
    pub since: Time,
    /// The evidence for this state.
    pub source: StateSource,
    /// The confidence in this state, 0 to 1.
    #[serde(serialize_with = "hundredths")]
    pub confidence: f32,
    /// The percentage of its context that is used, if it shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_percent: Option<u8>,
    /// The number of messages queued for it.
    #[serde(default)]
    pub queued: usize,
}

/// Writes a share with two decimals: 0.8 and not 0.800000011920929.
///
/// # Errors
/// When it cannot be written.
pub fn hundredths<S: Serializer>(share: &f32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(self::share(*share))
}

/// A share of one in whole hundredths.
#[must_use]
pub fn share(exact: f32) -> f64 {
    (f64::from(exact) * 100.0).round() / 100.0
}

/// The delivery status of a message to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The agent was observed to accept it.
    Submitted,
    /// It is queued, and will be delivered.
    Queued,
    /// It is in the composer but was not observed to be submitted.
    Drafted,
    /// It is queued until the user's draft is gone from the composer.
    Held,
    /// It was not typed; the evidence says why.
    Refused,
    /// It was typed, but its outcome is unknown.
    Unknown,
}

impl Delivery {
    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Queued => "queued",
            Self::Drafted => "drafted",
            Self::Held => "held",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }

    /// Whether this status will not change any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_written_as_people_would() {
        #[derive(Serialize)]
        struct Sure(#[serde(serialize_with = "hundredths")] f32);
        assert_eq!(serde_json::to_value(Sure(0.8)).unwrap(), serde_json::json!(0.8));
        assert_eq!(serde_json::to_string(&Sure(0.966)).unwrap(), "0.97");
    }
}
