//! Reads the pty into the tape, in batches.

use std::io;
use std::os::fd::BorrowedFd;

use paned_model::Time;
use rustix::io::{Errno, read};

use crate::input::echo::EchoTracker;
use crate::tape::TapeWriter;

/// How much is read before it is written to the tape. One read of a pty returns 4 KiB at most, and
/// each wake-up of a reader costs the same for one byte as for a full batch.
const GATHER: usize = 64 << 10;

/// Output below this size is published before the next read: it is usually the echo of a key. A
/// read that finds the pty empty waits for the kernel worker that moves bytes through it, and that
/// takes as long as everything else together.
const SMALL_READ: usize = 256;

/// When to stop reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrainUntil {
    /// When the pty is empty.
    Empty,
    /// When the pty is empty, or after a short read.
    Little,
}

/// What the pty had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PtyReadState {
    /// More may be there at once.
    More,
    /// All that was printed so far is on the tape.
    Empty,
    /// Empty, and no process has the program's side open.
    HungUp,
}

/// Moves bytes from the pty to the tape.
pub(crate) struct Drain {
    buffer: Box<[u8]>,
    buffered: usize,
    /// Sees every byte once, in order, before it is on the tape.
    pub(crate) echo: EchoTracker,
}

impl Drain {
    /// For a terminal of this width.
    pub(crate) fn new(cols: u16) -> Self {
        let mut echo = EchoTracker::default();
        echo.set_cols(cols);
        // Large enough that the allocator maps it separately: pages that are never filled take no
        // memory.
        Self { buffer: vec![0; 4 * GATHER].into_boxed_slice(), buffered: 0, echo }
    }

    /// Whether bytes wait here because the disk refused them.
    pub(crate) fn is_stuck(&self) -> bool {
        self.buffered != 0
    }

    /// Moves at most `room` bytes, and what the disk refused before, to the tape.
    ///
    /// # Errors
    /// When the disk refuses; nothing is lost, and the call may be made again.
    pub(crate) fn run(
        &mut self,
        pty: BorrowedFd<'_>,
        tape: &mut TapeWriter,
        room: u64,
        until: DrainUntil,
        now: Time,
    ) -> io::Result<PtyReadState> {
        let limit = GATHER.min(usize::try_from(room).unwrap_or(usize::MAX));
        let before = self.buffered;
        let state = self.gather(pty, limit, until);
        let new = &self.buffer[before..self.buffered];
        for echo in self.echo.printed(new, tape.end() + before as u64) {
            tape.add_echo(&echo);
        }
        self.store(tape, now)?;
        Ok(state)
    }

    fn gather(&mut self, pty: BorrowedFd<'_>, limit: usize, until: DrainUntil) -> PtyReadState {
        while self.buffered < limit {
            match read(pty, &mut self.buffer[self.buffered..limit]) {
                // Linux returns EIO, others zero bytes: the program's side is closed, and all
                // output was read.
                Ok(0) => return PtyReadState::HungUp,
                Ok(got) => {
                    self.buffered += got;
                    if until == DrainUntil::Little && self.buffered < SMALL_READ {
                        return PtyReadState::More;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return PtyReadState::Empty,
                Err(_) => return PtyReadState::HungUp,
            }
        }
        PtyReadState::More
    }

    fn store(&mut self, tape: &mut TapeWriter, now: Time) -> io::Result<()> {
        let mut stored = 0;
        let result = loop {
            if stored == self.buffered {
                break Ok(());
            }
            match tape.append(&self.buffer[stored..self.buffered], now) {
                Ok(wrote) => stored += wrote,
                Err(error) => break Err(error),
            }
        };
        self.buffer.copy_within(stored..self.buffered, 0);
        self.buffered -= stored;
        result
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    use super::*;
    use crate::tape::MIN_CAPACITY;

    /// One run over a pty that returns these texts, one per read: the bytes on the tape after it,
    /// and its result.
    #[track_caller]
    fn check(until: DrainUntil, reads: &[&str], expect: (usize, PtyReadState)) {
        let folder = tempfile::tempdir().unwrap();
        let mut tape =
            TapeWriter::create(&folder.path().join("tape"), MIN_CAPACITY, Time(1)).unwrap();
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        for text in reads {
            theirs.send(text.as_bytes()).unwrap();
        }
        let mut drain = Drain::new(80);
        let state = drain.run(ours.as_fd(), &mut tape, u64::MAX, until, Time(1)).unwrap();
        assert_eq!((tape.end(), state), (expect.0 as u64, expect.1));
    }

    #[test]
    fn only_who_has_found_nothing_says_that_it_was_all() {
        check(DrainUntil::Empty, &[], (0, PtyReadState::Empty));
        check(DrainUntil::Empty, &["a", "b", "c"], (3, PtyReadState::Empty));
        check(DrainUntil::Empty, &[&"x".repeat(GATHER), "b"], (GATHER, PtyReadState::More));
    }

    #[test]
    fn a_little_does_not_wait_for_more() {
        check(DrainUntil::Little, &[], (0, PtyReadState::Empty));
        check(DrainUntil::Little, &["a", "b", "c"], (1, PtyReadState::More));
        check(
            DrainUntil::Little,
            &[&"x".repeat(SMALL_READ), "b", "c"],
            (SMALL_READ + 2, PtyReadState::Empty),
        );
    }
}
