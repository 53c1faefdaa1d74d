//! Parses the body of a message, with agentapi's error texts. Pure.

use axum::http::StatusCode;
use paned_model::{Code, Refusal};
use paned_server::compat_api::Rejection;
use serde_json::{Map, Value};

/// A message to an agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AgentapiInput {
    /// A prompt, to be submitted.
    User(String),
    /// Text that is typed into its terminal as it is.
    Raw(String),
}

impl AgentapiInput {
    /// Parses a body.
    pub(super) fn read(body: &[u8]) -> Result<Self, Rejection> {
        let fields: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::invalid(format!("the body is not valid JSON: {error}")))?;
        let fields = fields.as_object().ok_or_else(|| unprocessable("expected object"))?;
        if let Some(other) = fields.keys().find(|key| !KNOWN_FIELDS.contains(&key.as_str())) {
            return Err(unprocessable(format!("unexpected property `{}`", other.escape_debug())));
        }
        let content = text(fields, "content")?;
        match text(fields, "type")? {
            "user" => Self::user(content),
            "raw" => Ok(Self::Raw(content.to_owned())),
            _ => Err(unprocessable("expected value of `type` to be one of \"user, raw\"")),
        }
    }

    /// A prompt. Invalid ones are refused with the texts that agentapi's clients know.
    fn user(content: &str) -> Result<Self, Rejection> {
        if content.trim().is_empty() {
            return Err(send_failed("message must not be empty"));
        }
        if content.trim() != content {
            return Err(send_failed("message must be trimmed of leading and trailing whitespace"));
        }
        Ok(Self::User(content.to_owned()))
    }
}

const KNOWN_FIELDS: [&str; 3] = ["$schema", "content", "type"];

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, Rejection> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(unprocessable(format!("expected `{name}` to be a string"))),
        None => Err(unprocessable(format!("expected required property {name} to be present"))),
    }
}

fn unprocessable(sentence: impl Into<String>) -> Rejection {
    Rejection::new(StatusCode::UNPROCESSABLE_ENTITY, Code::Invalid, sentence)
}

/// The error of a message that was not delivered, with the status that agentapi's clients know.
pub(super) fn send_failed(why: &str) -> Rejection {
    let sentence = format!("failed to send message: {why}");
    Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Conflict, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expect: Result<AgentapiInput, (u16, &str)>) {
        let read = AgentapiInput::read(body.as_bytes());
        let read = read.map_err(|refused| (refused.status.as_u16(), refused.refusal.sentence));
        let expect = expect.map_err(|(status, sentence)| (status, sentence.to_owned()));
        assert_eq!(read, expect, "{body}");
    }

    #[test]
    fn a_message_has_a_content_and_one_of_two_types() {
        check(r#"{"content":"a\nb","type":"user"}"#, Ok(AgentapiInput::User("a\nb".to_owned())));
        let raw = r#"{"$schema":"x","content":" \u001b[A ","type":"raw"}"#;
        check(raw, Ok(AgentapiInput::Raw(" \x1b[A ".to_owned())));
        check("[]", Err((422, "expected object")));
        check("{}", Err((422, "expected required property content to be present")));
        check(r#"{"content":"a"}"#, Err((422, "expected required property type to be present")));
        check(r#"{"content":1,"type":"raw"}"#, Err((422, "expected `content` to be a string")));
        let other = r#"{"content":"a","type":"x"}"#;
        check(other, Err((422, "expected value of `type` to be one of \"user, raw\"")));
        let more = r#"{"content":"a","type":"raw","to":1}"#;
        check(more, Err((422, "unexpected property `to`")));
        assert_eq!(AgentapiInput::read(b"{").unwrap_err().status, 400);
    }

    #[test]
    fn a_prompt_is_trimmed_by_whoever_sends_it() {
        let empty = "failed to send message: message must not be empty";
        check(r#"{"content":" ","type":"user"}"#, Err((500, empty)));
        let blank =
            "failed to send message: message must be trimmed of leading and trailing whitespace";
        check(r#"{"content":"a ","type":"user"}"#, Err((500, blank)));
    }
}
