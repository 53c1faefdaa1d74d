//! The open channels of a socket, each a reader of one pane's output.
//!
//! A channel pulls one chunk at a time, and only as much as its window has room for. The pulls take
//! turns, so a pane that floods does not hold up the others.

use std::collections::BTreeMap;
use std::future::pending;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::FuturesUnordered;
use paned_kernel::{PaneOutput, PaneOutputChunk};
use paned_model::{Code, Offset, PaneInfo, Refusal};

use super::window::SendWindow;
use super::{MAX_CHANNELS, MAX_OUTPUT_BYTES};

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
            let sentence = format!("a socket has at most {MAX_CHANNELS} channels; close some");
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
            Refusal::invalid(format!("channel {channel} has sent only the bytes before {sent}"))
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
        Err(Refusal::not_found(format!("no channel {channel}; `subscribed` says which there are")))
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
