//! The sessions whose output a socket passes on, each pulled in its turn.

use std::collections::BTreeMap;
use std::future::pending;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::FuturesUnordered;
use paned_kernel::{Piece, Printed};
use paned_model::{PaneId, PaneInfo, Refusal};

use crate::doors::opencode_pty::decode::Decoder;

/// The most bytes that are told at once.
const PIECE: usize = 64 << 10;

/// The sessions whose output is passed on.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<PaneId, AbortHandle>,
    pulls: FuturesUnordered<Abortable<BoxFuture<'static, Pulled>>>,
}

/// What a pull brings back.
struct Pulled {
    pane: PaneId,
    reader: Printed,
    decoder: Decoder,
    piece: Result<Piece, Refusal>,
}

impl Subscriptions {
    /// Passes on what a reader reads; one that is passed on already stays as it is.
    pub(super) fn open(&mut self, pane: PaneId, reader: Printed) {
        if !self.open.contains_key(&pane) {
            self.pull(pane, reader, Decoder::default());
        }
    }

    /// Passes on no more of a session.
    pub(super) fn close(&mut self, session: &str) {
        let open = session.parse().ok().and_then(|pane: PaneId| self.open.remove(&pane));
        if let Some(pull) = open {
            pull.abort();
        }
    }

    /// The next text that a session printed. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> (PaneInfo, String) {
        loop {
            match self.pulls.next().await {
                Some(Ok(pulled)) => {
                    if let Some(told) = self.settle(pulled) {
                        return told;
                    }
                }
                Some(Err(Aborted)) => {}
                None => return pending().await,
            }
        }
    }

    /// Takes what a pull brought and has the next begin, until the session ends.
    fn settle(&mut self, pulled: Pulled) -> Option<(PaneInfo, String)> {
        let Pulled { pane, reader, mut decoder, piece } = pulled;
        let told = match piece {
            Ok(Piece::Bytes(_, bytes)) => Some((reader.info(), decoder.feed(&bytes))),
            Ok(Piece::Gap(..)) => None,
            Ok(Piece::End) | Err(_) => {
                self.open.remove(&pane);
                return None;
            }
        };
        self.pull(pane, reader, decoder);
        told.filter(|(_, text)| !text.is_empty())
    }

    fn pull(&mut self, pane: PaneId, mut reader: Printed, decoder: Decoder) {
        let (handle, registration) = AbortHandle::new_pair();
        self.open.insert(pane.clone(), handle);
        let pull: BoxFuture<'static, Pulled> = Box::pin(async move {
            let piece = reader.next(PIECE).await;
            Pulled { pane, reader, decoder, piece }
        });
        self.pulls.push(Abortable::new(pull, registration));
    }
}
