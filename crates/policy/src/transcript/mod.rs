//! What agent programs write down of what was said, read for the last answer. Texts in, answers out; finding
//! and reading files is somebody else's.
//!
//! A transcript may be cut at both ends: only the end of a large one is read, and its last line may be half
//! written. Lines that make no sense are passed over.

mod aider;
mod jsonl;
mod screen_answer;

use paned_model::Time;
use serde_json::Value;

pub use screen_answer::answer_from_screen;

/// How a program writes down what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// A line of JSON for each item, as codex does it.
    Codex,
    /// A line of JSON for each part of a message, as claude does it.
    Claude,
    /// A line of JSON for each message, which may be written again, as gemini does it; or one JSON document.
    Gemini,
    /// A line of JSON for each message, as qwen does it.
    Qwen,
    /// A line of JSON for each message, as pi does it.
    Pi,
    /// Markdown, as aider does it.
    Aider,
    /// A database, as opencode has it.
    Opencode,
    /// A database, as goose has it.
    Goose,
}

/// An agent's last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptAnswer {
    /// What it said.
    pub text: String,
    /// When, where that is written down.
    pub at: Option<TranscriptTime>,
}

/// When something was said, as a transcript has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptTime {
    /// The time that is written.
    pub time: Time,
    /// Whether it is in whole seconds, and so may have been up to a second later.
    pub in_seconds: bool,
}

impl TranscriptTime {
    /// The latest time that it can have been.
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

/// What a transcript tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptSummary {
    /// What the program calls the session.
    pub session: Option<String>,
    /// Where it works.
    pub cwd: Option<String>,
    /// The last thing the agent said.
    pub answer: Option<TranscriptAnswer>,
    /// Whether a prompt follows that, as far as this is known; where answers have a time it is not needed.
    pub is_unanswered: bool,
}

impl TranscriptFormat {
    /// The kind that a profile names: `jsonl-codex`, `markdown-aider`…
    #[must_use]
    pub fn from_name(word: &str) -> Option<Self> {
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
        let mut words = word.split(['-', '_']);
        words.find_map(|part| all.iter().find(|(name, _)| *name == part)).map(|(_, kind)| *kind)
    }

    /// Whether it is a database, which is asked rather than read.
    #[must_use]
    pub fn is_database(self) -> bool {
        matches!(self, Self::Opencode | Self::Goose)
    }
}

/// Reads a transcript, or what there is of it.
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

/// The text of a message whose content is a text, or a list of parts of which some have a text.
#[must_use]
pub fn message_text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let is_said = |part: &&Value| {
                let kind = part["type"].as_str().unwrap_or("text");
                let thought = part["thought"].as_bool().unwrap_or(false);
                matches!(kind, "text" | "output_text" | "Text") && !thought
            };
            let texts = parts.iter().filter(is_said).filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A moment, as text of RFC 3339 or as milliseconds or seconds since 1970.
#[must_use]
pub fn parse_time(value: &Value) -> Option<TranscriptTime> {
    /// The first moment that is milliseconds rather than seconds.
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
