//! A pane followed at its keeper: every byte of it, because the program waits for us rather than that one is lost.
//!
//! The bytes come from the tape, so it works while no server runs. The keeper is told how far we are; until then it
//! overwrites nothing. It also ends the program should we go without a word.

use std::io;

use paned_keeper::tape::Reader;
use paned_model::PaneInfo;
use paned_model::frame::{Ending, Follow, Kill, RequestId, Signal, ToKeeper};
use paned_substrate::native::Wire;

use crate::context::Context;

/// How much is read at once.
const PIECE: usize = 256 << 10;
/// How long a program may take to end before it is made to, where no server decides that.
const GRACE_MS: u64 = 3000;

/// What comes next of a pane.
#[derive(Debug)]
pub(super) enum Piece {
    Printed(Vec<u8>),
    /// So many bytes in between are gone.
    Missed(u64),
    Ended(Ending),
    /// The keeper is gone, and nobody knows how the program ended.
    Lost,
}

/// A pane that we follow.
pub(super) struct Direct {
    /// Nothing once the keeper has gone.
    wire: Option<Wire>,
    tape: Reader,
    /// The offset of the next byte.
    at: u64,
    requests: RequestId,
}

impl Direct {
    /// Follows a pane from its beginning, if its keeper is within reach.
    pub(super) async fn to(context: &Context, pane: &PaneInfo, owns: bool) -> Option<Self> {
        if context.client().ok()?.is_remote() {
            return None;
        }
        let state = context.state().ok()?;
        let tape = Reader::open(&state.pane(&pane.id).join("tape")).ok()?;
        // A pane of the same name in another folder is another.
        if tape.pid() != pane.pid {
            return None;
        }
        let wire = Wire::visit(&state.keeper_socket(&pane.id)).await.ok();
        let mut direct = Self { wire, tape, at: 0, requests: 0 };
        direct.say(&ToKeeper::Follow(Follow { from: 0, owns })).await;
        // One that has gone already has left all that there is on the tape.
        (direct.wire.is_some() || direct.tape.ending().is_some()).then_some(direct)
    }

    /// What comes next; waits for it. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<Piece> {
        loop {
            // Before the last look at the bytes, which are all there once the ending is.
            let ending = self.tape.ending();
            if let Some(piece) = self.printed()? {
                return Ok(piece);
            }
            if let Some(ending) = ending {
                return Ok(Piece::Ended(ending));
            }
            let Some(wire) = &mut self.wire else {
                return Ok(Piece::Lost);
            };
            match wire.hear().await {
                // Told again only once we have said how far we are.
                Ok(_) => self.took().await,
                // It has gone: one more look at the tape says whether it had said all.
                Err(_) => self.wire = None,
            }
        }
    }

    fn printed(&mut self) -> io::Result<Option<Piece>> {
        let mut piece = vec![0; PIECE];
        Ok(match self.tape.read(self.at, &mut piece)? {
            Ok(0) => None,
            Ok(read) => {
                self.at += read as u64;
                piece.truncate(read);
                Some(Piece::Printed(piece))
            }
            Err(gap) => {
                let missed = gap.first.saturating_sub(self.at);
                self.at = gap.first;
                Some(Piece::Missed(missed))
            }
        })
    }

    /// Everything that [`Direct::next`] has given was taken care of.
    pub(super) async fn took(&mut self) {
        self.say(&ToKeeper::Took(self.at)).await;
    }

    /// We are still there, and so many bytes behind what [`Direct::next`] has given.
    pub(super) async fn is_here(&mut self, behind: usize) {
        self.say(&ToKeeper::Took(self.at.saturating_sub(behind as u64))).await;
    }

    /// Passes a signal on to the program.
    pub(super) async fn signal(&mut self, signal: u8) {
        let id = self.request();
        self.say(&ToKeeper::Signal(Signal { id, signal })).await;
    }

    /// Ends the program and all that it started.
    pub(super) async fn kill(&mut self) {
        let id = self.request();
        self.say(&ToKeeper::Kill(Kill { id, grace_ms: GRACE_MS })).await;
    }

    async fn say(&mut self, message: &ToKeeper) {
        if let Some(wire) = &mut self.wire {
            wire.say(message);
            // One that has gone is noticed when it is heard.
            let _ = wire.flush().await;
        }
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        self.requests
    }
}
