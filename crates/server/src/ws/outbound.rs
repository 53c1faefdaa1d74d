//! The sending half of a socket: a queue of frames, and the one flush that sends all of them.
//!
//! Queuing a frame never waits. The queue stays short because its users check it first: output and
//! events are pulled only while it is not [`WsOutbound::is_full`], and requests are read only while
//! it is not [`WsOutbound::is_over_limit`].

use std::collections::VecDeque;
use std::future::poll_fn;

use axum::Error;
use axum::extract::ws::{Message, WebSocket};
use futures_util::SinkExt;
use futures_util::stream::{SplitSink, SplitStream};

/// How many bytes are gathered for one flush.
const FLUSH_BYTES: usize = 64 << 10;
/// How many bytes of answers may wait for a client that does not read.
const MAX_UNSENT: usize = 1 << 20;

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
