//! The sending half of a socket, and how a socket is closed.
//!
//! Queuing a frame never waits; one flush sends all of them. The queue stays short because its
//! users check it first: output and events are pulled only while it is not
//! [`WsOutbound::is_full`], and requests are read only while it is not
//! [`WsOutbound::is_over_limit`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use axum::Error;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::future::BoxFuture;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use paned_kernel::Caller;
use paned_model::{Code, Refusal};
use tokio::time::timeout;

use super::protocol::{WsMessage, WsRequestId};
use crate::state::ServerState;

/// How many bytes are gathered for one flush.
const FLUSH_BYTES: usize = 64 << 10;
/// How many bytes of answers may wait for a client that does not read.
const MAX_UNSENT: usize = 1 << 20;
/// The client is not authenticated, or no longer. (Codes from 4000 on are for applications.)
const UNAUTHORIZED: u16 = 4401;
/// How long closing may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest reason that fits into a close frame.
const MAX_REASON: usize = 123;

/// The receiving half of a socket.
pub type WsInbound = SplitStream<WebSocket>;

/// The sending half of a socket.
pub struct WsOutbound {
    sink: SplitSink<WebSocket, Message>,
    queue: VecDeque<Message>,
    /// Bytes that were queued and are not known to be sent.
    unsent: usize,
}

impl WsOutbound {
    pub(crate) fn new(sink: SplitSink<WebSocket, Message>) -> Self {
        Self { sink, queue: VecDeque::new(), unsent: 0 }
    }

    /// Queues a message for the next flush.
    pub fn send(&mut self, message: Message) {
        self.unsent += frame_bytes(&message);
        self.queue.push_back(message);
    }

    /// Whether there is anything to flush.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        0 < self.unsent
    }

    /// Whether there is enough for one flush, so that no more should be pulled.
    #[must_use]
    pub fn is_full(&self) -> bool {
        FLUSH_BYTES <= self.unsent
    }

    /// Whether so much is unsent that no further request may be read.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        MAX_UNSENT <= self.unsent
    }

    /// Sends everything. Cancel-safe.
    ///
    /// # Errors
    /// If the socket is broken, or a write timed out.
    pub async fn flush(&mut self) -> Result<(), Error> {
        while !self.queue.is_empty() {
            poll_fn(|cx| self.sink.poll_ready_unpin(cx)).await?;
            if let Some(message) = self.queue.pop_front() {
                self.sink.start_send_unpin(message)?;
            }
        }
        self.sink.flush().await?;
        self.unsent = 0;
        Ok(())
    }
}

/// The size of a frame: its payload, and 10 bytes for the header.
fn frame_bytes(message: &Message) -> usize {
    let bytes = match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
        Message::Close(_) => 0,
    };
    bytes + 10
}

/// Why a socket is closed.
pub enum CloseReason {
    /// The client closed it.
    ClientClosed,
    /// The client is refused; with the `id` of its `auth` message.
    Refused(Option<WsRequestId>, Refusal),
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
            Self::Refused(..) => Some((UNAUTHORIZED, "not authenticated".to_owned())),
            Self::GrantEnded => {
                Some((UNAUTHORIZED, "the token was revoked or has expired".to_owned()))
            }
            Self::ServerStopping => Some((close_code::AWAY, "the server is stopping".to_owned())),
            Self::Broken(error) => {
                tracing::debug!(%error, "a socket was closed by an error");
                Some((close_code::PROTOCOL, cut(error.to_string())))
            }
        }
    }
}

/// Completes when a session must end, because its grant is over or the server is stopping.
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
