//! When the program of a pane is started again by itself.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::Time;

/// Whether a program is started again after it has ended. In JSON and on the command line: `no`,
/// `on-failure`, `on-failure:5` or `always`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PaneRestartPolicy {
    /// It is not.
    #[default]
    No,
    /// When it returns another code than 0, or a signal ends it, or its keeper dies.
    OnFailure {
        /// How many times in a row.
        limit: Option<u32>,
    },
    /// Whenever it ends, unless it was ended through paned.
    Always,
}

/// Why a text is no restart policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRestartPolicy(String);

impl fmt::Display for BadRestartPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.escape_debug();
        write!(f, "invalid restart policy `{text}`; use no, on-failure, on-failure:5 or always")
    }
}

impl std::error::Error for BadRestartPolicy {}

impl FromStr for PaneRestartPolicy {
    type Err = BadRestartPolicy;

    fn from_str(text: &str) -> Result<Self, BadRestartPolicy> {
        let limit = |digits: &str| digits.parse().ok().filter(|limit| 0 < *limit);
        match text.split_once(':') {
            None if text == "no" => Ok(Self::No),
            None if text == "always" => Ok(Self::Always),
            None if text == "on-failure" => Ok(Self::OnFailure { limit: None }),
            Some(("on-failure", digits)) if limit(digits).is_some() => {
                Ok(Self::OnFailure { limit: limit(digits) })
            }
            _ => Err(BadRestartPolicy(text.to_owned())),
        }
    }
}

impl TryFrom<String> for PaneRestartPolicy {
    type Error = BadRestartPolicy;

    fn try_from(text: String) -> Result<Self, BadRestartPolicy> {
        text.parse()
    }
}

impl From<PaneRestartPolicy> for String {
    fn from(policy: PaneRestartPolicy) -> Self {
        policy.to_string()
    }
}

impl fmt::Display for PaneRestartPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::No => f.write_str("no"),
            Self::OnFailure { limit: None } => f.write_str("on-failure"),
            Self::OnFailure { limit: Some(limit) } => write!(f, "on-failure:{limit}"),
            Self::Always => f.write_str("always"),
        }
    }
}

impl JsonSchema for PaneRestartPolicy {
    fn schema_name() -> Cow<'static, str> {
        "PaneRestartPolicy".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(no|always|on-failure(:[1-9][0-9]*)?)$" })
    }
}

/// What the restart policy of a pane has done so far, as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaneRestartInfo {
    /// The policy.
    pub policy: PaneRestartPolicy,
    /// How many times its policy has started it again.
    pub count: u32,
    /// When it is started again, if it is to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Time>,
    /// Whether it failed too often and is not started again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gave_up: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_written_as_it_is_read() {
        for text in ["no", "on-failure", "on-failure:5", "always"] {
            let policy: PaneRestartPolicy = text.parse().unwrap();
            assert_eq!(policy.to_string(), text);
        }
        for wrong in ["", "yes", "on-failure:", "on-failure:0", "on-failure:x", "always:3"] {
            assert!(wrong.parse::<PaneRestartPolicy>().is_err(), "{wrong}");
        }
    }
}
