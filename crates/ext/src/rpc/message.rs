//! Messages: parsed from a line, and written as one.

use std::borrow::Cow;
use std::fmt;

use paned_model::{Code, Refusal};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// No JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// Not a message.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// Unknown method.
pub(crate) const UNKNOWN_METHOD: i64 = -32601;
/// Wrong parameters.
pub(crate) const WRONG_PARAMS: i64 = -32602;
/// An id that no request of ours has.
pub(crate) const NO_REQUEST: u64 = 0;
/// Refused by paned.
pub(crate) const REFUSED: i64 = -32000;

/// An error in an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RpcError {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// A refusal of paned's.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let mut data = json!({ "code": refusal.code });
        if let Some(details) = &refusal.details {
            data["details"] = details.clone();
        }
        Self { code: REFUSED, message: refusal.sentence.clone(), data: Some(data) }
    }

    /// The refusal that an extension means: its sentence, and the code in its data.
    pub(crate) fn into_refusal(self) -> Refusal {
        let data = self.data.unwrap_or_default();
        let code = data.get("code").and_then(|code| Code::deserialize(code).ok());
        let sentence = match self.message.is_empty() {
            true => "the extension failed without a message".to_owned(),
            false => self.message,
        };
        let refusal = Refusal::new(code.unwrap_or(Code::Internal), sentence);
        match data.get("details") {
            Some(details) => refusal.with_details(details.clone()),
            None => refusal,
        }
    }
}

