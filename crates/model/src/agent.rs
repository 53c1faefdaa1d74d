//! What an agent is doing, in words that everyone uses.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::Time;

/// What an agent is doing, as far as can be told.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// Its program comes up, and takes no prompt yet.
    Starting,
    /// It waits for a prompt.
    Ready,
    /// It works.
    Busy,
    /// It waits for a person's answer to a question on its screen.
    Blocked,
    /// Its provider lets it do no more for now.
    Limited,
    /// Its last turn failed; it takes a prompt.
    Error,
    /// Its program has ended.
    Exited,
    /// It cannot be told. Never the same as ready.
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

    /// The word, as it stands in JSON.
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

    /// Whether it takes a prompt now, as a new turn.
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

/// What kind of question an agent waits on.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// Whether it may use a tool.
    Permission,
    /// Whether a plan is good.
    Plan,
    /// Something that it wants to know.
    Question,
    /// Whether a folder is trusted, and other questions at the first start.
    Trust,
    /// Who the user is.
    Login,
    /// What to do now that a limit is reached.
    Limit,
}

impl BlockKind {
    /// The word, as it stands in JSON.
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
    /// Changes when another question is asked, and not when another option is selected.
    pub id: String,
    /// What kind of question it is.
    pub kind: BlockKind,
    /// The question, as it stands on the screen.
    pub text: String,
    /// What can be answered, as far as it can be read.
    pub options: Vec<DialogOption>,
}

/// One way to answer a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogOption {
    /// What it says.
    pub label: String,
    /// The keys that choose it, by name.
    pub keys: Vec<String>,
    /// Whether Enter would choose it now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub selected: bool,
    /// Whether it says yes, or no, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allows: Option<bool>,
}

/// Where the word on a state came from.
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
    /// That nothing moved.
    Quiet,
}

impl StateSource {
    /// The word, as it stands in JSON.
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

/// An agent as everyone sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// The profile that says what its screens mean.
    pub profile: String,
    /// What it is doing.
    pub state: AgentState,
    /// What kind of question it waits on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<BlockKind>,
    /// That question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// Until when it is limited, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Since when.
    pub since: Time,
    /// Where the word came from.
    pub source: StateSource,
    /// How sure that is, 0 to 1.
    #[serde(serialize_with = "hundredths")]
    pub confidence: f32,
    /// How much of its context is used, in per cent, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_percent: Option<u8>,
    /// How many messages wait to be handed to it.
    #[serde(default)]
    pub queued: usize,
}

/// Writes a share as people would, 0.8 and not 0.800000011920929.
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

/// What became of a message to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The agent was seen to take it.
    Submitted,
    /// It waits its turn, and will be handed over.
    Queued,
    /// It stands in the composer and was not seen to be taken.
    Drafted,
    /// It waits until a person's draft is gone from the composer.
    Held,
    /// It was not typed; the evidence says why.
    Refused,
    /// It was typed, and what became of it cannot be told.
    Unknown,
}

impl Delivery {
    /// The word, as it stands in JSON.
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

    /// Whether nothing more will become of it.
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
