//! The rules of the configuration: `[notify.NAME]`.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::NotifyOccurrence;

/// How many rules there may be.
const MAX_RULES: usize = 64;
/// The longest pattern in characters.
const MAX_PATTERN: usize = 1000;
/// How large a compiled pattern may get.
const PATTERN_BYTES: usize = 1 << 20;
/// How long a rule is silent about a pane after it has notified, if the rule does not say.
const DEFAULT_EVERY: &str = "30s";

/// What a rule can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotifyTrigger {
    /// An agent asks a question.
    Blocked,
    /// An agent is ready again after it has worked.
    Done,
    /// An agent's turn failed.
    Error,
    /// An agent has reached its provider's limit.
    Limited,
    /// A program exited with a code other than 0 or by a signal, and was not killed through paned.
    Exit,
    /// A line of output matches the pattern.
    Pattern,
    /// An action waits for a person's approval.
    Approval,
}

impl NotifyTrigger {
    /// The name, as in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Error => "error",
            Self::Limited => "limited",
            Self::Exit => "exit",
            Self::Pattern => "pattern",
            Self::Approval => "approval",
        }
    }
}

/// How a notification is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotifyChannel {
    /// A notification of the desktop.
    Desktop,
    /// A bell and OSC 9 in every terminal that is attached to a pane.
    Terminal,
    /// A program of the user.
    Command,
    /// A signed HTTP request.
    Webhook,
}

impl NotifyChannel {
    /// The name, as in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Terminal => "terminal",
            Self::Command => "command",
            Self::Webhook => "webhook",
        }
    }
}

/// All rules, as they stand in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyRules(pub Vec<NotifyRule>);

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyRule {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub on: Vec<NotifyTrigger>,
    /// How it notifies.
    pub to: Vec<NotifyChannel>,
    /// Panes by name; `*` stands for any characters. Empty means all.
    pub panes: Vec<String>,
    /// Panes by tag. Empty means all.
    pub tags: Vec<String>,
    /// For `done`: how long the agent must have worked, in milliseconds.
    pub after_ms: u64,
    /// For `pattern`: a regular expression.
    pub pattern: Option<String>,
    /// How long it is silent about a pane after it has notified, in milliseconds.
    pub every_ms: u64,
    /// Whether it also notifies about a pane that a person is looking at.
    pub even_if_watched: bool,
    /// The user's program and its arguments.
    pub command: Vec<String>,
    /// Where the request is sent.
    pub webhook: Option<String>,
    /// The file with the secret that signs the request.
    pub secret_file: Option<String>,
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadNotifyRule(pub String);

impl fmt::Display for BadNotifyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadNotifyRule {}

/// What is written in the file for one rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    on: OneOrMany<NotifyTrigger>,
    to: OneOrMany<NotifyChannel>,
    #[serde(default)]
    panes: OneOrMany<String>,
    #[serde(default)]
    tags: OneOrMany<String>,
    after: Option<String>,
    pattern: Option<String>,
    every: Option<String>,
    #[serde(default)]
    even_if_watched: bool,
    #[serde(default)]
    command: OneOrMany<String>,
    webhook: Option<String>,
    secret_file: Option<String>,
}

/// One value, or a list of them.
#[derive(Default)]
struct OneOrMany<T>(Vec<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let values = match toml::Value::deserialize(from)? {
            toml::Value::Array(values) => values,
            value => vec![value],
        };
        let values = values.into_iter().map(toml::Value::try_into);
        values.collect::<Result<_, _>>().map(Self).map_err(|error: toml::de::Error| {
            D::Error::custom(error.message().trim().replace('\n', ", "))
        })
    }
}

impl NotifyRules {
    /// Adds a rule.
    ///
    /// # Errors
    /// When there are too many.
    pub fn push(&mut self, rule: NotifyRule) -> Result<(), BadNotifyRule> {
        if MAX_RULES <= self.0.len() {
            return Err(BadNotifyRule(format!("there are more than {MAX_RULES} `[notify]` rules")));
        }
        self.0.push(rule);
        Ok(())
    }
}

