//! The open channels of a socket, each a reader of one pane's output.
//!
//! A channel pulls one piece at a time and only into room that its window has. The pulls take turns, so a
//! pane that floods does not keep the others back.

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
    /// Numbers are never given twice, so that nothing late can be taken for something else.
    last: u32,
}

type Pulls = FuturesUnordered<Abortable<BoxFuture<'static, ChannelPull>>>;

struct Channel {
    window: SendWindow,
    reader: ChannelReader,
}

/// Where a channel's reader is.
enum ChannelReader {
    /// In a pull, which can be called off.
    Pulling(AbortHandle),
    /// Here, until the window has room again.
    Waiting(PaneOutput),
}

/// What a pull brings back.
struct ChannelPull {
    channel: u32,
    reader: PaneOutput,
    piece: Result<PaneOutputChunk, Refusal>,
}

/// What came of a channel.
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
    /// Opens a channel for a reader that stands at this offset.
    ///
    /// # Errors
    /// When there are too many.
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

    /// Closes a channel; one that is closed already stays so.
    ///
    /// # Errors
    /// When there never was such a channel.
    pub(super) fn close(&mut self, channel: u32) -> Result<(), Refusal> {
        self.check_known(channel)?;
        match self.open.remove(&channel).map(|channel| channel.reader) {
            Some(ChannelReader::Pulling(pull)) => pull.abort(),
            Some(ChannelReader::Waiting(_)) | None => {}
        }
        Ok(())
    }

    /// The client has everything of a channel before this offset.
    ///
    /// # Errors
    /// When there never was such a channel, or less was sent.
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

    /// The next thing that comes of any channel. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> ChannelOutput {
        loop {
            match self.pulls.next().await {
                Some(Ok(pulled)) => {
                    if let Some(news) = self.finish_pull(pulled) {
                        return news;
                    }
                }
                Some(Err(Aborted)) => {}
                None => return pending().await,
            }
        }
    }

    /// Takes what a pull brought and has the channel go on; nothing when it was closed meanwhile.
    fn finish_pull(
        &mut self,
        ChannelPull { channel, reader, piece }: ChannelPull,
    ) -> Option<ChannelOutput> {
        let open = self.open.get_mut(&channel)?;
        let news = match piece {
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
        Some(news)
    }

    fn check_known(&self, channel: u32) -> Result<(), Refusal> {
        if (1..=self.last).contains(&channel) {
            return Ok(());
        }
        Err(Refusal::not_found(format!("no channel {channel}; `subscribed` says which there are")))
    }
}

/// Has a channel pull its next piece, or wait until there is room for one.
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
