//! Messages of JSON-RPC, as far as a bridge has to understand them. Pure.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
/// The first version of the protocol without sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";
const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of a client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClientMessage(Value);

/// What is to be done with a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageKind {
    /// It starts a session.
    Initialize,
    /// It ends a request of the client, with this key.
    Cancel(String),
    /// It is answered; the key is its id.
    Request(String),
    /// It is not answered.
    Notice,
}

impl ClientMessage {
    /// Reads a line.
    ///
    /// # Errors
    /// With the answer to a line that is no message.
    pub(super) fn read(line: &str) -> Result<Self, Value> {
        let message: Value = serde_json::from_str(line).map_err(|error| {
            failure(&Value::Null, PARSE_ERROR, &format!("the line is not valid JSON: {error}"))
        })?;
        if message.is_array() {
            let sentence = "a batch is not supported; send each message in a line of its own";
            return Err(failure(&Value::Null, INVALID_REQUEST, sentence));
        }
        if !message.is_object() {
            let sentence = "the line is not a JSON-RPC 2.0 message";
            return Err(failure(&Value::Null, INVALID_REQUEST, sentence));
        }
        Ok(Self(message))
    }

    pub(super) fn kind(&self) -> MessageKind {
        let method = self.0["method"].as_str().unwrap_or_default();
        match (method, self.0.get("id")) {
            ("notifications/cancelled", None) => {
                MessageKind::Cancel(self.0["params"]["requestId"].to_string())
            }
            (_, None) | ("", _) => MessageKind::Notice,
            ("initialize", Some(_)) => MessageKind::Initialize,
            (_, Some(id)) => MessageKind::Request(id.to_string()),
        }
    }

    pub(super) fn id(&self) -> Value {
        self.0.get("id").cloned().unwrap_or_default()
    }

    /// The same with another id.
    pub(super) fn with_id(&self, id: &str) -> Self {
        let mut message = self.0.clone();
        message["id"] = Value::from(id);
        Self(message)
    }

    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    /// Whether the client follows a resource from now on (`true`), or no longer (`false`).
    pub(super) fn subscription(&self) -> Option<(bool, &str)> {
        let uri = self.0["params"]["uri"].as_str()?;
        match self.0["method"].as_str()? {
            "resources/subscribe" => Some((true, uri)),
            "resources/unsubscribe" => Some((false, uri)),
            _ => None,
        }
    }

    /// The headers that a message without a session needs, which repeat parts of it.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        let Some(version) = self.0["params"]["_meta"][VERSION_FIELD].as_str() else {
            return Vec::new();
        };
        let mut headers = vec![("mcp-protocol-version", version.to_owned())];
        if WITHOUT_SESSIONS <= version {
            let method = self.0["method"].as_str().unwrap_or_default();
            headers.push(("mcp-method", header_text(method)));
            let field = match method {
                "tools/call" | "prompts/get" => "name",
                "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
                _ => "",
            };
            let name = self.0["params"][field].as_str();
            headers.extend(name.map(|name| ("mcp-name", header_text(name))));
        }
        headers
    }

    /// Whether it has no need of a session.
    pub(super) fn is_stateless(&self) -> bool {
        self.headers().iter().any(|(name, _)| *name == "mcp-method")
    }

    /// The answer when the connection was lost before there was one. A tool's is a result, which
    /// the model reads.
    pub(super) fn lost(&self) -> Value {
        let sentence = "The connection to paned was lost before it answered: its server was stopped \
            or restarted. Sessions keep running. It is unknown whether this call took effect; look \
            with pty_list before you repeat one that changes something.";
        self.refused(sentence)
    }

    /// The answer with an error.
    pub(super) fn refused(&self, sentence: &str) -> Value {
        const UNAVAILABLE: i32 = -32000;
        if self.0["method"] != "tools/call" {
            return failure(&self.id(), UNAVAILABLE, sentence);
        }
        let content = json!([{ "type": "text", "text": sentence }]);
        let result = json!({ "content": content, "isError": true, "resultType": "complete" });
        json!({ "jsonrpc": "2.0", "id": self.id(), "result": result })
    }
}

/// A text as the value of a header.
fn header_text(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if is_plain { text.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(text)) }
}

/// An answer with an error.
pub(super) fn failure(id: &Value, code: i32, sentence: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": sentence } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(line: &str) -> ClientMessage {
        ClientMessage::read(line).unwrap()
    }

    #[test]
    fn a_line_that_is_no_message_is_answered() {
        for (line, code, why) in [
            ("{", PARSE_ERROR, "not valid JSON"),
            ("[]", INVALID_REQUEST, "a batch is not supported"),
            ("7", INVALID_REQUEST, "not a JSON-RPC"),
        ] {
            let answer = ClientMessage::read(line).unwrap_err();
            assert_eq!(answer["error"]["code"], code, "{line}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
        }
    }

    #[test]
    fn messages_are_told_apart() {
        let check = |line: &str, kind| assert_eq!(read(line).kind(), kind, "{line}");
        check(r#"{"id":1,"method":"initialize"}"#, MessageKind::Initialize);
        check(r#"{"id":"a","method":"tools/list"}"#, MessageKind::Request("\"a\"".into()));
        check(r#"{"method":"notifications/initialized"}"#, MessageKind::Notice);
        check(r#"{"id":1,"result":{}}"#, MessageKind::Notice);
        let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
        check(cancel, MessageKind::Cancel("1".into()));
    }

    #[test]
    fn a_message_without_a_session_repeats_itself_in_headers() {
        let line = r#"{"id":1,"method":"resources/read","params":{"uri":"paned://pane/ä/screen",
            "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let headers = read(line).headers();
        assert_eq!(headers[0], ("mcp-protocol-version", "2026-07-28".to_owned()));
        assert_eq!(headers[1], ("mcp-method", "resources/read".to_owned()));
        assert!(headers[2].1.starts_with("=?base64?"), "{headers:?}");
        assert!(read(line).is_stateless());
        assert!(!read(r#"{"id":1,"method":"tools/list"}"#).is_stateless());
    }

    #[test]
    fn a_lost_call_is_a_result_that_the_model_reads() {
        let call = read(r#"{"id":1,"method":"tools/call","params":{"name":"pty_list"}}"#);
        assert_eq!(call.lost()["result"]["isError"], true);
        let list = read(r#"{"id":1,"method":"tools/list"}"#);
        assert!(list.lost()["error"]["message"].is_string());
    }
}
