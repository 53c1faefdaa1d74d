//! What a client is told. Pure.

use axum::extract::ws::Message;
use serde::Serialize;

use crate::compat::opencode_pty::info::PtyCompatInfo;

/// A message to a client.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum PtyCompatMessage<'a> {
    /// All sessions.
    SessionList { sessions: &'a [PtyCompatInfo] },
    /// One began or ended.
    SessionUpdate { session: &'a PtyCompatInfo },
    /// One was forgotten; nothing is told of it any more.
    SessionRemoved { session_id: &'a str },
    /// Its output is passed on from now on.
    Subscribed { session_id: &'a str },
    /// Its output is passed on no more.
    Unsubscribed { session_id: &'a str },
    /// One printed this.
    RawData { session: &'a PtyCompatInfo, raw_data: &'a str },
    /// One has printed all of this.
    #[serde(rename = "readRawResponse")]
    ReadRaw { session_id: &'a str, raw_data: &'a str },
    /// Something was not done.
    Error { error: PtyCompatError<'a> },
}

/// What went wrong. Nothing of how we are built is told with it.
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

/// The frame that says that something was not done.
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
