//! A pane followed at its keeper: every byte of it, because the program waits for us rather than that one is lost.
//!
//! The bytes come from the tape, so it works while no server runs. The keeper is told how far we are; until then it
//! overwrites nothing. It also ends the program should we go without a word.

use std::io;

use paned_backend::native::KeeperConn;
use paned_keeper::tape::TapeReader;
use paned_model::PaneInfo;
use paned_model::frame::{ExitRecord, Follow, Kill, RequestId, SignalRequest, ToKeeper};

use crate::context::CliContext;

/// How much is read at once.
const PIECE: usize = 256 << 10;
/// How long a program may take to end before it is made to, where no server decides that.
const GRACE_MS: u64 = 3000;

/// What comes next of a pane.
#[derive(Debug)]
pub(super) enum KeeperOutput {
    Printed(Vec<u8>),
    /// So many bytes in between are gone.
    Missed(u64),
    Ended(ExitRecord),
    /// The keeper is gone, and nobody knows how the program ended.
    Lost,
}

/// A pane that we follow.
pub(super) struct KeeperFollower {
    /// Nothing once the keeper has gone.
    wire: Option<KeeperConn>,
    tape: TapeReader,
    /// The offset of the next byte.
    at: u64,
    requests: RequestId,
}

impl KeeperFollower {
    /// Follows a pane from its beginning, if its keeper is within reach.
    pub(super) async fn connect(context: &CliContext, pane: &PaneInfo, owns: bool) -> Option<Self> {
        if context.client().ok()?.is_remote() {
            return None;
        }
        let state = context.state().ok()?;
        let tape = TapeReader::open(&state.pane(&pane.id).join("tape")).ok()?;
        // A pane of the same name in another folder is another.
        if tape.pid() != pane.pid {
            return None;
        }
        let wire = KeeperConn::connect_viewer(&state.keeper_socket(&pane.id)).await.ok();
        let mut direct = Self { wire, tape, at: 0, requests: 0 };
        direct.send(&ToKeeper::Follow(Follow { from: 0, owns })).await;
        // One that has gone already has left all that there is on the tape.
        (direct.wire.is_some() || direct.tape.ending().is_some()).then_some(direct)
    }

    /// What comes next; waits for it. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<KeeperOutput> {
        loop {
            // Before the last look at the bytes, which are all there once the ending is.
            let ending = self.tape.ending();
            if let Some(piece) = self.printed()? {
                return Ok(piece);
            }
            if let Some(ending) = ending {
                return Ok(KeeperOutput::Ended(ending));
            }
            let Some(wire) = &mut self.wire else {
                return Ok(KeeperOutput::Lost);
            };
            match wire.recv().await {
                // Told again only once we have said how far we are.
                Ok(_) => self.acknowledge().await,
                // It has gone: one more look at the tape says whether it had said all.
                Err(_) => self.wire = None,
            }
        }
    }

    fn printed(&mut self) -> io::Result<Option<KeeperOutput>> {
        let mut piece = vec![0; PIECE];
        Ok(match self.tape.read(self.at, &mut piece)? {
            Ok(0) => None,
            Ok(read) => {
                self.at += read as u64;
                piece.truncate(read);
                Some(KeeperOutput::Printed(piece))
            }
            Err(gap) => {
                let missed = gap.first.saturating_sub(self.at);
                self.at = gap.first;
                Some(KeeperOutput::Missed(missed))
            }
        })
    }

    /// Everything that [`KeeperFollower::next`] has given was taken care of.
    pub(super) async fn acknowledge(&mut self) {
        self.send(&ToKeeper::Ack(self.at)).await;
    }

    /// We are still there, and so many bytes behind what [`KeeperFollower::next`] has given.
    pub(super) async fn heartbeat(&mut self, behind: usize) {
        self.send(&ToKeeper::Ack(self.at.saturating_sub(behind as u64))).await;
    }

    /// Passes a signal on to the program.
    pub(super) async fn signal(&mut self, signal: u8) {
        let id = self.request();
        self.send(&ToKeeper::Signal(SignalRequest { id, signal })).await;
    }

    /// Ends the program and all that it started.
    pub(super) async fn kill(&mut self) {
        let id = self.request();
        self.send(&ToKeeper::Kill(Kill { id, grace_ms: GRACE_MS })).await;
    }

    async fn send(&mut self, message: &ToKeeper) {
        if let Some(wire) = &mut self.wire {
            wire.queue(message);
            // One that has gone is noticed when it is heard.
            let _ = wire.flush().await;
        }
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        self.requests
    }
}