impl NotifyRule {
    /// Reads a rule from its table, `[notify.NAME]`.
    ///
    /// # Errors
    /// With what is wrong.
    pub fn read(name: &str, table: toml::Value) -> Result<Self, BadNotifyRule> {
        let in_rule = |what: String| BadNotifyRule(format!("`[notify.{name}]`: {what}"));
        let raw = table.try_into::<RawRule>();
        let raw = raw.map_err(|error| in_rule(error.message().trim().replace('\n', ", ")))?;
        Self::checked(name.to_owned(), raw).map_err(in_rule)
    }

    fn checked(name: String, raw: RawRule) -> Result<Self, String> {
        let millis = |key: &str, text: &str| {
            parse_duration(text)
                .ok_or_else(|| format!("invalid `{key}` `{text}`: write a time such as 30s or 5m"))
        };
        let after_ms = raw.after.as_deref().map_or(Ok(0), |text| millis("after", text))?;
        let every = raw.every.as_deref().unwrap_or(DEFAULT_EVERY);
        let rule = Self {
            name,
            on: raw.on.0,
            to: raw.to.0,
            panes: raw.panes.0,
            tags: raw.tags.0,
            after_ms,
            pattern: raw.pattern,
            every_ms: millis("every", every)?,
            even_if_watched: raw.even_if_watched,
            command: raw.command.0,
            webhook: raw.webhook,
            secret_file: raw.secret_file,
        };
        rule.check()?;
        Ok(rule)
    }

    fn check(&self) -> Result<(), String> {
        if self.on.is_empty() || self.to.is_empty() {
            return Err("`on` and `to` need at least one value each".into());
        }
        let needs = |channel, is_there: bool, key: &str| match self.to.contains(&channel) {
            true if !is_there => Err(format!("`to = \"{}\"` needs `{key}`", channel.as_str())),
            false if is_there => Err(format!("`{key}` needs `to = \"{}\"`", channel.as_str())),
            true | false => Ok(()),
        };
        needs(NotifyChannel::Command, !self.command.is_empty(), "command")?;
        needs(NotifyChannel::Webhook, self.webhook.is_some(), "webhook")?;
        if self.secret_file.is_some() && self.webhook.is_none() {
            return Err("`secret_file` needs `webhook`".into());
        }
        if self.on.contains(&NotifyTrigger::Pattern) != self.pattern.is_some() {
            return Err("`on = \"pattern\"` and `pattern` need each other".into());
        }
        if self.after_ms != 0 && !self.on.contains(&NotifyTrigger::Done) {
            return Err("`after` needs `on = \"done\"`".into());
        }
        self.check_pattern()
    }

    fn check_pattern(&self) -> Result<(), String> {
        let Some(pattern) = &self.pattern else { return Ok(()) };
        if MAX_PATTERN < pattern.chars().count() {
            return Err(format!("`pattern` is longer than {MAX_PATTERN} characters"));
        }
        compile(pattern)
            .map(drop)
            .ok_or_else(|| "`pattern` is not a valid regular expression".into())
    }

    /// The pattern, compiled.
    #[must_use]
    pub fn regex(&self) -> Option<Regex> {
        self.pattern.as_deref().and_then(compile)
    }

    /// Whether it is about this occurrence in this pane.
    #[must_use]
    pub fn covers(&self, occurrence: &NotifyOccurrence, subject: &NotifySubject) -> bool {
        let is_long_enough = match occurrence {
            NotifyOccurrence::Done { worked_ms } => self.after_ms <= *worked_ms,
            _ => true,
        };
        let is_meant = occurrence.trigger().is_some_and(|trigger| self.on.contains(&trigger));
        is_meant && is_long_enough && self.covers_pane(subject)
    }

