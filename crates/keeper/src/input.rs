//! What is typed into one terminal: in which order, how often, and whether it has arrived.

use std::os::fd::OwnedFd;
use std::time::Instant;

use paned_model::frame::RefusalReason;

use crate::input_queue::{self, InputQueue};
use crate::line_length::LineLength;
use crate::{key_filter, pty};

/// Everything typed into a terminal comes through here: one queue, one order.
#[derive(Default)]
pub(crate) struct PtyInput {
    queue: InputQueue,
    line: LineLength,
    /// How often somebody has typed.
    typed: u64,
    /// How many writes were done behind a guard with a condition. A server that was killed may not know whether its last one was; the next
    /// server learns it from this.
    guarded: u64,
    /// When something was last written into the pty, and where the output ended then.
    last_write: Option<(Instant, u64)>,
}

impl PtyInput {
    /// How often somebody has typed.
    pub(crate) fn typed(&self) -> u64 {
        self.typed
    }

    /// How many writes were done behind a guard with a condition.
    pub(crate) fn guarded(&self) -> u64 {
        self.guarded
    }

    /// A write behind a guard with a condition was done.
    pub(crate) fn count_guarded(&mut self) {
        self.guarded += 1;
    }

    /// Somebody has typed this. What a terminal says by itself is nobody's typing.
    pub(crate) fn count(&mut self, parts: &[&[u8]]) {
        self.typed += u64::from(parts.iter().any(|part| key_filter::has_typed_input(part)));
    }

    /// Whether it waits for nothing but room in the pty.
    pub(crate) fn is_due(&self) -> bool {
        self.queue.is_due()
    }

    /// Whether nothing waits to be typed.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// When [`PtyInput::tick`] wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.queue.deadline()
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, pty: &OwnedFd, end: u64, now: Instant) {
        if self.queue.deadline().is_some_and(|at| at <= now) {
            self.write_queued(pty, end, now);
        }
    }

    /// Takes a text, all of its parts or none; whether a line is longer than the terminal's line editor takes.
    pub(crate) fn accept(&mut self, pty: &OwnedFd, parts: &[&[u8]]) -> Result<bool, RefusalReason> {
        let is_taken = self.queue.accept(parts);
        is_taken.then(|| self.line.add(pty, parts)).ok_or(RefusalReason::Full)
    }

    /// Gives the program what it takes of what was typed.
    pub(crate) fn write_queued(&mut self, pty: &OwnedFd, end: u64, now: Instant) {
        let before = self.queue.written();
        self.queue.write(pty, now);
        if before != self.queue.written() {
            self.last_write = Some((now, end));
        }
    }

    /// Whether the program may not have read all that was typed: it has not shown then what it makes of it.
    pub(crate) fn is_unread(&self, pty: &OwnedFd, end: u64, now: Instant) -> bool {
        !self.queue.is_empty() || self.is_in_flight(end, now) || pty::has_unread(pty)
    }

    /// Whether what was written may not be there yet for the program to read, or for anybody to see that it is. Once
    /// something was printed, it is.
    fn is_in_flight(&self, end: u64, now: Instant) -> bool {
        self.last_write.is_some_and(|(at, then)| now < at + input_queue::PTY_DELAY && then == end)
    }
}
