//! The protocol: requests of a client with their replies, and messages to a client.

use axum::extract::ws::Message;
use paned_kernel::PaneOutput;
use paned_model::{Code, PaneId, Refusal};
use serde::Serialize;
use serde_json::Value;

use crate::opencode_pty::info::PtyCompatInfo;
use crate::opencode_pty::sessions::PtyCompatSessions;
use crate::opencode_pty::spawn::{PtyCompatSpawn, fresh_id, with_cause};

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

/// A request of a client.
pub(super) enum PtyCompatRequest {
    List,
    Subscribe(String),
    Unsubscribe(String),
    Spawn {
        id: PaneId,
        spawn: Box<PtyCompatSpawn>,
        subscribe: bool,
    },
    Input {
        id: String,
        data: String,
    },
    ReadRaw(String),
    /// It is not valid, for this reason.
    Invalid(String),
}

/// The reply to a request.
pub(super) enum PtyCompatReply {
    Nothing,
    Send(Message),
    Unsubscribe(String),
    /// Subscribe to a session's output.
    Subscribe(PaneId, PaneOutput),
    /// A session was started; with a reader, subscribe to it.
    Spawned(PaneId, Option<PaneOutput>),
    /// A session was not started, for this reason.
    NotSpawned(PaneId, String),
}

impl PtyCompatRequest {
    /// Parses a message.
    pub(super) fn read(text: &str) -> Self {
        let message: Value = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => return Self::Invalid(format!("JSON Parse error: {error}")),
        };
        let field = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let id = field("sessionId");
        match field("type").as_str() {
            "session_list" => Self::List,
            "subscribe" => Self::Subscribe(id),
            "unsubscribe" => Self::Unsubscribe(id),
            "input" => Self::Input { id, data: field("data") },
            "readRaw" => Self::ReadRaw(id),
            "spawn" => Self::read_spawn(message),
            other => Self::Invalid(format!("Unknown message type {other}")),
        }
    }

    fn read_spawn(message: Value) -> Self {
        let subscribe = message["subscribe"] == true;
        match PtyCompatSpawn::read(message) {
            Ok(spawn) => Self::Spawn { id: fresh_id(), spawn: Box::new(spawn), subscribe },
            Err(refusal) => Self::Invalid(with_cause(refusal)),
        }
    }

    /// Runs the request.
    pub(super) async fn run(self, sessions: PtyCompatSessions) -> PtyCompatReply {
        let reply = match self {
            Self::List => list(&sessions).await,
            Self::Subscribe(id) => subscribe(&sessions, &id).await,
            Self::Unsubscribe(id) => Ok(PtyCompatReply::Unsubscribe(id)),
            Self::Spawn { id, spawn, subscribe } => {
                Ok(spawn_session(&sessions, id, *spawn, subscribe).await)
            }
            Self::Input { id, data } => type_into(&sessions, &id, &data).await,
            Self::ReadRaw(id) => read_raw(&sessions, &id).await,
            Self::Invalid(sentence) => Ok(PtyCompatReply::Send(error_message(&sentence))),
        };
        reply.unwrap_or_else(|sentence| PtyCompatReply::Send(error_message(&sentence)))
    }
}

async fn list(sessions: &PtyCompatSessions) -> Result<PtyCompatReply, String> {
    let list = sessions.list().await.map_err(|refusal| refusal.sentence)?;
    Ok(PtyCompatReply::Send(PtyCompatMessage::SessionList { sessions: &list }.frame()))
}

async fn subscribe(sessions: &PtyCompatSessions, id: &str) -> Result<PtyCompatReply, String> {
    let pane = sessions.get(id).await.map_err(|refusal| missing(id, refusal))?;
    let reader = sessions.reader(&pane, pane.bytes).map_err(|refusal| missing(id, refusal))?;
    Ok(PtyCompatReply::Subscribe(pane.id, reader))
}

async fn spawn_session(
    sessions: &PtyCompatSessions,
    id: PaneId,
    spawn: PtyCompatSpawn,
    subscribe: bool,
) -> PtyCompatReply {
    if let Err(refusal) = sessions.spawn(&id, spawn).await {
        return PtyCompatReply::NotSpawned(id, with_cause(refusal));
    }
    // From its first byte, even if that was printed before this lookup.
    let reader = match sessions.get(id.as_str()).await {
        Ok(pane) if subscribe => sessions.reader(&pane, 0).ok(),
        Ok(_) | Err(_) => None,
    };
    PtyCompatReply::Spawned(id, reader)
}

/// Clients expect no reply to input. Only a failed write to an existing session is reported.
async fn type_into(
    sessions: &PtyCompatSessions,
    id: &str,
    data: &str,
) -> Result<PtyCompatReply, String> {
    if data.is_empty() {
        return Ok(PtyCompatReply::Nothing);
    }
    match sessions.write(id, data).await {
        Ok(()) => Ok(PtyCompatReply::Nothing),
        Err(refusal) if refusal.code == Code::NotFound => Ok(PtyCompatReply::Nothing),
        Err(refusal) => Err(format!("Failed to write to session {id}: {}", refusal.sentence)),
    }
}

async fn read_raw(sessions: &PtyCompatSessions, id: &str) -> Result<PtyCompatReply, String> {
    let raw = sessions.output(id).await.map_err(|refusal| missing(id, refusal))?;
    Ok(PtyCompatReply::Send(PtyCompatMessage::ReadRaw { session_id: id, raw_data: &raw }.frame()))
}

fn missing(id: &str, refusal: Refusal) -> String {
    match refusal.code {
        Code::NotFound => format!("Session {id} not found"),
        _ => refusal.sentence,
    }
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
