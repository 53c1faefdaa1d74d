//! Turns events into what a person may want to hear about.

use std::collections::{BTreeMap, BTreeSet};

use paned_model::{AgentState, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::NotifyTrigger;

/// How many characters of a question are quoted.
const MAX_QUOTE: usize = 200;

/// An event of the journal, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct NotifyFact<'a> {
    /// When it happened.
    pub time: Time,
    /// Its name.
    pub name: &'a str,
    /// Its payload.
    pub payload: &'a Value,
}

/// Something that a rule can be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyOccurrence {
    /// An agent asks.
    Blocked {
        /// The question, if it is known.
        question: Option<String>,
    },
    /// An agent is ready again.
    Done {
        /// How long it has worked.
        worked_ms: u64,
    },
    /// An agent's turn failed.
    Error,
    /// An agent has reached its provider's limit.
    Limited,
    /// A program failed.
    Exit {
        /// Its exit code or signal, in words.
        how: String,
    },
    /// A line matched.
    Pattern {
        /// The line.
        line: String,
    },
    /// An action waits for an approval.
    Approval {
        /// What is to be done.
        subject: String,
    },
    /// Nothing: a test.
    Test,
}

impl NotifyOccurrence {
    /// What kind it is; none for a test.
    #[must_use]
    pub const fn trigger(&self) -> Option<NotifyTrigger> {
        match self {
            Self::Blocked { .. } => Some(NotifyTrigger::Blocked),
            Self::Done { .. } => Some(NotifyTrigger::Done),
            Self::Error => Some(NotifyTrigger::Error),
            Self::Limited => Some(NotifyTrigger::Limited),
            Self::Exit { .. } => Some(NotifyTrigger::Exit),
            Self::Pattern { .. } => Some(NotifyTrigger::Pattern),
            Self::Approval { .. } => Some(NotifyTrigger::Approval),
            Self::Test => None,
        }
    }

    /// One sentence about it, without the name of the pane.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Blocked { question: Some(question) } => format!("asks: {question}"),
            Self::Blocked { question: None } => "asks a question".into(),
            Self::Done { worked_ms } => format!("is done after {}", worked(*worked_ms)),
            Self::Error => "stopped with an error".into(),
            Self::Limited => "has reached its usage limit".into(),
            Self::Exit { how } => format!("exited {how}"),
            Self::Pattern { line } => format!("printed: {line}"),
            Self::Approval { subject } => format!("waits for your approval: {subject}"),
            Self::Test => "Notifications work.".into(),
        }
    }

    /// The same without anything that a program has printed or a client has sent: for the journal.
    #[must_use]
    pub fn unquoted(&self) -> String {
        match self {
            Self::Blocked { .. } => Self::Blocked { question: None }.sentence(),
            Self::Pattern { .. } => "printed a line that matches".into(),
            Self::Approval { .. } => "waits for your approval".into(),
            Self::Done { .. } | Self::Error | Self::Limited | Self::Exit { .. } | Self::Test => {
                self.sentence()
            }
        }
    }
}

/// The first line of a text that is not blank, cut to a length that fits a notification.
fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_QUOTE).collect())
}

