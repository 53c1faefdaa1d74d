//! The sessions whose output a socket passes on, each pulled in its turn.

use std::collections::BTreeMap;
use std::future::pending;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::FuturesUnordered;
use paned_kernel::{PaneOutput, PaneOutputChunk};
use paned_model::{PaneId, Refusal};

use crate::compat::opencode_pty::decode::Utf8Decoder;
use crate::compat::opencode_pty::info::PtyCompatInfo;

/// The most bytes that are told at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The sessions whose output is passed on.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<PaneId, AbortHandle>,
    pulls: FuturesUnordered<Abortable<BoxFuture<'static, PtyCompatPull>>>,
}

/// What a pull brings back.
struct PtyCompatPull {
    pane: PaneId,
    reader: PaneOutput,
    decoder: Utf8Decoder,
    piece: Result<PaneOutputChunk, Refusal>,
}

/// What is told of a session's output.
pub(super) enum PtyCompatOutput {
    /// It printed this, and is as it was then.
    Printed(Box<PtyCompatInfo>, String),
    /// So many bytes of it were not told, and are no longer kept.
    Lost(PaneId, u64),
    /// Everything it printed was told, this being the last of it.
    Ended(PaneId, Option<(Box<PtyCompatInfo>, String)>),
    /// It cannot be read, and no more of it is passed on.
    Failed(PaneId, Refusal),
}

impl Subscriptions {
    /// Passes on what a reader reads; one that is passed on already stays as it is.
    pub(super) fn open(&mut self, pane: PaneId, reader: PaneOutput) {
        if !self.open.contains_key(&pane) {
            self.pull(pane, reader, Utf8Decoder::default());
        }
    }

    /// Whether a session's output is passed on, and not all of it was.
    pub(super) fn is_open(&self, pane: &PaneId) -> bool {
        self.open.contains_key(pane)
    }

    /// Passes on no more of a session.
    pub(super) fn close(&mut self, session: &str) {
        let open = session.parse().ok().and_then(|pane: PaneId| self.open.remove(&pane));
        if let Some(pull) = open {
            pull.abort();
        }
    }

    /// The next thing to tell. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> PtyCompatOutput {
        loop {
            match self.pulls.next().await {
                Some(Ok(pulled)) => {
                    if let Some(told) = self.finish_pull(pulled) {
                        return told;
                    }
                }
                Some(Err(Aborted)) => {}
                None => return pending().await,
            }
        }
    }

    /// Takes what a pull brought and has the next begin, until the session ends.
    fn finish_pull(&mut self, pulled: PtyCompatPull) -> Option<PtyCompatOutput> {
        let PtyCompatPull { pane, reader, mut decoder, piece } = pulled;
        match piece {
            Ok(PaneOutputChunk::Bytes(_, bytes)) => {
                let told = session_text(&reader, decoder.feed(&bytes));
                self.pull(pane, reader, decoder);
                told.map(|(info, text)| PtyCompatOutput::Printed(info, text))
            }
            Ok(PaneOutputChunk::Gap(from, to)) => {
                let lost = to.0.saturating_sub(from.0) + decoder.reset() as u64;
                self.pull(pane.clone(), reader, decoder);
                Some(PtyCompatOutput::Lost(pane, lost))
            }
            Ok(PaneOutputChunk::End) => {
                self.open.remove(&pane);
                Some(PtyCompatOutput::Ended(pane, session_text(&reader, decoder.finish())))
            }
            Err(refusal) => {
                self.open.remove(&pane);
                Some(PtyCompatOutput::Failed(pane, refusal))
            }
        }
    }

    fn pull(&mut self, pane: PaneId, mut reader: PaneOutput, decoder: Utf8Decoder) {
        let (handle, registration) = AbortHandle::new_pair();
        self.open.insert(pane.clone(), handle);
        let pull: BoxFuture<'static, PtyCompatPull> = Box::pin(async move {
            let piece = reader.next(CHUNK_BYTES).await;
            PtyCompatPull { pane, reader, decoder, piece }
        });
        self.pulls.push(Abortable::new(pull, registration));
    }
}

/// A text that a session printed, if it is any.
fn session_text(reader: &PaneOutput, text: String) -> Option<(Box<PtyCompatInfo>, String)> {
    let info = || Box::new(PtyCompatInfo::new(reader.info(), reader.is_inside_line()));
    (!text.is_empty()).then(|| (info(), text))
}
