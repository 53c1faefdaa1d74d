//! Reading the pty, in gathers.

use std::io;
use std::os::fd::BorrowedFd;

use paned_model::Time;
use rustix::io::{Errno, read};

use crate::tape::Writer;

/// How much is gathered before it goes to the tape. One read gives 4 KiB at most, and each wake-up of a
/// reader costs the same for a byte as for all of this.
const GATHER: usize = 64 << 10;

/// Less than this is told before anybody looks for more: most of what is so short is the echo of a key. To find out that
/// there is nothing more, one waits for the part of the kernel that moved it here, and that takes as long as all the rest.
const LITTLE: usize = 256;

/// When to stop reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When there is nothing more.
    Empty,
    /// The same, or with a little that is there.
    Little,
}

/// What the pty had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pty {
    /// More may be there at once.
    More,
    /// All that was printed so far is on the tape.
    Empty,
    /// Empty, and nobody has the program's side open.
    Hung,
}

/// The way from the pty to the tape.
pub(crate) struct Drain {
    buffer: Box<[u8]>,
    held: usize,
}

impl Drain {
    pub(crate) fn new() -> Self {
        // Large enough to be mapped rather than carved from the heap: pages that no pane ever fills
        // are never there.
        Self { buffer: vec![0; 4 * GATHER].into_boxed_slice(), held: 0 }
    }

    /// Whether bytes wait here because the disk refused them.
    pub(crate) fn is_stuck(&self) -> bool {
        self.held != 0
    }

    /// Moves at most `room` bytes, and what the disk refused before, to the tape.
    ///
    /// # Errors
    /// When the disk refuses; nothing is lost, and the call may be made again.
    pub(crate) fn run(
        &mut self,
        pty: BorrowedFd<'_>,
        tape: &mut Writer,
        (room, until): (u64, Until),
        now: Time,
    ) -> io::Result<Pty> {
        let limit = GATHER.min(usize::try_from(room).unwrap_or(usize::MAX));
        let state = self.gather(pty, limit, until);
        self.store(tape, now)?;
        Ok(state)
    }

    fn gather(&mut self, pty: BorrowedFd<'_>, limit: usize, until: Until) -> Pty {
        while self.held < limit {
            match read(pty, &mut self.buffer[self.held..limit]) {
                // Linux says EIO, others say zero bytes: the program's side is closed, and all was read.
                Ok(0) => return Pty::Hung,
                Ok(got) => {
                    self.held += got;
                    if until == Until::Little && self.held < LITTLE {
                        return Pty::More;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Pty::Empty,
                Err(_) => return Pty::Hung,
            }
        }
        Pty::More
    }

    fn store(&mut self, tape: &mut Writer, now: Time) -> io::Result<()> {
        let mut stored = 0;
        let result = loop {
            if stored == self.held {
                break Ok(());
            }
            match tape.append(&self.buffer[stored..self.held], now) {
                Ok(wrote) => stored += wrote,
                Err(error) => break Err(error),
            }
        };
        self.buffer.copy_within(stored..self.held, 0);
        self.held -= stored;
        result
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    use super::*;
    use crate::tape::MIN_CAPACITY;

    /// How much is on the tape, and what is said of the pty, after one run over one that gives these, each in a read.
    #[track_caller]
    fn check(until: Until, reads: &[&str], expect: (usize, Pty)) {
        let folder = tempfile::tempdir().unwrap();
        let mut tape = Writer::create(&folder.path().join("tape"), MIN_CAPACITY, Time(1)).unwrap();
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        for text in reads {
            theirs.send(text.as_bytes()).unwrap();
        }
        let mut drain = Drain::new();
        let state = drain.run(ours.as_fd(), &mut tape, (u64::MAX, until), Time(1)).unwrap();
        assert_eq!((tape.end(), state), (expect.0 as u64, expect.1));
    }

    #[test]
    fn only_who_has_found_nothing_says_that_it_was_all() {
        check(Until::Empty, &[], (0, Pty::Empty));
        check(Until::Empty, &["a", "b", "c"], (3, Pty::Empty));
        check(Until::Empty, &[&"x".repeat(GATHER), "b"], (GATHER, Pty::More));
    }

    #[test]
    fn a_little_does_not_wait_for_more() {
        check(Until::Little, &[], (0, Pty::Empty));
        check(Until::Little, &["a", "b", "c"], (1, Pty::More));
        check(Until::Little, &[&"x".repeat(LITTLE), "b", "c"], (LITTLE + 2, Pty::Empty));
    }
}