/// A duration in the largest two units.
fn worked(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Follows the turns of agents, by pane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NotifyTracker {
    /// Since when an agent works. A question in between does not end its turn.
    #[serde(default)]
    turns: BTreeMap<String, Time>,
    /// Panes whose program was killed through paned, until its exit.
    #[serde(default)]
    killed: BTreeSet<String>,
}

impl NotifyTracker {
    /// An agent that was at work when the server started.
    pub fn resume(&mut self, pane: &str, since: Time) {
        self.turns.entry(pane.to_owned()).or_insert(since);
    }

    /// What an event means. The pane is named by the event's `paneId`.
    pub fn fold(&mut self, fact: NotifyFact<'_>) -> Option<NotifyOccurrence> {
        let pane = fact.payload["paneId"].as_str().unwrap_or_default();
        match fact.name {
            "agent:state" => self.fold_state(pane, fact),
            "pane:killed" => {
                self.killed.insert(pane.to_owned());
                None
            }
            "pane:exited" => self.fold_exit(pane, fact.payload),
            "pane:removed" => {
                self.turns.remove(pane);
                self.killed.remove(pane);
                None
            }
            "approval:asked" => {
                let subject = fact.payload["subject"].as_str().unwrap_or("an action");
                Some(NotifyOccurrence::Approval { subject: subject.to_owned() })
            }
            _ => None,
        }
    }

    fn fold_state(&mut self, pane: &str, fact: NotifyFact<'_>) -> Option<NotifyOccurrence> {
        let state: AgentState = serde_json::from_value(fact.payload["to"].clone()).ok()?;
        match state {
            AgentState::Busy => {
                self.resume(pane, fact.time);
                None
            }
            AgentState::Blocked => {
                let text = fact.payload["dialog"]["text"].as_str();
                Some(NotifyOccurrence::Blocked { question: text.and_then(first_line) })
            }
            AgentState::Ready => {
                let since = self.turns.remove(pane)?;
                Some(NotifyOccurrence::Done { worked_ms: fact.time.since(since) })
            }
            AgentState::Error => {
                self.turns.remove(pane);
                Some(NotifyOccurrence::Error)
            }
            AgentState::Limited => {
                self.turns.remove(pane);
                Some(NotifyOccurrence::Limited)
            }
            AgentState::Exited => {
                self.turns.remove(pane);
                None
            }
            AgentState::Starting | AgentState::Unknown => None,
        }
    }

    fn fold_exit(&mut self, pane: &str, payload: &Value) -> Option<NotifyOccurrence> {
        self.turns.remove(pane);
        let was_killed = self.killed.remove(pane);
        let how = match (payload["exitSignal"].as_str(), payload["exitCode"].as_u64()) {
            (Some(signal), _) => format!("by {signal}"),
            (None, Some(0)) => return None,
            (None, Some(code)) => format!("with code {code}"),
            (None, None) => "without an exit code".to_owned(),
        };
        (!was_killed).then_some(NotifyOccurrence::Exit { how })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Events of pane `a`, one a second; what each of them means.
    #[track_caller]
    fn check(events: &[(&str, Value)], expect: &[&str]) {
        let mut tracker = NotifyTracker::default();
        let mut found = Vec::new();
        for (second, (name, payload)) in events.iter().enumerate() {
            let mut payload = payload.clone();
            payload["paneId"] = json!("a");
            let fact = NotifyFact { time: Time(second as u64 * 1000), name, payload: &payload };
            found.extend(tracker.fold(fact).map(|it| it.sentence()));
        }
        assert_eq!(found, expect);
    }

    fn state(to: &str) -> (&'static str, Value) {
        ("agent:state", json!({ "to": to }))
    }

    #[test]
    fn a_turn_lasts_from_the_first_work_to_ready() {
        check(
            &[state("busy"), state("blocked"), state("busy"), state("ready")],
            &["asks a question", "is done after 3 s"],
        );
    }

    #[test]
    fn an_agent_that_never_worked_is_not_done() {
        check(&[state("starting"), state("ready"), state("unknown"), state("ready")], &[]);
    }

    #[test]
    fn a_turn_that_failed_is_not_done() {
        check(
            &[state("busy"), state("error"), state("ready"), state("busy"), state("limited")],
            &["stopped with an error", "has reached its usage limit"],
        );
    }

    #[test]
    fn a_question_is_quoted() {
        let asks =
            ("agent:state", json!({ "to": "blocked", "dialog": { "text": "\n Run it?\n1. Yes" } }));
        check(&[asks], &["asks: Run it?"]);
    }

    #[test]
    fn only_failures_that_were_not_asked_for_are_told() {
        let exited = |payload| ("pane:exited", payload);
        check(&[exited(json!({ "exitCode": 0 }))], &[]);
        check(&[exited(json!({ "exitCode": 3 }))], &["exited with code 3"]);
        check(&[exited(json!({ "exitSignal": "SIGSEGV" }))], &["exited by SIGSEGV"]);
        check(&[exited(json!({ "exitCode": null }))], &["exited without an exit code"]);
        let killed = ("pane:killed", json!({}));
        check(&[killed.clone(), exited(json!({ "exitSignal": "SIGTERM" }))], &[]);
        check(
            &[killed, exited(json!({ "exitCode": 143 })), exited(json!({ "exitCode": 1 }))],
            &["exited with code 1"],
        );
    }

    #[test]
    fn an_agent_that_worked_when_the_server_started_can_be_done() {
        let mut tracker = NotifyTracker::default();
        tracker.resume("a", Time(0));
        let payload = json!({ "paneId": "a", "to": "ready" });
        let fact = NotifyFact { time: Time(7_260_000), name: "agent:state", payload: &payload };
        let done = tracker.fold(fact).map(|it| it.sentence());
        assert_eq!(done.as_deref(), Some("is done after 2 h 1 min"));
    }
}
