//! The verdict on a command, with its explanation.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::PermissionDecision;

/// What was decided about one simple command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionStep {
    /// The command.
    pub command: String,
    /// The programs that start it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// The decision about it.
    pub decision: PermissionDecision,
    /// The rule that decides, as `source: pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
}

/// What was decided about a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionVerdict {
    /// The decision: the strictest of all steps.
    pub decision: PermissionDecision,
    /// Why, in one sentence.
    pub reason: String,
    /// The simple commands that it runs, in order, with the decision about each.
    pub steps: Vec<PermissionStep>,
}

impl PermissionVerdict {
    /// The verdict of these steps.
    pub(super) fn new(steps: Vec<PermissionStep>) -> Self {
        let worst = steps.iter().map(|step| step.decision).max().unwrap_or_default();
        let reason = match steps.iter().find(|step| step.decision == worst) {
            Some(step) => step.sentence(),
            None => "it runs no command".to_owned(),
        };
        Self { decision: worst, reason, steps }
    }

    /// The verdict of one who also refuses or asks: the stricter one counts.
    #[must_use]
    pub fn and(self, mut other: Self) -> Self {
        if other.decision < self.decision {
            return self;
        }
        if other.steps.is_empty() {
            other.steps = self.steps;
        }
        other
    }

    /// The refusal of everything, for this reason.
    #[must_use]
    pub fn refused(reason: &str) -> Self {
        let decision = PermissionDecision::Deny;
        Self { decision, reason: reason.to_owned(), steps: Vec::new() }
    }

    /// The rule that decides, if it is one.
    #[must_use]
    pub fn deciding_rule(&self) -> Option<&str> {
        let mut steps = self.steps.iter().filter(|step| step.decision == self.decision);
        steps.find_map(|step| step.rule.as_deref())
    }

    /// Whether a rule denies it, not a default.
    #[must_use]
    pub fn is_denied_by_rule(&self) -> bool {
        self.decision == PermissionDecision::Deny && self.deciding_rule().is_some()
    }

    /// A verdict without steps.
    #[must_use]
    pub fn allowed(reason: &str) -> Self {
        Self { decision: PermissionDecision::Allow, reason: reason.to_owned(), steps: Vec::new() }
    }
}

impl PermissionStep {
    /// The step as a clause.
    fn sentence(&self) -> String {
        let mut text = format!("`{}`", self.command);
        if !self.via.is_empty() {
            let _ = write!(text, " (in `{}`)", self.via.join("` in `"));
        }
        let _ = write!(text, ": {}", self.reason);
        text
    }
}
