//! The sessions whose output a socket sends, each pulled in its turn.

use std::collections::BTreeMap;
use std::future::pending;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::FuturesUnordered;
use paned_kernel::{PaneOutput, PaneOutputChunk};
use paned_model::{PaneId, Refusal};

use crate::opencode_pty::decode::Utf8Decoder;
use crate::opencode_pty::info::PtyCompatInfo;

/// The most bytes of output in a message.
const CHUNK_BYTES: usize = 64 << 10;

/// The sessions whose output is sent.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<PaneId, AbortHandle>,
    pulls: FuturesUnordered<Abortable<BoxFuture<'static, PtyCompatPull>>>,
}

/// The result of a pull.
struct PtyCompatPull {
    pane: PaneId,
    reader: PaneOutput,
    decoder: Utf8Decoder,
    piece: Result<PaneOutputChunk, Refusal>,
}

/// What a subscription produced.
pub(super) enum PtyCompatOutput {
    /// New output, with the session's state at that time.
    Printed(Box<PtyCompatInfo>, String),
    /// This many bytes were not sent and are no longer kept.
    Lost(PaneId, u64),
    /// The output has ended, with the last of it.
    Ended(PaneId, Option<(Box<PtyCompatInfo>, String)>),
    /// The output cannot be read; the subscription is closed.
    Failed(PaneId, Refusal),
}

impl Subscriptions {
    /// Subscribes to a session. An open subscription stays as it is.
    pub(super) fn open(&mut self, pane: PaneId, reader: PaneOutput) {
        if !self.open.contains_key(&pane) {
            self.pull(pane, reader, Utf8Decoder::default());
        }
    }

    /// Whether a subscription is open and has not reached the end of the output.
    pub(super) fn is_open(&self, pane: &PaneId) -> bool {
        self.open.contains_key(pane)
    }

    /// Closes a subscription.
    pub(super) fn close(&mut self, session: &str) {
        let open = session.parse().ok().and_then(|pane: PaneId| self.open.remove(&pane));
        if let Some(pull) = open {
            pull.abort();
        }
    }

    /// The next output of any subscription. Cancel-safe.
    pub(super) async fn next(&mut self) -> PtyCompatOutput {
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

    /// Takes the result of a pull and starts the next one, until the output ends.
    fn finish_pull(&mut self, pulled: PtyCompatPull) -> Option<PtyCompatOutput> {
        let PtyCompatPull { pane, reader, mut decoder, piece } = pulled;
        match piece {
            Ok(PaneOutputChunk::Bytes(_, bytes)) => {
                let output = session_text(&reader, decoder.feed(&bytes));
                self.pull(pane, reader, decoder);
                output.map(|(info, text)| PtyCompatOutput::Printed(info, text))
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

/// A session's text with its state; `None` if the text is empty.
fn session_text(reader: &PaneOutput, text: String) -> Option<(Box<PtyCompatInfo>, String)> {
    let info = || Box::new(PtyCompatInfo::new(reader.info(), reader.is_inside_line()));
    (!text.is_empty()).then(|| (info(), text))
}
