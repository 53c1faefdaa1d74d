//! A session as its clients see it: computed from its pane, stored nowhere. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use paned_model::{AgentInfo, AgentState, PaneStatus, Time};
use serde::{Deserialize, Serialize};

/// A session: the part of its pane that agentmux shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentmuxSession {
    #[serde(rename = "id")]
    pub(super) name: String,
    status: PaneStatus,
    exit_code: Option<u8>,
    pub(super) created_at: Time,
    /// Whether cleanup must not close it.
    #[serde(default)]
    pub(super) persist: bool,
    #[serde(default)]
    pub(super) agent: Option<AgentInfo>,
    /// Whether its state is not known, and its screen shows the prompt of [`shows_prompt`].
    #[serde(skip)]
    pub(super) shows_prompt: bool,
}

/// A session in a list.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct AgentmuxSessionSummary {
    name: String,
    status: &'static str,
    created_at: String,
    target: String,
}

/// The same with its health, as `/health` shows it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct AgentmuxSessionHealth {
    #[serde(flatten)]
    summary: AgentmuxSessionSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    tmux_exists: Option<bool>,
    #[serde(flatten)]
    activity: Option<AgentmuxActivity>,
}

/// The activity of the active session.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct AgentmuxActivity {
    pub(super) idle: bool,
    pub(super) ctx_percent: Option<u8>,
}

impl AgentmuxSession {
    /// Its tmux-style target: a session has only its first window and pane.
    pub(super) fn target(&self) -> String {
        format!("{}:0.0", self.name)
    }

    /// Whether its program is running.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self.status, PaneStatus::Starting | PaneStatus::Running)
    }

    /// Whether its agent takes a prompt. An unknown state is not idle.
    pub(super) fn is_idle(&self) -> bool {
        self.is_alive() && (self.state().takes_prompts() || self.shows_prompt)
    }

    /// Whether its program runs and nothing is known of what it does.
    pub(super) fn is_unknown(&self) -> bool {
        let is_unknown = matches!(self.state(), AgentState::Starting | AgentState::Unknown);
        self.is_alive() && is_unknown
    }

    pub(super) fn state(&self) -> AgentState {
        self.agent.as_ref().map_or(AgentState::Unknown, |agent| agent.state)
    }

    pub(super) fn activity(&self) -> AgentmuxActivity {
        let ctx_percent = self.agent.as_ref().and_then(|agent| agent.context_percent);
        AgentmuxActivity { idle: self.is_idle(), ctx_percent }
    }

    pub(super) fn summary(&self, zone: &TimeZone) -> AgentmuxSessionSummary {
        AgentmuxSessionSummary {
            name: self.name.clone(),
            status: self.status_word(),
            created_at: format_time(self.created_at, zone, "%Y-%m-%d %H:%M:%S"),
            target: self.target(),
        }
    }

    /// Its health; with activity only if it is the active one.
    pub(super) fn health(&self, zone: &TimeZone, is_active: bool) -> AgentmuxSessionHealth {
        AgentmuxSessionHealth {
            summary: self.summary(zone),
            tmux_exists: (!self.is_alive()).then_some(false),
            activity: (is_active && self.is_alive()).then(|| self.activity()),
        }
    }

    fn status_word(&self) -> &'static str {
        match (self.status, self.exit_code) {
            (PaneStatus::Starting, _) => "creating",
            (PaneStatus::Running, _) if self.shows_prompt => "active",
            (PaneStatus::Running, _) if self.state() == AgentState::Starting => "creating",
            (PaneStatus::Running, _) => "active",
            (PaneStatus::Exited, Some(0)) => "completed",
            (PaneStatus::Exited | PaneStatus::Killed | PaneStatus::Lost, _) => "error",
        }
    }
}

/// The glyph that agentmux looks for.
const PROMPT: char = '\u{276f}';
/// In how many of the last rows that are not blank.
const PROMPT_ROWS: usize = 5;

/// Whether agentmux takes this screen for that of an idle agent: wherever its cursor is, one of the
/// last rows ends with a prompt and nothing behind it.
pub(super) fn shows_prompt(rows: &[String]) -> bool {
    let last = rows.iter().rev().map(|row| row.trim()).filter(|row| !row.is_empty());
    last.take(PROMPT_ROWS).any(|row| row.ends_with(PROMPT))
}

/// A time in this time zone.
fn format_time(time: Time, zone: &TimeZone, format: &str) -> String {
    let millis = i64::try_from(time.0).unwrap_or(i64::MAX);
    let timestamp = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    timestamp.to_zoned(zone.clone()).strftime(format).to_string()
}

