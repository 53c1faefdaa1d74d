//! Input to one pty: its order, how often users typed, and whether the program has read it.

use std::os::fd::OwnedFd;
use std::time::Instant;

use paned_model::frame::RefusalReason;
use rustix::termios::Termios;

use crate::input::input_queue::InputQueue;
use crate::input::line_length::LineLength;
use crate::input::{input_queue, key_filter};
use crate::pty;

/// All input to a pty goes through this type: one queue, one order.
#[derive(Default)]
pub(crate) struct PtyInput {
    queue: InputQueue,
    line: LineLength,
    /// Number of writes with user input. Writes of terminal reports only are not counted.
    typed: u64,
    /// Number of guarded writes with a condition that were done. A server that was killed may not
    /// know whether its last one was done; the next server learns it from this count.
    guarded: u64,
    /// When something was last written into the pty, and where the output ended then.
    last_write: Option<(Instant, u64)>,
}

impl PtyInput {
    /// Number of writes with user input. Writes of terminal reports only are not counted.
    pub(crate) fn typed(&self) -> u64 {
        self.typed
    }

    /// Number of guarded writes with a condition that were done.
    pub(crate) fn guarded(&self) -> u64 {
        self.guarded
    }

    /// Counts a guarded write with a condition that was done.
    pub(crate) fn count_guarded(&mut self) {
        self.guarded += 1;
    }

    /// Whether this has user input. Reports that a terminal sends by itself are none.
    pub(crate) fn is_typed(parts: &[&[u8]]) -> bool {
        parts.iter().any(|part| key_filter::has_typed_input(part))
    }

    /// Counts a write with user input.
    pub(crate) fn count(&mut self) {
        self.typed += 1;
    }

    /// Whether queued bytes wait only for space in the pty.
    pub(crate) fn is_due(&self) -> bool {
        self.queue.is_due()
    }

    /// Whether the queue is empty.
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

    /// Queues all parts or none. Answers whether a line is longer than the terminal's line editor
    /// accepts.
    pub(crate) fn accept(
        &mut self,
        modes: Option<&Termios>,
        parts: &[&[u8]],
    ) -> Result<bool, RefusalReason> {
        let is_accepted = self.queue.accept(parts);
        is_accepted.then(|| self.line.add(modes, parts)).ok_or(RefusalReason::Full)
    }

    /// Writes queued bytes to the pty, as many as it accepts now.
    pub(crate) fn write_queued(&mut self, pty: &OwnedFd, end: u64, now: Instant) {
        let before = self.queue.written();
        self.queue.write(pty, now);
        if before != self.queue.written() {
            self.last_write = Some((now, end));
        }
    }

    /// Whether the program may not have read all input yet. Its output does not reflect that input
    /// then.
    pub(crate) fn is_unread(&self, pty: &OwnedFd, end: u64, now: Instant) -> bool {
        !self.queue.is_empty() || self.is_in_flight(end, now) || pty::has_unread(pty)
    }

    /// Whether the last write may still be on its way through the pty, where [`pty::has_unread`]
    /// does not see it yet. Once the program has printed something, the write has arrived.
    fn is_in_flight(&self, end: u64, now: Instant) -> bool {
        self.last_write.is_some_and(|(at, then)| now < at + input_queue::PTY_DELAY && then == end)
    }
}
