//! The open channels of a socket, each a reader of one pane's output.
//!
//! A channel pulls one chunk at a time, and only as much as its window has room for. The pulls take
//! turns, so a pane that floods does not hold up the others. The client acknowledges what it has
//! received, which makes room in the window.

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::ops::Range;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::FuturesUnordered;
use paned_kernel::{PaneOutput, PaneOutputChunk};
use paned_model::{Code, Offset, PaneInfo, Refusal};

use super::{MAX_CHANNELS, MAX_OUTPUT_BYTES};

/// The most gaps among unacknowledged bytes; bounds the list of ranges.
const MAX_GAPS: usize = 256;

/// The open channels.
#[derive(Default)]
pub(super) struct Channels {
    open: BTreeMap<u32, Channel>,
    pulls: Pulls,
    /// Channel numbers are never reused, so that a late message cannot refer to another channel.
    last: u32,
}

type Pulls = FuturesUnordered<Abortable<BoxFuture<'static, ChannelPull>>>;

struct Channel {
    window: SendWindow,
    reader: ChannelReader,
}

/// Where a channel's reader is.
enum ChannelReader {
    /// In a pull, which can be aborted.
    Pulling(AbortHandle),
    /// Idle, until the window has room again.
    Waiting(PaneOutput),
}

/// The result of a pull.
struct ChannelPull {
    channel: u32,
    reader: PaneOutput,
    piece: Result<PaneOutputChunk, Refusal>,
}

/// What a channel produced.
pub(super) enum ChannelOutput {
    /// Bytes from this offset on.
    Bytes(u32, Offset, Vec<u8>),
    /// The bytes between these offsets are no longer kept.
    Gap(u32, Offset, Offset),
    /// The program ended; the channel is closed.
    End(u32, Box<PaneInfo>),
    /// The output cannot be read; the channel is closed.
    Failed(u32, Refusal),
}

impl Channels {
    /// Opens a channel for a reader. Its window begins at the reader's offset.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn open(&mut self, reader: PaneOutput, window: SendWindow) -> Result<u32, Refusal> {
        if MAX_CHANNELS <= self.open.len() {
            let sentence = format!(
                "this socket has {MAX_CHANNELS} open channels, the maximum; \
                                   close some"
            );
            return Err(Refusal::new(Code::Limit, sentence));
        }
        self.last += 1;
        let reader = pull_or_wait(&mut self.pulls, self.last, &window, reader);
        self.open.insert(self.last, Channel { window, reader });
        Ok(self.last)
    }

    /// Closes a channel. Closing it again is not an error.
    ///
    /// # Errors
    /// If there never was such a channel.
    pub(super) fn close(&mut self, channel: u32) -> Result<(), Refusal> {
        self.check_known(channel)?;
        match self.open.remove(&channel).map(|channel| channel.reader) {
            Some(ChannelReader::Pulling(pull)) => pull.abort(),
            Some(ChannelReader::Waiting(_)) | None => {}
        }
        Ok(())
    }

    /// The client has received everything of a channel before this offset.
    ///
    /// # Errors
    /// If there never was such a channel, or less was sent.
    pub(super) fn acknowledge(&mut self, channel: u32, offset: Offset) -> Result<(), Refusal> {
        self.check_known(channel)?;
        let Some(Channel { mut window, reader }) = self.open.remove(&channel) else {
            return Ok(());
        };
        let acknowledged = window.acknowledge(offset);
        let reader = match reader {
            ChannelReader::Waiting(reader) => {
                pull_or_wait(&mut self.pulls, channel, &window, reader)
            }
            ChannelReader::Pulling(_) => reader,
        };
        self.open.insert(channel, Channel { window, reader });
        acknowledged.map_err(|sent| {
            Refusal::invalid(format!(
                "cannot acknowledge that offset: channel {channel} has sent \
                                     only the bytes before {sent}"
            ))
        })
    }

    /// The next output of any channel. Cancel-safe.
    pub(super) async fn next(&mut self) -> ChannelOutput {
        loop {
            match self.pulls.next().await {
                Some(Ok(pulled)) => {
                    if let Some(output) = self.finish_pull(pulled) {
                        return output;
                    }
                }
                Some(Err(Aborted)) => {}
                None => return pending().await,
            }
        }
    }

    /// Takes the result of a pull and starts the next one; `None` if the channel was closed
    /// meanwhile.
    fn finish_pull(
        &mut self,
        ChannelPull { channel, reader, piece }: ChannelPull,
    ) -> Option<ChannelOutput> {
        let open = self.open.get_mut(&channel)?;
        let output = match piece {
            Ok(PaneOutputChunk::Bytes(offset, bytes)) => {
                open.window.send(bytes.len());
                ChannelOutput::Bytes(channel, offset, bytes)
            }
            Ok(PaneOutputChunk::Gap(from, to)) => {
                open.window.skip(to);
                ChannelOutput::Gap(channel, from, to)
            }
            Ok(PaneOutputChunk::End) => {
                self.open.remove(&channel);
                return Some(ChannelOutput::End(channel, Box::new(reader.info())));
            }
            Err(refusal) => {
                self.open.remove(&channel);
                return Some(ChannelOutput::Failed(channel, refusal));
            }
        };
        open.reader = pull_or_wait(&mut self.pulls, channel, &open.window, reader);
        Some(output)
    }

    fn check_known(&self, channel: u32) -> Result<(), Refusal> {
        if (1..=self.last).contains(&channel) {
            return Ok(());
        }
        Err(Refusal::not_found(format!(
            "no channel {channel}; the channels are in the \
                                       `subscribed` messages"
        )))
    }
}