/// A name for a new session: prefix, time, and six random hex digits.
pub(super) fn fresh_name(prefix: &str, now: Time, zone: &TimeZone, random: u32) -> String {
    let time = format_time(now, zone, "%Y%m%d_%H%M%S");
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let prefix: String =
        prefix.chars().map(|c| if is_allowed(c) { c } else { '-' }).take(40).collect();
    let prefix = prefix.trim_start_matches(['.', '_', '-']);
    let prefix = if prefix.is_empty() { super::NAME } else { prefix };
    format!("{prefix}-{time}-{:06x}", random & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use paned_model::PaneId;
    use serde_json::{Value, json};

    use super::*;

    fn session(change: Value) -> AgentmuxSession {
        let mut pane = json!({
            "id": "a", "status": "running", "createdAt": "2026-01-02T03:04:05.678Z", "tags": [],
            "agent": {
                "profile": "codex", "state": "ready", "since": "2026-01-02T03:04:05.678Z",
                "source": "screen", "confidence": 1.0, "contextPercent": 12,
            },
        });
        for (key, value) in change.as_object().unwrap() {
            let (part, key) = match key.strip_prefix("agent.") {
                Some(key) => (&mut pane["agent"], key),
                None => (&mut pane, key.as_str()),
            };
            part[key] = value.clone();
        }
        serde_json::from_value(pane).unwrap()
    }

    #[track_caller]
    fn check(change: Value, word: &str, idle: bool) {
        let session = session(change.clone());
        assert_eq!((session.status_word(), session.is_idle()), (word, idle), "{change}");
    }

    #[test]
    fn only_an_agent_that_takes_a_prompt_is_idle() {
        check(json!({}), "active", true);
        check(json!({ "agent.state": "error" }), "active", true);
        for state in ["busy", "blocked", "limited", "unknown"] {
            check(json!({ "agent.state": state }), "active", false);
        }
        check(json!({ "agent.state": "starting" }), "creating", false);
        check(json!({ "agent": null }), "active", false);
        check(json!({ "status": "exited", "exitCode": 0 }), "completed", false);
        check(json!({ "status": "exited", "exitCode": 1 }), "error", false);
        check(json!({ "status": "lost" }), "error", false);
    }

    #[test]
    fn a_prompt_that_agentmux_takes_for_idle_is_one() {
        let shows = |text: &str| shows_prompt(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        for idle in ["\u{276f}", "hello\n \u{276f} \n\n", "~/src \u{276f}\n\n  ctx:42%\n"] {
            assert!(shows(idle), "{idle:?}");
        }
        for busy in ["", "\u{276f} hello", "\u{276f}\n1\n2\n3\n4\n5", "> "] {
            assert!(!shows(busy), "{busy:?}");
        }
        let mut unknown = session(json!({ "agent.state": "starting" }));
        assert!(unknown.is_unknown() && !unknown.is_idle());
        unknown.shows_prompt = true;
        assert_eq!((unknown.status_word(), unknown.is_idle()), ("active", true));
    }

    #[test]
    fn health_says_more_of_the_active_one_only() {
        let health = |change: Value, is_active| {
            serde_json::to_value(session(change).health(&TimeZone::UTC, is_active)).unwrap()
        };
        let summary = json!({
            "name": "a", "status": "active", "created_at": "2026-01-02 03:04:05", "target": "a:0.0",
        });
        assert_eq!(health(json!({}), false), summary);
        let mut active = summary.clone();
        active["idle"] = json!(true);
        active["ctx_percent"] = json!(12);
        assert_eq!(health(json!({}), true), active);
        active["ctx_percent"] = Value::Null;
        assert_eq!(health(json!({ "agent.contextPercent": null }), true), active);
        let gone = health(json!({ "status": "exited", "exitCode": 0 }), true);
        assert_eq!((&gone["tmux_exists"], gone.get("idle")), (&json!(false), None));
    }

    #[test]
    fn moments_are_those_of_the_place() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let summary = session(json!({ "createdAt": "2026-01-02T23:04:05.678Z" })).summary(&zone);
        assert_eq!(summary.created_at, "2026-01-03 01:04:05");
        let name = fresh_name("agentmux", Time(1_767_395_045_678), &zone, 0xabc);
        assert_eq!(name, "agentmux-20260103_010405-000abc");
    }

    #[test]
    fn a_name_is_a_panes_whatever_it_begins_with() {
        let now = Time(1_767_395_045_678);
        for prefix in ["agentmux", "my agents", "-x", "", "\u{e4}\u{f6}", &"long".repeat(40)] {
            let name = fresh_name(prefix, now, &TimeZone::UTC, u32::MAX);
            assert!(name.parse::<PaneId>().is_ok(), "{prefix:?}: {name}");
        }
    }
}
