//! What was typed and not yet read by the program.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use rustix::io::{Errno, write};

/// How much may wait for a program that does not read: the longest text that is taken, and the marks of a paste.
pub(crate) const MAX: usize = (1 << 20) + 64;

/// Bytes on their way into the pty, in the order they were accepted. One request's bytes are never
/// mixed with another's.
#[derive(Default)]
pub(crate) struct Typing {
    bytes: VecDeque<u8>,
}

impl Typing {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes a whole request or nothing of it.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> bool {
        let fits = self.bytes.len() + bytes.len() <= MAX;
        if fits {
            self.bytes.extend(bytes);
        }
        fits
    }

    /// Writes as much as the pty takes now.
    pub(crate) fn write(&mut self, pty: BorrowedFd<'_>) {
        while !self.bytes.is_empty() {
            match write(pty, self.bytes.as_slices().0) {
                Ok(wrote) => drop(self.bytes.drain(..wrote)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // Nobody has the terminal open any more.
                Err(_) => self.bytes.clear(),
            }
        }
        self.bytes.shrink_to(4096);
    }
}
