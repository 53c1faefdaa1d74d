//! `since` of a wait: from where on output counts.

use paned_backend::Output;
use paned_model::Offset;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::panes::Pane;

/// From where on output counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[serde(untagged)]
pub(super) enum WaitSince {
    /// A place by its name.
    Named(SinceName),
    /// `next` of an earlier answer. Everything that was printed after it counts.
    Cursor(Offset),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SinceName {
    /// The last thing that was typed into the pane, however it was typed, or its start if nothing
    /// was. The echo of typed text does not count.
    Input,
    /// The pane's start.
    Start,
    /// This call. The echo of typed text does not count.
    Now,
}

impl Default for WaitSince {
    fn default() -> Self {
        Self::Named(SinceName::Input)
    }
}

impl<'de> Deserialize<'de> for WaitSince {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let cursor = value.as_u64().map(|offset| Self::Cursor(Offset(offset)));
        let named = || SinceName::deserialize(&value).ok().map(Self::Named);
        cursor.or_else(named).ok_or_else(|| {
            let sentence =
                "it is `input`, `start`, `now`, or the number that an earlier answer has as `next`";
            D::Error::custom(sentence)
        })
    }
}

impl WaitSince {
    /// The offset, in a pane with this output.
    pub(super) fn offset(self, pane: &Pane, output: &dyn Output) -> u64 {
        match self {
            Self::Named(SinceName::Input) => pane.last_input(output),
            Self::Named(SinceName::Start) => 0,
            Self::Named(SinceName::Now) => output.end(),
            Self::Cursor(Offset(offset)) => offset.min(output.end()),
        }
    }

    pub(super) fn ignores_echo(self) -> bool {
        matches!(self, Self::Named(SinceName::Input | SinceName::Now))
    }

    /// As the end of a sentence about output.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Named(SinceName::Input) => "since the last input",
            Self::Named(SinceName::Start) => "since its start",
            Self::Named(SinceName::Now) => "since this call",
            Self::Cursor(_) => "since the given place",
        }
    }

    pub(super) fn cursor(self) -> Option<Offset> {
        match self {
            Self::Named(_) => None,
            Self::Cursor(offset) => Some(offset),
        }
    }
}
