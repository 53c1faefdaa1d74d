//! Events, and the filter grammar that selects some of them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EventId, Time};

/// A fact that happened. Written once, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Increases by one, never reused.
    pub id: EventId,
    /// When it was recorded.
    pub time: Time,
    /// `noun:past`, as in `pane:created`.
    pub name: String,
    /// The event's data.
    pub payload: Value,
}

/// Which events a subscriber wants: a comma-separated list of exact names, `prefix:*`, or `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter(Vec<EventPattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum EventPattern {
    All,
    Prefix(String),
    Exact(String),
}

/// Why a text is no event filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEventFilter(String);

impl EventFilter {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self(vec![EventPattern::All])
    }

    /// Whether it matches no event at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an event of this name is wanted.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| match pattern {
            EventPattern::All => true,
            EventPattern::Prefix(prefix) => name.starts_with(prefix.as_str()),
            EventPattern::Exact(exact) => name == exact,
        })
    }
}

impl FromStr for EventFilter {
    type Err = BadEventFilter;

    /// Blank entries are skipped, so an empty text matches nothing.
    fn from_str(text: &str) -> Result<Self, BadEventFilter> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(pattern).collect::<Result<_, _>>().map(Self)
    }
}

fn pattern(entry: &str) -> Result<EventPattern, BadEventFilter> {
    match entry.strip_suffix('*') {
        Some("") => Ok(EventPattern::All),
        Some(prefix) if !prefix.contains('*') => Ok(EventPattern::Prefix(prefix.to_owned())),
        None if !entry.contains('*') => Ok(EventPattern::Exact(entry.to_owned())),
        Some(_) | None => Err(BadEventFilter(entry.to_owned())),
    }
}

impl fmt::Display for BadEventFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid event pattern `{}`: use a name (`pane:exited`), a prefix (`pane:*`) or `*`",
            self.0.escape_debug()
        )
    }
}

impl std::error::Error for BadEventFilter {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of this list that the include picks.
    #[track_caller]
    fn check(include: &str, picked: &[&str]) {
        let include: EventFilter = include.parse().unwrap();
        let names = ["action:start", "action:success", "pane:created", "gap"];
        let got: Vec<_> = names.into_iter().filter(|name| include.matches(name)).collect();
        assert_eq!(got, picked);
    }

    #[test]
    fn the_three_forms_and_their_lists() {
        check("*", &["action:start", "action:success", "pane:created", "gap"]);
        check("action:*", &["action:start", "action:success"]);
        check("action:success", &["action:success"]);
        check(" pane:* , gap,", &["pane:created", "gap"]);
    }

    #[test]
    fn nothing_asked_for_is_nothing_given() {
        check("", &[]);
        assert!("".parse::<EventFilter>().unwrap().is_empty());
    }

    #[test]
    fn a_star_elsewhere_is_refused() {
        for text in ["*:created", "pa*ne:*", "pane:**"] {
            assert!(text.parse::<EventFilter>().is_err(), "{text}");
        }
    }
}
