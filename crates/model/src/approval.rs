//! Approvals: questions to a person that stand between a request and its action.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Instance, PaneId, Time};

/// Identifies one approval. Never reused.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ApprovalId(pub String);

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What asks.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalKind {
    /// A permission rule whose verdict is `ask`.
    Rule,
    /// An action that the configuration lists under `approvals.actions`.
    Action,
    /// An agent, with a question on its screen.
    Dialog,
}

impl ApprovalKind {
    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Action => "action",
            Self::Dialog => "dialog",
        }
    }
}

impl fmt::Display for ApprovalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What has become of an approval. All but `open` and `allowed` are final.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    /// It waits for an answer.
    Open,
    /// It was allowed, and the same request may use that once until it expires.
    Allowed,
    /// It was allowed, and its request has used that. An agent's question was answered.
    Used,
    /// It was denied.
    Denied,
    /// Its time passed: without an answer, which counts as a denial, or without its use.
    Expired,
    /// What it was about is gone: the pane or token that asked, the question, or the server.
    Withdrawn,
}

impl ApprovalStatus {
    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Allowed => "allowed",
            Self::Used => "used",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Whether nothing can change any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Open | Self::Allowed)
    }
}

impl fmt::Display for ApprovalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An option of an agent's question, as an approval offers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalOption {
    /// Its number from 1, which answers the approval.
    pub number: usize,
    /// Its text.
    pub label: String,
    /// Whether it allows or denies, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allows: Option<bool>,
}

/// The answer to an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalAnswer {
    /// Who answered: `owner`, `token:ID`, `pane:ID`, `ext:NAME`; `terminal` for an agent's question
    /// that was answered at its screen, `paned` for one that expired or was withdrawn.
    pub by: String,
    /// When.
    pub at: Time,
    /// Why it was denied or withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the answer also holds for later requests of the same pane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
}

/// An approval, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalInfo {
    /// Its id.
    pub id: ApprovalId,
    /// What asks.
    pub kind: ApprovalKind,
    /// What has become of it.
    pub status: ApprovalStatus,
    /// What is asked, in one line.
    pub subject: String,
    /// The action that waits for it; none for an agent's question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The caller that asks, as events name it: `pane:ID`, `token:ID`, `ext:NAME` or `owner`.
    pub caller: String,
    /// The pane that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<PaneId>,
    /// Which of the panes of that name it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Instance>,
    /// The rule that asks, as it is written in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What an answer for this pane would cover; without it, only this request can be allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<String>,
    /// The request without its secrets: for an action its parameters, for an agent's question the
    /// text on its screen. Long texts are cut, and say so.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The options of an agent's question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ApprovalOption>,
    /// When it was asked.
    pub asked_at: Time,
    /// When it expires; an agent's question stays as long as it is on the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// Whether its caller is waiting for the answer. A caller that no longer waits gets the answer
    /// when it sends the same request again.
    pub waiting: bool,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ApprovalAnswer>,
}
