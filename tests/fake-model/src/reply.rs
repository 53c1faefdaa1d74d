//! An answer, and how it is put into a dialect.

use serde_json::{Value, json};

use super::request::Api;
use super::{chat, gemini, messages, responses};

/// What is said so far.
pub(super) struct ModelAnswer {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) text: String,
    pub(super) call: Option<ModelToolCall>,
}

/// A tool that is asked for.
pub(super) struct ModelToolCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
}

/// A piece of an answer.
pub(super) enum AnswerPart<'a> {
    Open,
    Words(&'a str),
    Call,
    Close,
}

impl Api {
    /// A piece as events of a stream.
    pub(super) fn frames(self, part: &AnswerPart<'_>, said: &ModelAnswer) -> String {
        match self {
            Self::Chat => chat::frames(part, said),
            Self::Responses => responses::frames(part, said),
            Self::Messages => messages::frames(part, said),
            Self::Gemini => gemini::frames(part, said),
        }
    }

    /// All of it at once.
    pub(super) fn whole(self, said: &ModelAnswer) -> Value {
        match self {
            Self::Chat => chat::whole(said),
            Self::Responses => responses::whole(said),
            Self::Messages => messages::whole(said),
            Self::Gemini => gemini::whole(said),
        }
    }

    /// A failure.
    pub(super) fn error(self, status: u16) -> Value {
        let (kind, sentence) = match status {
            429 => ("rate_limit_error", "Rate limit reached (fake model)"),
            401 | 403 => ("authentication_error", "Wrong key (fake model)"),
            _ => ("server_error", "Something broke (fake model)"),
        };
        match self {
            Self::Gemini => {
                let name = if status == 429 { "RESOURCE_EXHAUSTED" } else { "INTERNAL" };
                json!({ "error": { "code": status, "message": sentence, "status": name } })
            }
            Self::Messages => {
                json!({ "type": "error", "error": { "type": kind, "message": sentence } })
            }
            Self::Chat | Self::Responses => {
                json!({ "error": { "message": sentence, "type": kind, "code": kind } })
            }
        }
    }
}

/// One event of a stream.
pub(super) fn sse(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}
