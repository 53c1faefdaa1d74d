//! Identifiers: panes, events, offsets in a pane's output.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Identifies one pane. Letters, digits, `.`, `_` and `-`, starting with a letter or digit, at most
/// 64: safe in a path, a URL, a shell and a tmux target without quoting.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PaneId(String);

/// Why a text is no pane id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPaneId(String);

/// Distinguishes a pane from earlier and later panes of its name. Never reused.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Instance(pub String);

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One pane: its name, and which of the panes of that name it is.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct PaneRef {
    /// Its name, which may be reused once the pane is gone.
    pub id: PaneId,
    /// Its instance, which is never reused.
    pub instance: Instance,
}

impl PaneId {
    /// The longest id, in characters.
    pub const MAX: usize = 64;
    /// What an id looks like, as a regular expression.
    pub const PATTERN: &'static str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PaneId {
    type Err = BadPaneId;

    fn from_str(text: &str) -> Result<Self, BadPaneId> {
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let all_fit = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if starts_well && all_fit && text.len() <= Self::MAX {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadPaneId(text.to_owned()))
        }
    }
}

impl TryFrom<String> for PaneId {
    type Error = BadPaneId;

    fn try_from(text: String) -> Result<Self, BadPaneId> {
        text.parse()
    }
}

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BadPaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid pane id `{}`: use letters, digits, `.`, `_` and `-`, starting with a letter \
            or digit, at most {} characters",
            self.0.escape_debug(),
            PaneId::MAX
        )
    }
}

impl std::error::Error for BadPaneId {}

impl JsonSchema for PaneId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PaneId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": Self::PATTERN })
    }
}

/// Numbers one event. Ids rise by one and are never reused, across restarts too.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct EventId(pub u64);

impl EventId {
    /// The id after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A place in a pane's output: how many bytes the pane had printed before it. Never goes back.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Offset(pub u64);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, good: bool) {
        assert_eq!(text.parse::<PaneId>().is_ok(), good, "{text:?}");
    }

    #[test]
    fn ordinary_names_are_ids() {
        check("a", true);
        check("build-2.web_1", true);
        check("0", true);
        check(&"x".repeat(64), true);
    }

    #[test]
    fn names_that_could_escape_a_path_or_an_option_are_refused() {
        for text in ["", ".", "..", "../x", "a/b", "-rf", "a b", "a\n", "ä", "a;b", "#(id)", "a\0"]
        {
            check(text, false);
        }
        check(&"x".repeat(65), false);
    }

    #[test]
    fn a_bad_id_in_json_is_refused_with_the_rule() {
        let error = serde_json::from_str::<PaneId>("\"a/b\"").unwrap_err().to_string();
        assert!(error.contains("invalid pane id `a/b`"), "{error}");
    }
}