/// A message from an extension.
pub(crate) enum Message<'a> {
    /// A request, or without an id a notification.
    Call { id: Option<&'a RawValue>, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// The answer to a request of ours.
    Answer { id: u64, outcome: Result<&'a RawValue, RpcError> },
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// Parses a line.
///
/// # Errors
/// With the error to answer.
pub(crate) fn parse(line: &[u8]) -> Result<Message<'_>, RpcError> {
    // Parsed as a raw value first, to tell what is no JSON from what is no message.
    let raw: &RawValue = serde_json::from_slice(line)
        .map_err(|error| RpcError::new(PARSE_ERROR, format!("this line is not JSON: {error}")))?;
    let not_a_message = |why: &str| RpcError::new(INVALID_REQUEST, format!("not a message: {why}"));
    let message: RawMessage<'_> =
        serde_json::from_str(raw.get()).map_err(|error| not_a_message(&error.to_string()))?;
    let RawMessage { id, method, params, result, error } = message;
    if let Some(method) = method {
        return Ok(Message::Call { id, method, params });
    }
    if result.is_none() && error.is_none() && id.is_none() {
        return Err(not_a_message("it has neither `method` nor `id`"));
    }
    // An answer to no request of ours is ignored, not answered: that could go on for ever.
    let id = id.and_then(|id| id.get().parse().ok()).unwrap_or(NO_REQUEST);
    let outcome = match error {
        Some(error) => Err(error),
        None => Ok(result.unwrap_or(RawValue::NULL)),
    };
    Ok(Message::Answer { id, outcome })
}

/// The request of ours that a line was to answer which is no JSON, or only the beginning of a line.
/// None if what can be read of it does not say so.
pub(crate) fn damaged_answer(line: &[u8]) -> Option<u64> {
    let mut head = AnswerHead::default();
    // Ends with an error, at the latest where the line is damaged.
    let _ = serde_json::Deserializer::from_slice(line).deserialize_map(&mut head);
    head.id.filter(|_| head.is_answer)
}

/// What the beginning of a message says.
#[derive(Default)]
struct AnswerHead {
    id: Option<u64>,
    is_answer: bool,
}

impl<'de> Visitor<'de> for &mut AnswerHead {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "id" => self.id = Some(fields.next_value()?),
                "method" => {
                    self.id = None;
                    return Ok(());
                }
                "result" | "error" => {
                    self.is_answer = true;
                    fields.next_value::<IgnoredAny>()?;
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The line of a request, or without an id of a notification. `params` is JSON.
pub(crate) fn call_line(id: Option<u64>, method: &str, params: &str) -> Vec<u8> {
    let line = match id {
        Some(id) => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
        }
        None => format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#),
    };
    ended(line)
}

/// The line of an answer.
pub(crate) fn answer_line(id: &str, outcome: &Result<Box<RawValue>, RpcError>) -> Vec<u8> {
    let line = match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(error) => {
            let error = serde_json::to_string(error).unwrap_or_default();
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
        }
    };
    ended(line)
}

/// JSON of ours has no line feeds, but that of others may: parameters are passed on as they came.
fn ended(mut line: String) -> Vec<u8> {
    if line.contains(['\n', '\r']) {
        // Between tokens only: inside a string JSON has them escaped.
        line = line.replace(['\n', '\r'], " ");
    }
    line.push('\n');
    line.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line is, in a few words.
    fn kind(line: &str) -> String {
        match parse(line.as_bytes()) {
            Ok(Message::Call { id: Some(id), method, .. }) => format!("request {id} {method}"),
            Ok(Message::Call { id: None, method, .. }) => format!("notification {method}"),
            Ok(Message::Answer { id, outcome: Ok(result) }) => format!("result {id} {result}"),
            Ok(Message::Answer { id, outcome: Err(error) }) => {
                format!("error {id} {}", error.message)
            }
            Err(error) => error.code.to_string(),
        }
    }

    #[test]
    fn lines_are_requests_notifications_and_answers() {
        for (line, expect) in [
            (r#"{"jsonrpc":"2.0","id":"a","method":"emit","params":{}}"#, "request \"a\" emit"),
            (r#"{"method":"emit"}"#, "notification emit"),
            (r#"{"id":null,"method":"emit"}"#, "notification emit"),
            (r#"{"id":7,"result":[1]}"#, "result 7 [1]"),
            (r#"{"id":7,"result":null}"#, "result 7 null"),
            (r#"{"id":7}"#, "result 7 null"),
            (r#"{"id":7,"error":{"code":1,"message":"no"}}"#, "error 7 no"),
            (r#"{"id":"7","result":1}"#, "result 0 1"),
            (r#"{"id":null,"error":{"code":1,"message":"no"}}"#, "error 0 no"),
            (r#"{}"#, "-32600"),
            (r#"[]"#, "-32600"),
            (r#"7"#, "-32600"),
            (r#"{"method":7}"#, "-32600"),
            ("hello", "-32700"),
            ("{\"id\":7}{", "-32700"),
            ("", "-32700"),
        ] {
            assert_eq!(kind(line), expect, "{line}");
        }
        assert_eq!(parse(b"\"\xff\"").err().unwrap().code, PARSE_ERROR);
    }

    #[test]
    fn a_damaged_line_says_what_it_was_to_answer() {
        for (line, expect) in [
            (r#"{"jsonrpc":"2.0","id":4,"result":NaN}"#, Some(4)),
            (r#"{"jsonrpc": "2.0", "id": 5, "result": "xxxx"#, Some(5)),
            (r#"{"id":6,"result":{"a":[1,2"#, Some(6)),
            (r#"{"id":7,"error":{"code":1,"message":"x"#, Some(7)),
            (r#"{"id":8,"method":"emit","params":{"x"#, None),
            (r#"{"id":9,"params":{"x":"y"#, None),
            (r#"{"id":"a","result":1"#, None),
            (r#"{"result":NaN,"id":4}"#, None),
            ("debug {\"id\":4}", None),
            ("[4", None),
            ("", None),
        ] {
            assert_eq!(damaged_answer(line.as_bytes()), expect, "{line}");
        }
        assert_eq!(damaged_answer(b"{\"id\":3,\"result\":\"\xff\"}"), Some(3));
    }

    #[test]
    fn a_refusal_survives_the_way_there_and_back() {
        let refusal = Refusal::new(Code::Busy, "wait").with_details(json!({ "a": 1 }));
        assert_eq!(RpcError::refused(&refusal).into_refusal(), refusal);
        let plain = RpcError::new(1, "").into_refusal();
        assert_eq!(plain.code, Code::Internal);
        assert!(!plain.sentence.is_empty());
    }

    #[test]
    fn a_message_is_one_line() {
        let line = call_line(Some(1), "runAction", "{\n\"a\": \"b\\n\"\r\n}");
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(line.ends_with(b"}\n"));
    }
}
