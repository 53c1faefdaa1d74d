//! Why a socket is closed, and the close frame for it.

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
use crate::state::ServerState;

/// The client is not authenticated, or no longer. (Codes from 4000 on are for applications.)
const UNAUTHORIZED: u16 = 4401;
/// How long closing may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest reason that fits into a close frame.
const MAX_REASON: usize = 123;

/// Why a socket is closed.
pub enum CloseReason {
    /// The client closed it.
    ClientClosed,
    /// The client is refused; with the `id` of its `auth` message.
    Refused(Option<Box<RawValue>>, Refusal),
    /// The grant that it was opened with was revoked or has expired.
    GrantEnded,
    /// The server stops.
    ServerStopping,
    /// The client violates the WebSocket protocol, is gone, or does not read.
    Broken(Error),
}

impl CloseReason {
    /// Sends the close frame and waits a little for the client to receive it.
    pub async fn send(self, mut outbound: WsOutbound, mut inbound: WsInbound) {
        if let Self::Refused(id, refusal) = &self {
            outbound.send(WsMessage::Error { id: id.as_deref(), channel: None, refusal }.frame());
        }
        if let Some((code, reason)) = self.code_and_reason() {
            outbound.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
        }
        let close = async {
            outbound.flush().await?;
            // Closing with unread input would reset the connection, and the client would lose the
            // close frame.
            while inbound.next().await.transpose()?.is_some() {}
            Ok::<_, Error>(())
        };
        // The client may be gone already or never stop sending; the frame is sent either way.
        let _ = timeout(CLOSE_TIMEOUT, close).await;
    }

    /// The code and the reason to close with; `None` if the client has closed already.
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

/// Completes when a session must end, because its grant is over or the server stops.
pub type SessionEnd = BoxFuture<'static, CloseReason>;

/// Waits until the caller's session must end.
pub fn session_end(shared: Arc<ServerState>, caller: Caller) -> SessionEnd {
    Box::pin(async move {
        tokio::select! {
            () = shared.kernel.wait_revoked(&caller) => CloseReason::GrantEnded,
            () = shared.closed() => CloseReason::ServerStopping,
        }
    })
}

fn cut(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(MAX_REASON));
    reason
}
