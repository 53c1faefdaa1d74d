//! Follows a pane at its keeper, without losing a byte: by backpressure the program waits for us.
//!
//! The bytes come from the tape, so it works while no server runs. The keeper overwrites nothing
//! that we have not acknowledged. If we own the program, the keeper ends it when we disconnect.

use std::io;

use paned_backend::native::KeeperConn;
use paned_keeper::tape::TapeReader;
use paned_model::PaneInfo;
use paned_model::frame::{Follow, Kill, RequestId, SignalRequest, ToKeeper};

use super::session::RunOutput;
use crate::context::CliContext;

/// How much is read at once.
const PIECE: usize = 256 << 10;
/// How long a program may take to end before it is killed, when no server decides that.
const GRACE_MS: u64 = 3000;

/// A pane that we follow.
pub(super) struct KeeperFollower {
    /// `None` once the keeper has gone.
    wire: Option<KeeperConn>,
    tape: TapeReader,
    /// The offset of the next byte.
    at: u64,
    requests: RequestId,
}

impl KeeperFollower {
    /// Follows a pane from its start, if its keeper is on this machine.
    pub(super) async fn connect(context: &CliContext, pane: &PaneInfo, owns: bool) -> Option<Self> {
        if context.client().ok()?.is_remote() {
            return None;
        }
        let state = context.state().ok()?;
        let tape = TapeReader::open(&state.pane(&pane.id).join("tape")).ok()?;
        // A pane of the same name in another state folder is another pane.
        if tape.pid() != pane.pid {
            return None;
        }
        let wire = KeeperConn::connect_viewer(&state.keeper_socket(&pane.id)).await.ok();
        let mut follower = Self { wire, tape, at: 0, requests: 0 };
        follower.send(&ToKeeper::Follow(Follow { from: 0, owns })).await;
        // A keeper that has exited already has left all output on the tape.
        (follower.wire.is_some() || follower.tape.ending().is_some()).then_some(follower)
    }

    /// Waits for the next output. Cancel-safe: nothing is lost.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<RunOutput> {
        loop {
            // Before the last read: all bytes are on the tape once the exit is.
            let ending = self.tape.ending();
            if let Some(piece) = self.printed()? {
                return Ok(piece);
            }
            if let Some(ending) = ending {
                return Ok(RunOutput::Ended { ended: Some(ending.into()), at: Some(ending.at) });
            }
            let Some(wire) = &mut self.wire else {
                return Ok(RunOutput::Ended { ended: None, at: None });
            };
            match wire.recv().await {
                // The keeper notifies us again only after an acknowledgement.
                Ok(_) => self.acknowledge().await,
                // The keeper has gone: one more look at the tape shows whether the exit is
                // recorded.
                Err(_) => self.wire = None,
            }
        }
    }

    fn printed(&mut self) -> io::Result<Option<RunOutput>> {
        let mut piece = vec![0; PIECE];
        Ok(match self.tape.read(self.at, &mut piece)? {
            Ok(0) => None,
            Ok(read) => {
                self.at += read as u64;
                piece.truncate(read);
                Some(RunOutput::Printed(piece))
            }
            Err(gap) => {
                let missed = gap.first.saturating_sub(self.at);
                self.at = gap.first;
                Some(RunOutput::Missed(missed))
            }
        })
    }

    /// Acknowledges everything that [`KeeperFollower::next`] has returned.
    pub(super) async fn acknowledge(&mut self) {
        self.send(&ToKeeper::Ack(self.at)).await;
    }

    /// Tells the keeper that we are alive, and this many bytes behind what [`KeeperFollower::next`]
    /// has returned.
    pub(super) async fn heartbeat(&mut self, behind: usize) {
        self.send(&ToKeeper::Ack(self.at.saturating_sub(behind as u64))).await;
    }

    /// Sends a signal to the program.
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
            // A keeper that has gone is noticed by `next`.
            let _ = wire.flush().await;
        }
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        self.requests
    }
}
