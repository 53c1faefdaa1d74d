//! Reads the transcripts that agent programs write, for the last answer. Texts in, answers out; the
//! caller finds and reads the files.
//!
//! A transcript may be cut at both ends: only the end of a large one is read, and its last line may
//! be half written. Lines that do not parse are skipped.

mod aider;
mod jsonl;
mod screen_answer;

use paned_model::Time;
use serde_json::Value;

pub use screen_answer::{answer_from_screen, turn_on_screen};

/// The format of a program's transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// One line of JSON for each item, written by codex.
    Codex,
    /// One line of JSON for each part of a message, written by claude.
    Claude,
    /// One line of JSON for each message, which may be written again, or one JSON document; written
    /// by gemini.
    Gemini,
    /// One line of JSON for each message, written by qwen.
    Qwen,
    /// One line of JSON for each message, written by pi.
    Pi,
    /// Markdown, written by aider.
    Aider,
    /// A database, of opencode.
    Opencode,
    /// A database, of goose.
    Goose,
}

/// An agent's last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptAnswer {
    /// Its text.
    pub text: String,
    /// When it was given, if the transcript says so.
    pub at: Option<TranscriptTime>,
}

/// The time of a message, as the transcript gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptTime {
    /// The time in the transcript.
    pub time: Time,
    /// Whether it is in whole seconds, so that the message may be up to a second later.
    pub in_seconds: bool,
}

impl TranscriptTime {
    /// The latest possible time of the message.
    #[must_use]
    pub fn latest(self) -> Time {
        if self.in_seconds { Time(self.time.0 + 999) } else { self.time }
    }
}

impl From<Time> for TranscriptTime {
    fn from(time: Time) -> Self {
        Self { time, in_seconds: false }
    }
}

/// What was read from a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptSummary {
    /// The program's id of the session.
    pub session: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// The agent's last answer.
    pub answer: Option<TranscriptAnswer>,
    /// Whether a prompt follows that answer, as far as known; not needed where answers have a time.
    pub is_unanswered: bool,
}

impl TranscriptFormat {
    /// The format that a profile names: `jsonl-codex`, `markdown-aider`…
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            ("codex", Self::Codex),
            ("claude", Self::Claude),
            ("gemini", Self::Gemini),
            ("qwen", Self::Qwen),
            ("aider", Self::Aider),
            ("opencode", Self::Opencode),
            ("goose", Self::Goose),
            ("pi", Self::Pi),
        ];
        let mut words = name.split(['-', '_']);
        words.find_map(|part| all.iter().find(|(name, _)| *name == part)).map(|(_, kind)| *kind)
    }

    /// Whether it is a database, which is queried and not read as text.
    #[must_use]
    pub fn is_database(self) -> bool {
        matches!(self, Self::Opencode | Self::Goose)
    }
}

/// Reads a transcript, or the part of it that there is.
#[must_use]
pub fn read(kind: TranscriptFormat, text: &str) -> TranscriptSummary {
    match kind {
        TranscriptFormat::Codex => jsonl::read(text, jsonl::codex),
        TranscriptFormat::Claude => jsonl::read(text, jsonl::claude),
        TranscriptFormat::Gemini => jsonl::read(text, jsonl::gemini),
        TranscriptFormat::Qwen => jsonl::read(text, jsonl::qwen),
        TranscriptFormat::Pi => jsonl::read(text, jsonl::pi),
        TranscriptFormat::Aider => aider::read(text),
        TranscriptFormat::Opencode | TranscriptFormat::Goose => TranscriptSummary::default(),
    }
}

/// The text of a message whose content is a string, or a list of parts of which some have text.
#[must_use]
pub fn message_text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let is_text = |part: &&Value| {
                let kind = part["type"].as_str().unwrap_or("text");
                let is_thought = part["thought"].as_bool().unwrap_or(false);
                matches!(kind, "text" | "output_text" | "Text") && !is_thought
            };
            let texts = parts.iter().filter(is_text).filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Parses a time, as RFC 3339 text or as milliseconds or seconds since 1970.
#[must_use]
pub fn parse_time(value: &Value) -> Option<TranscriptTime> {
    /// Numbers from here on are milliseconds, smaller ones seconds.
    const MILLIS: u64 = 100_000_000_000;
    match value.as_u64() {
        Some(number) if number < MILLIS => {
            Some(TranscriptTime { time: Time(number * 1000), in_seconds: true })
        }
        Some(number) => Some(Time(number).into()),
        None => {
            let time = serde_json::from_value(value.clone()).ok()?;
            Some(TranscriptTime { time, in_seconds: !value.as_str()?.contains('.') })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_the_program_in_their_name() {
        assert_eq!(TranscriptFormat::from_name("jsonl-codex"), Some(TranscriptFormat::Codex));
        assert_eq!(TranscriptFormat::from_name("markdown-aider"), Some(TranscriptFormat::Aider));
        assert_eq!(
            TranscriptFormat::from_name("opencode-storage"),
            Some(TranscriptFormat::Opencode)
        );
        assert_eq!(TranscriptFormat::from_name("pi"), Some(TranscriptFormat::Pi));
        assert_eq!(TranscriptFormat::from_name("jsonl-copilot"), None);
    }

    #[test]
    fn moments_are_read_however_they_are_written() {
        let time = Time(1_794_802_412_000);
        let exact = Some(TranscriptTime { time, in_seconds: false });
        assert_eq!(parse_time(&serde_json::json!("2026-11-16T04:13:32.000Z")), exact);
        assert_eq!(parse_time(&serde_json::json!(1_794_802_412_000_u64)), exact);
        let in_seconds = Some(TranscriptTime { time, in_seconds: true });
        assert_eq!(parse_time(&serde_json::json!("2026-11-16T04:13:32Z")), in_seconds);
        assert_eq!(parse_time(&serde_json::json!(1_794_802_412)), in_seconds);
        assert_eq!(in_seconds.map(TranscriptTime::latest), Some(Time(1_794_802_412_999)));
        assert_eq!(parse_time(&serde_json::json!("yesterday")), None);
    }
}