    /// Whether it is about this pane at all.
    #[must_use]
    pub fn covers_pane(&self, subject: &NotifySubject) -> bool {
        let is_named = self.panes.iter().any(|glob| matches_glob(glob, &subject.pane));
        let is_tagged = self.tags.iter().any(|tag| subject.tags.contains(tag));
        match (self.panes.is_empty(), self.tags.is_empty()) {
            (true, true) => true,
            (false, true) => is_named,
            (true, false) => is_tagged,
            (false, false) => is_named && is_tagged,
        }
    }
}

/// The pane that an occurrence is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifySubject {
    /// Its name.
    pub pane: String,
    /// Its title, which a program may have set.
    pub title: String,
    /// Its labels.
    pub tags: Vec<String>,
}

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build().ok()
}

/// Whether a text matches a glob, in which `*` stands for any characters.
fn matches_glob(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// A time such as `500ms`, `30s`, `5m` or `2h`, in milliseconds.
fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<NotifyRule, String> {
        let table = toml::from_str(body).unwrap();
        NotifyRule::read("me", table).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check_refused(body: &str, expect: &str) {
        let error = parse(body).unwrap_err();
        assert!(error.starts_with("`[notify.me]`: ") && error.contains(expect), "{error}");
    }

    #[test]
    fn one_value_or_a_list_of_them() {
        let one = parse("on = \"blocked\"\nto = \"desktop\"").unwrap();
        let many = parse("on = [\"blocked\"]\nto = [\"desktop\"]").unwrap();
        assert_eq!(one, many);
        assert_eq!((one.every_ms, one.after_ms, one.even_if_watched), (30_000, 0, false));
    }

    #[test]
    fn what_does_not_fit_together_is_refused_with_its_rule() {
        check_refused("on = \"blocked\"", "`to`");
        check_refused("on = \"sometimes\"\nto = \"desktop\"", "on");
        check_refused("on = []\nto = \"desktop\"", "at least one");
        check_refused("on = \"done\"\nto = \"command\"", "needs `command`");
        check_refused("on = \"done\"\nto = \"desktop\"\nwebhook = \"http://x\"", "`webhook` needs");
        check_refused(
            "on = \"done\"\nto = \"desktop\"\nsecret_file = \"x\"",
            "`secret_file` needs",
        );
        check_refused("on = \"pattern\"\nto = \"desktop\"", "need each other");
        check_refused("on = \"pattern\"\nto = \"desktop\"\npattern = \"(\"", "regular expression");
        check_refused("on = \"exit\"\nto = \"desktop\"\nafter = \"2m\"", "`after` needs");
        check_refused("on = \"done\"\nto = \"desktop\"\nafter = \"soon\"", "30s or 5m");
        check_refused("on = \"done\"\nto = \"desktop\"\ncolour = 1", "colour");
    }

    #[test]
    fn a_rule_covers_panes_by_name_and_tag() {
        let rule = |more: &str| parse(&format!("on=\"exit\"\nto=\"desktop\"\n{more}")).unwrap();
        let subject = |pane: &str, tags: &[&str]| NotifySubject {
            pane: pane.into(),
            title: String::new(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        assert!(rule("").covers_pane(&subject("web", &[])));
        assert!(rule("panes = \"web*\"").covers_pane(&subject("web-2", &[])));
        assert!(!rule("panes = \"web*\"").covers_pane(&subject("my-web", &[])));
        assert!(rule("tags = \"ci\"").covers_pane(&subject("x", &["ci"])));
        assert!(!rule("panes = \"x\"\ntags = \"ci\"").covers_pane(&subject("x", &[])));
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (glob, text, expect) in [
            ("web", "web", true),
            ("web", "web2", false),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches_glob(glob, text), expect, "{glob} {text}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("90s"), Some(90_000));
        assert_eq!(parse_duration("2h"), Some(7_200_000));
        assert_eq!(parse_duration("500ms"), Some(500));
        for bad in ["", "5", "s", "-1s", "1.5s", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
