//! Messages to a client. Pure.

use axum::extract::ws::Message;
use serde::Serialize;

use crate::opencode_pty::info::PtyCompatInfo;

/// A message to a client.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum PtyCompatMessage<'a> {
    /// All sessions.
    SessionList { sessions: &'a [PtyCompatInfo] },
    /// A session was started or has ended.
    SessionUpdate { session: &'a PtyCompatInfo },
    /// A session was removed; no further message is about it.
    SessionRemoved { session_id: &'a str },
    /// The client receives a session's output from now on.
    Subscribed { session_id: &'a str },
    /// The client no longer receives a session's output.
    Unsubscribed { session_id: &'a str },
    /// New output of a session.
    RawData { session: &'a PtyCompatInfo, raw_data: &'a str },
    /// All output of a session so far.
    #[serde(rename = "readRawResponse")]
    ReadRaw { session_id: &'a str, raw_data: &'a str },
    /// A request failed.
    Error { error: PtyCompatError<'a> },
}

/// An error. It exposes no internals, such as a stack trace.
#[derive(Serialize)]
pub(super) struct PtyCompatError<'a> {
    name: &'static str,
    message: &'a str,
}

impl PtyCompatMessage<'_> {
    /// The message as a frame.
    pub(super) fn frame(&self) -> Message {
        Message::text(serde_json::to_string(self).unwrap_or_default())
    }
}

/// An error as a frame.
pub(super) fn error_message(message: &str) -> Message {
    PtyCompatMessage::Error { error: PtyCompatError { name: "CustomError", message } }.frame()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &Message, expect: &str) {
        assert_eq!(message.to_text().unwrap(), expect);
    }

    #[test]
    fn names_are_those_that_clients_know() {
        let subscribed = PtyCompatMessage::Subscribed { session_id: "pty_1" }.frame();
        check(&subscribed, r#"{"type":"subscribed","sessionId":"pty_1"}"#);
        let read = PtyCompatMessage::ReadRaw { session_id: "pty_1", raw_data: "x" }.frame();
        check(&read, r#"{"type":"readRawResponse","sessionId":"pty_1","rawData":"x"}"#);
        check(
            &error_message("no"),
            r#"{"type":"error","error":{"name":"CustomError","message":"no"}}"#,
        );
    }
}
