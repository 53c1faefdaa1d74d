//! What a client may ask, and what comes of it.

use axum::extract::ws::Message;
use paned_kernel::Printed;
use paned_model::{Code, PaneId, Refusal};
use serde_json::Value;

use super::say::{Say, wrong};
use crate::doors::opencode_pty::sessions::Sessions;
use crate::doors::opencode_pty::spawn::{Spawn, fresh_id, told};

/// A message of a client.
pub(super) enum Ask {
    List,
    Subscribe(String),
    Unsubscribe(String),
    Spawn {
        id: PaneId,
        spawn: Box<Spawn>,
        subscribe: bool,
    },
    Input {
        id: String,
        data: String,
    },
    ReadRaw(String),
    /// It is not understood, for this reason.
    Wrong(String),
}

/// What comes of a message.
pub(super) enum Reply {
    Nothing,
    Say(Message),
    Unsubscribe(String),
    /// A session's output is to be passed on.
    Subscribe(PaneId, Printed),
    /// A session was started, and is perhaps to be subscribed to.
    Spawned(PaneId, Option<Printed>),
    /// A session was not started, for this reason.
    NotSpawned(PaneId, String),
}

impl Ask {
    /// Reads a message.
    pub(super) fn read(text: &str) -> Self {
        let asked: Value = match serde_json::from_str(text) {
            Ok(asked) => asked,
            Err(error) => return Self::Wrong(format!("JSON Parse error: {error}")),
        };
        let word = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
        let id = word("sessionId");
        match word("type").as_str() {
            "session_list" => Self::List,
            "subscribe" => Self::Subscribe(id),
            "unsubscribe" => Self::Unsubscribe(id),
            "input" => Self::Input { id, data: word("data") },
            "readRaw" => Self::ReadRaw(id),
            "spawn" => Self::read_spawn(asked),
            other => Self::Wrong(format!("Unknown message type {other}")),
        }
    }

    fn read_spawn(asked: Value) -> Self {
        let subscribe = asked["subscribe"] == true;
        match Spawn::read(asked) {
            Ok(spawn) => Self::Spawn { id: fresh_id(), spawn: Box::new(spawn), subscribe },
            Err(refusal) => Self::Wrong(told(refusal)),
        }
    }

    /// Does what is asked.
    pub(super) async fn run(self, sessions: Sessions) -> Reply {
        let done = match self {
            Self::List => list(&sessions).await,
            Self::Subscribe(id) => subscribe(&sessions, &id).await,
            Self::Unsubscribe(id) => Ok(Reply::Unsubscribe(id)),
            Self::Spawn { id, spawn, subscribe } => {
                Ok(start(&sessions, id, *spawn, subscribe).await)
            }
            Self::Input { id, data } => type_into(&sessions, &id, &data).await,
            Self::ReadRaw(id) => read_raw(&sessions, &id).await,
            Self::Wrong(sentence) => Ok(Reply::Say(wrong(&sentence))),
        };
        done.unwrap_or_else(|sentence| Reply::Say(wrong(&sentence)))
    }
}

async fn list(sessions: &Sessions) -> Result<Reply, String> {
    let list = sessions.list().await.map_err(|refusal| refusal.sentence)?;
    Ok(Reply::Say(Say::SessionList { sessions: &list }.frame()))
}

async fn subscribe(sessions: &Sessions, id: &str) -> Result<Reply, String> {
    let pane = sessions.get(id).await.map_err(|refusal| missing(id, refusal))?;
    let reader = sessions.reader(&pane, pane.bytes).map_err(|refusal| missing(id, refusal))?;
    Ok(Reply::Subscribe(pane.id, reader))
}

async fn start(sessions: &Sessions, id: PaneId, spawn: Spawn, subscribe: bool) -> Reply {
    if let Err(refusal) = sessions.spawn(&id, spawn).await {
        return Reply::NotSpawned(id, told(refusal));
    }
    // From its first byte, however early that came.
    let reader = match sessions.get(id.as_str()).await {
        Ok(pane) if subscribe => sessions.reader(&pane, 0).ok(),
        Ok(_) | Err(_) => None,
    };
    Reply::Spawned(id, reader)
}

/// Clients expect no word, unless it could have been typed and was not.
async fn type_into(sessions: &Sessions, id: &str, data: &str) -> Result<Reply, String> {
    if data.is_empty() {
        return Ok(Reply::Nothing);
    }
    match sessions.write(id, data).await {
        Ok(()) => Ok(Reply::Nothing),
        Err(refusal) if refusal.code == Code::NotFound => Ok(Reply::Nothing),
        Err(refusal) => Err(format!("Failed to write to session {id}: {}", refusal.sentence)),
    }
}

async fn read_raw(sessions: &Sessions, id: &str) -> Result<Reply, String> {
    let raw = sessions.printed(id).await.map_err(|refusal| missing(id, refusal))?;
    Ok(Reply::Say(Say::ReadRaw { session_id: id, raw_data: &raw }.frame()))
}

fn missing(id: &str, refusal: Refusal) -> String {
    match refusal.code {
        Code::NotFound => format!("Session {id} not found"),
        _ => refusal.sentence,
    }
}
