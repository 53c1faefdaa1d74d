//! What is typed into one terminal: in which order, how often, and whether it has arrived.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use paned_model::frame::{Refused, Returned};

use crate::line::Line;
use crate::loan::Loan;
use crate::peer::{Peer, PeerId};
use crate::typing::{self, Typing};
use crate::{hands, pty};

/// Everything typed into a terminal comes through here, or is told here by whom the terminal is lent to.
#[derive(Default)]
pub(crate) struct Input {
    typing: Typing,
    loan: Loan,
    line: Line,
    /// How often somebody has typed.
    typed: u64,
    /// When something was last written into the pty, and where the output ended then.
    wrote: Option<(Instant, u64)>,
}

impl Input {
    /// How often somebody has typed.
    pub(crate) fn typed(&self) -> u64 {
        self.typed
    }

    /// Somebody has typed this. What a terminal says by itself is nobody's typing.
    pub(crate) fn count(&mut self, parts: &[&[u8]]) {
        self.typed += u64::from(parts.iter().any(|part| hands::typed(part)));
    }

    /// Whether it waits for nothing but room in the pty.
    pub(crate) fn is_due(&self) -> bool {
        self.typing.is_due() && !self.loan.is_away()
    }

    /// Whether nothing waits to be typed.
    pub(crate) fn is_empty(&self) -> bool {
        self.typing.is_empty()
    }

    /// When [`Input::tick`] wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let typing = self.typing.deadline().filter(|_| !self.loan.is_away());
        [typing, self.loan.deadline()].into_iter().flatten().min()
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, pty: &OwnedFd, end: u64, now: Instant) {
        if self.loan.tick(now) || self.typing.deadline().is_some_and(|at| at <= now) {
            self.type_on(pty, end, now);
        }
    }

    /// Takes a text, all of its parts or none; whether a line is longer than the terminal's line editor takes.
    pub(crate) fn accept(&mut self, pty: &OwnedFd, parts: &[&[u8]]) -> Result<bool, Refused> {
        let is_taken = self.typing.accept(parts);
        is_taken.then(|| self.line.typed(pty, parts)).ok_or(Refused::Full)
    }

    /// Gives the program what it takes of what was typed, unless somebody else types.
    pub(crate) fn type_on(&mut self, pty: &OwnedFd, end: u64, now: Instant) {
        if self.loan.is_away() {
            return;
        }
        let before = self.typing.written();
        self.typing.write(pty, now);
        if before != self.typing.written() {
            self.wrote = Some((now, end));
        }
    }

    /// Whether the program may not have read all that was typed: it has not shown then what it makes of it.
    pub(crate) fn is_unread(&self, pty: &OwnedFd, end: u64, now: Instant) -> bool {
        !self.typing.is_empty() || self.is_on_its_way(end, now) || pty::has_unread(pty)
    }

    /// Whether what was written may not be there yet for the program to read, or for anybody to see that it is. Once
    /// something was printed, it is.
    fn is_on_its_way(&self, end: u64, now: Instant) -> bool {
        self.wrote.is_some_and(|(at, then)| now < at + typing::ARRIVAL && then == end)
    }

    /// Whether somebody else types.
    #[cfg(test)]
    pub(crate) fn is_lent(&self) -> bool {
        self.loan.is_away()
    }

    /// Lends the terminal to a client, if nothing is to be typed here and they hear it.
    pub(crate) fn lend(&mut self, pty: &OwnedFd, to: &mut Peer) {
        let is_free = self.loan.is_here() && self.typing.is_empty();
        if is_free && to.lend(pty, self.line.length()) {
            self.loan = Loan::Lent(to.id);
        }
    }

    /// Whom to ask for the terminal, if it is wanted back or something is to be typed here.
    pub(crate) fn recall(&mut self, is_wanted: bool, now: Instant) -> Option<PeerId> {
        (is_wanted || !self.typing.is_empty()).then(|| self.loan.recall(now)).flatten()
    }

    /// A client returns the terminal, and what of its text is to be typed before all else; whether it had it.
    pub(crate) fn returned(
        &mut self,
        by: PeerId,
        (returned, rest): (Returned, &[u8]),
        now: Instant,
    ) -> bool {
        let was_lent = self.loan.returned(by);
        if was_lent {
            let Returned { typed, line, last } = returned;
            (self.typed, self.line) = (self.typed + typed, Line::of(line));
            let at = |ago| now.checked_sub(Duration::from_micros(ago)).unwrap_or(now);
            self.wrote = last.map(|(ago, end)| (at(ago), end)).or(self.wrote);
            self.typing.go_on_with(rest);
        }
        was_lent
    }

    /// What somebody has who is gone is ours again; whether they had it.
    pub(crate) fn lost(&mut self, peer: PeerId) -> bool {
        self.loan.returned(peer)
    }
}
