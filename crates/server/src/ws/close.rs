//! How a socket ends, and how its client is told.

use std::sync::Arc;
use std::time::Duration;

use axum::Error;
use axum::extract::ws::{CloseFrame, Message, close_code};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use paned_kernel::Caller;
use paned_model::{Code, Refusal};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::message::WsMessage;
use super::outbound::{WsInbound, WsOutbound};
use crate::poll_on_wake::PollOnWake;
use crate::state::ServerState;

/// Whoever opened the socket is not let in, or no more. (Codes from 4000 on are for applications.)
const UNAUTHORIZED: u16 = 4401;
/// How long a goodbye may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest reason that fits into a close frame.
const MAX_REASON: usize = 123;

/// How a socket ends.
pub(crate) enum CloseReason {
    /// The client says so.
    ClientClosed,
    /// Whoever opened it is not let in; with what they call the message by which they asked.
    Refused(Option<Box<RawValue>>, Refusal),
    /// The grant it was opened with is over.
    GrantEnded,
    /// The server stops.
    ServerStopping,
    /// The client does not keep to WebSocket, is gone, or takes nothing.
    Broken(Error),
}

impl CloseReason {
    /// Says goodbye and waits a little until it was heard.
    pub(crate) async fn send(self, mut wire: WsOutbound, mut heard: WsInbound) {
        if let Self::Refused(id, refusal) = &self {
            wire.send(WsMessage::Error { id: id.as_deref(), channel: None, refusal }.frame());
        }
        if let Some((code, reason)) = self.code_and_reason() {
            wire.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
        }
        let goodbye = async {
            wire.flush().await?;
            // Closing while something is unread would take back what was said.
            while heard.next().await.transpose()?.is_some() {}
            Ok::<_, Error>(())
        };
        // They may be gone already, or never stop talking; we have said it.
        let _ = timeout(CLOSE_TIMEOUT, goodbye).await;
    }

    /// The code and the reason to close with; none when the client has closed already.
    fn code_and_reason(&self) -> Option<(u16, String)> {
        match self {
            Self::ClientClosed => None,
            Self::Refused(_, refusal) if refusal.code == Code::Limit => {
                Some((close_code::AGAIN, cut(refusal.sentence.clone())))
            }
            Self::Refused(..) => Some((UNAUTHORIZED, "not let in".to_owned())),
            Self::GrantEnded => Some((UNAUTHORIZED, "the grant is over".to_owned())),
            Self::ServerStopping => Some((close_code::AWAY, "the server stops".to_owned())),
            Self::Broken(error) => {
                tracing::debug!(%error, "a socket broke off");
                Some((close_code::PROTOCOL, cut(error.to_string())))
            }
        }
    }
}

/// When somebody may no longer be talked to, because their grant is over or the server stops.
pub(crate) type SessionEnd = PollOnWake<BoxFuture<'static, CloseReason>>;

/// Waits until somebody may no longer be talked to.
pub(crate) fn session_end(shared: Arc<ServerState>, caller: Caller) -> SessionEnd {
    PollOnWake::new(Box::pin(async move {
        tokio::select! {
            () = shared.kernel.wait_revoked(&caller) => CloseReason::GrantEnded,
            () = shared.closed() => CloseReason::ServerStopping,
        }
    }))
}

fn cut(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(MAX_REASON));
    reason
}