/// Starts a channel's next pull, or parks its reader until the window has room.
fn pull_or_wait(
    pulls: &mut Pulls,
    channel: u32,
    window: &SendWindow,
    reader: PaneOutput,
) -> ChannelReader {
    let room = usize::try_from(window.room()).unwrap_or(MAX_OUTPUT_BYTES).min(MAX_OUTPUT_BYTES);
    match room {
        0 => ChannelReader::Waiting(reader),
        room => ChannelReader::Pulling(pull(pulls, channel, reader, room)),
    }
}

fn pull(pulls: &mut Pulls, channel: u32, mut reader: PaneOutput, room: usize) -> AbortHandle {
    let pull: BoxFuture<'static, ChannelPull> = Box::pin(async move {
        let piece = reader.next(room).await;
        ChannelPull { channel, reader, piece }
    });
    let (handle, registration) = AbortHandle::new_pair();
    pulls.push(Abortable::new(pull, registration));
    handle
}

/// The unacknowledged bytes, and how many there may be.
pub(super) struct SendWindow {
    size: u64,
    /// Everything before this was sent or skipped.
    sent_to: u64,
    /// Sent and not acknowledged, oldest first. Adjacent ranges are merged; a gap lies between two.
    unacknowledged: VecDeque<Range<u64>>,
    /// The total length of these ranges.
    in_flight: u64,
}

impl SendWindow {
    /// An empty window; the first byte will be the one at `from`.
    pub(super) fn new(size: u64, from: Offset) -> Self {
        Self { size, sent_to: from.0, unacknowledged: VecDeque::new(), in_flight: 0 }
    }

    /// How many bytes may be sent now.
    pub(super) fn room(&self) -> u64 {
        if MAX_GAPS < self.unacknowledged.len() {
            0
        } else {
            self.size.saturating_sub(self.in_flight)
        }
    }

    /// This many bytes were sent.
    pub(super) fn send(&mut self, bytes: usize) {
        let from = self.sent_to;
        self.sent_to += bytes as u64;
        self.in_flight += bytes as u64;
        match self.unacknowledged.back_mut() {
            Some(last) if last.end == from => last.end = self.sent_to,
            Some(_) | None => self.unacknowledged.push_back(from..self.sent_to),
        }
    }

    /// The bytes up to here are no longer kept and will not be sent.
    pub(super) fn skip(&mut self, to: Offset) {
        self.sent_to = to.0;
    }

    /// The client has everything before this offset. A lower offset than before changes nothing.
    ///
    /// # Errors
    /// With the offset up to which was sent, if that is less.
    pub(super) fn acknowledge(&mut self, offset: Offset) -> Result<(), Offset> {
        if self.sent_to < offset.0 {
            return Err(Offset(self.sent_to));
        }
        while let Some(first) = self.unacknowledged.front_mut()
            && first.start < offset.0
        {
            let taken = offset.0.min(first.end) - first.start;
            first.start += taken;
            self.in_flight -= taken;
            if first.is_empty() {
                self.unacknowledged.pop_front();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// An operation on a window; a send is cut to the room there is, as a channel cuts it.
    #[derive(Clone, Copy, Debug)]
    enum WindowStep {
        Send(u64),
        Skip(u64),
        Acknowledge(u64),
    }

    fn step() -> impl Strategy<Value = WindowStep> {
        prop_oneof![
            (1..20u64).prop_map(WindowStep::Send),
            (1..50u64).prop_map(WindowStep::Skip),
            (0..400u64).prop_map(WindowStep::Acknowledge),
        ]
    }

    /// Takes steps with a window and with a plain set of bytes, which must agree after each.
    fn check(steps: &[WindowStep]) {
        const SIZE: u64 = 64;
        let (mut window, mut set, mut at) = (SendWindow::new(SIZE, Offset(0)), BTreeSet::new(), 0);
        for step in steps {
            match *step {
                WindowStep::Send(wanted) => {
                    let bytes = wanted.min(window.room());
                    if bytes > 0 {
                        window.send(bytes as usize);
                        set.extend(at..at + bytes);
                        at += bytes;
                    }
                }
                WindowStep::Skip(bytes) => {
                    at += bytes;
                    window.skip(Offset(at));
                }
                WindowStep::Acknowledge(offset) => {
                    let expect = if offset <= at { Ok(()) } else { Err(Offset(at)) };
                    assert_eq!(window.acknowledge(Offset(offset)), expect);
                    set.retain(|byte| at < offset || offset <= *byte);
                }
            }
            assert_eq!(window.room(), SIZE - set.len() as u64, "{step:?}");
        }
    }

    proptest! {
        #[test]
        fn the_room_is_what_was_not_acknowledged(steps in prop::collection::vec(step(), 0..60)) {
            check(&steps);
        }
    }

    #[test]
    fn an_acknowledgement_before_a_gap_counts() {
        let mut window = SendWindow::new(10, Offset(100));
        window.send(6);
        window.skip(Offset(1000));
        window.send(4);
        assert_eq!(window.room(), 0);
        assert_eq!(window.acknowledge(Offset(103)), Ok(()));
        assert_eq!(window.room(), 3);
        assert_eq!(window.acknowledge(Offset(500)), Ok(()));
        assert_eq!(window.room(), 6);
        assert_eq!(window.acknowledge(Offset(1005)), Err(Offset(1004)));
    }

    #[test]
    fn too_many_gaps_stop_it_until_some_are_acknowledged() {
        let mut window = SendWindow::new(1 << 20, Offset(0));
        let mut sent = 0;
        while window.room() > 0 {
            window.send(1);
            sent += 1;
            window.skip(Offset(10 * sent));
        }
        assert_eq!(sent, MAX_GAPS as u64 + 1);
        window.acknowledge(Offset(10)).unwrap();
        assert!(window.room() > 0);
    }
}
