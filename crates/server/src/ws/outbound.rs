//! The sending half of a socket: frames that wait, and the one flush that sends all of them.
//!
//! Saying something never waits. The queue is short because whoever fills it asks first: output and events
//! are pulled while it is not [`WsOutbound::is_full`], requests are read while it is not [`WsOutbound::is_over_limit`].

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

/// The hearing half of a socket.
pub(crate) type WsInbound = PollOnWake<SplitStream<WebSocket>>;

/// The sending half of a socket.
pub(crate) struct WsOutbound {
    sink: SplitSink<WebSocket, Message>,
    raw_frames: RawFrameQueue,
    queue: VecDeque<OutboundFrame>,
    /// Bytes that were said and are not known to be sent.
    unsent: usize,
}

enum OutboundFrame {
    /// A message, which the library makes a frame.
    Message(Message),
    /// Frames as they are.
    Raw(Bytes),
}

impl WsOutbound {
    pub(crate) fn new(sink: SplitSink<WebSocket, Message>, raw_frames: RawFrameQueue) -> Self {
        Self { sink, raw_frames, queue: VecDeque::new(), unsent: 0 }
    }

    /// Has a frame sent with the next flush.
    pub(crate) fn send(&mut self, message: Message) {
        self.unsent += frame_bytes(&message);
        self.queue.push_back(OutboundFrame::Message(message));
    }

    /// Has frames that were laid out before sent with the next flush.
    pub(crate) fn send_raw(&mut self, frames: Bytes) {
        self.unsent += frames.len();
        self.queue.push_back(OutboundFrame::Raw(frames));
    }

    /// Whether there is anything to flush.
    pub(crate) fn is_dirty(&self) -> bool {
        0 < self.unsent
    }

    /// Whether enough waits to be sent.
    pub(crate) fn is_full(&self) -> bool {
        FLUSH_BYTES <= self.unsent
    }

    /// Whether so much waits that nothing more may be asked.
    pub(crate) fn is_over_limit(&self) -> bool {
        MAX_UNSENT <= self.unsent
    }

    /// Sends everything. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the socket is broken, or its client took nothing for too long.
    pub(crate) async fn flush(&mut self) -> Result<(), Error> {
        while let Some(next) = self.queue.front() {
            match next {
                OutboundFrame::Message(_) => poll_fn(|cx| self.sink.poll_ready_unpin(cx)).await?,
                // Then the library holds no part of a frame that these would come into.
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

/// The bytes of a frame, with its head.
fn frame_bytes(message: &Message) -> usize {
    let bytes = match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
        Message::Close(_) => 0,
    };
    bytes + 10
}
