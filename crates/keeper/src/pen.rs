//! Typing into a terminal that its keeper has lent: what `loan` is to the keeper.

use std::os::fd::OwnedFd;
use std::time::Instant;

use paned_model::frame::Returned;
use rustix::io::{Errno, write};

use crate::hands;
use crate::line::Line;

/// So much is typed past the keeper at most; more is for its queue.
pub const MOST: usize = 1 << 10;

/// A terminal to type into, and what its keeper wants to know afterwards.
#[derive(Debug)]
pub struct Pen {
    terminal: OwnedFd,
    line: Line,
    typed: u64,
    last: Option<(Instant, u64)>,
}

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// How many of its bytes the terminal took; the rest is the keeper's to type.
    pub taken: usize,
    /// Whether a line is longer than the terminal's line editor takes.
    pub long_line: bool,
    /// Whether any of it was typed, rather than said by a terminal.
    pub counts: bool,
}

impl Pen {
    /// Types into this terminal.
    #[must_use]
    pub fn new(terminal: OwnedFd) -> Self {
        Self { terminal, line: Line::default(), typed: 0, last: None }
    }

    /// The terminal is lent, with so many bytes in its line.
    pub fn lent(&mut self, line: u64) {
        (self.line, self.typed, self.last) = (Line::of(line), 0, None);
    }

    /// Types a text, as far as the terminal has room. Its output ends here.
    pub fn write(&mut self, text: &[u8], end: u64) -> Written {
        let taken = loop {
            match write(&self.terminal, text) {
                Ok(taken) => break taken,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break 0,
                // Nobody has the terminal open any more: nobody reads this.
                Err(_) => break text.len(),
            }
        };
        // All that nobody waits for comes after the write.
        let long_line = self.line.typed(&self.terminal, &[text]);
        let counts = hands::typed(text);
        self.typed += u64::from(counts);
        self.last = Some((Instant::now(), end));
        Written { taken, long_line, counts }
    }

    /// What the keeper is to know when it has the terminal back.
    #[must_use]
    pub fn returned(&self) -> Returned {
        let ago = |at: Instant| u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX);
        let last = self.last.map(|(at, end)| (ago(at), end));
        Returned { typed: self.typed, line: self.line.length(), last }
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Size;

    use super::*;
    use crate::pty::Pty;

    fn pen() -> Pen {
        Pen::new(Pty::open(Size::default()).unwrap().master)
    }

    #[test]
    fn what_was_typed_is_known_when_it_is_returned() {
        let mut pen = pen();
        pen.lent(4090);
        let short = Written { taken: 5, long_line: false, counts: true };
        assert_eq!(pen.write(b"hello", 7), short);
        assert!(pen.write(b"x", 8).long_line, "the line was begun before");
        assert!(!pen.write(b"\x1b[I", 9).counts, "a terminal says that it is looked at");
        let Returned { typed, line, last } = pen.returned();
        assert_eq!((typed, line), (2, 4095));
        assert_eq!(last.map(|(_, end)| end), Some(9));
        pen.lent(0);
        assert_eq!(pen.returned(), Returned::default());
    }

    #[test]
    fn what_the_terminal_has_no_room_for_is_left() {
        let (mut pen, text) = (pen(), [b'x'; MOST]);
        let taken = std::iter::repeat_with(|| pen.write(&text, 0).taken);
        let last = taken.take(1 << 10).find(|taken| *taken < MOST);
        assert!(last.is_some(), "a terminal that nobody reads is full some time");
        assert_eq!(pen.write(&text, 0).taken, 0);
    }
}
