//! The sending half of a socket: a queue of frames, and the one flush that sends all of them.
//!
//! Queuing a frame never waits. The queue stays short because its users check it first: output and
//! events are pulled only while it is not [`WsOutbound::is_full`], and requests are read only while
//! it is not [`WsOutbound::is_over_limit`].

use std::collections::VecDeque;
use std::future::poll_fn;

use axum::Error;
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::SinkExt;
use futures_util::stream::{SplitSink, SplitStream};

use crate::lane::RawFrameQueue;
use crate::poll_on_wake::PollOnWake;

/// How many bytes are gathered for one flush.
const FLUSH_BYTES: usize = 64 << 10;
/// How many bytes of answers may wait for a client that does not read.
const MAX_UNSENT: usize = 1 << 20;

/// The receiving half of a socket.
pub(crate) type WsInbound = PollOnWake<SplitStream<WebSocket>>;

/// The sending half of a socket.
pub(crate) struct WsOutbound {
    sink: SplitSink<WebSocket, Message>,
    raw_frames: RawFrameQueue,
    queue: VecDeque<OutboundFrame>,
    /// Bytes that were queued and are not known to be sent.
    unsent: usize,
}

enum OutboundFrame {
    /// A message, which the library encodes as a frame.
    Message(Message),
    /// Encoded frames.
    Raw(Bytes),
}

impl WsOutbound {
    pub(crate) fn new(sink: SplitSink<WebSocket, Message>, raw_frames: RawFrameQueue) -> Self {
        Self { sink, raw_frames, queue: VecDeque::new(), unsent: 0 }
    }

    /// Queues a message for the next flush.
    pub(crate) fn send(&mut self, message: Message) {
        self.unsent += frame_bytes(&message);
        self.queue.push_back(OutboundFrame::Message(message));
    }

    /// Queues encoded frames for the next flush.
    pub(crate) fn send_raw(&mut self, frames: Bytes) {
        self.unsent += frames.len();
        self.queue.push_back(OutboundFrame::Raw(frames));
    }

    /// Whether there is anything to flush.
    pub(crate) fn is_dirty(&self) -> bool {
        0 < self.unsent
    }

    /// Whether there is enough for one flush, so that no more should be pulled.
    pub(crate) fn is_full(&self) -> bool {
        FLUSH_BYTES <= self.unsent
    }

    /// Whether so much is unsent that no further request may be read.
    pub(crate) fn is_over_limit(&self) -> bool {
        MAX_UNSENT <= self.unsent
    }

    /// Sends everything. Cancel-safe.
    ///
    /// # Errors
    /// If the socket is broken, or a write timed out.
    pub(crate) async fn flush(&mut self) -> Result<(), Error> {
        while let Some(next) = self.queue.front() {
            match next {
                OutboundFrame::Message(_) => poll_fn(|cx| self.sink.poll_ready_unpin(cx)).await?,
                // After a flush the library holds no part of a frame, so these cannot end up inside
                // one.
                OutboundFrame::Raw(_) => self.sink.flush().await?,
            }
            match self.queue.pop_front() {
                Some(OutboundFrame::Message(message)) => self.sink.start_send_unpin(message)?,
                Some(OutboundFrame::Raw(frames)) => self.raw_frames.push(frames),
                None => {}
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
