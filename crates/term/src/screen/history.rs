//! The rows that scroll off the top: the last ones are kept, and those before them counted.
//!
//! The emulator forgets the oldest of a full history without a word. So it may keep some more than are wanted, and
//! those are taken away and counted before it is full.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;

use super::handler::TermHandler;

/// How many more rows the emulator may keep. It would throw memory away if more were taken from it at once.
const SPARE: usize = 1000;
/// The fewest bytes that can make a screenful of rows scroll off: a clear screen.
const CLEAR: usize = 4;

/// What is known of the rows above a screen.
pub(super) struct ScreenHistory {
    /// How many are wanted.
    limit: usize,
    /// How many there were before those that are kept; nothing once that cannot be told.
    dropped: Option<u64>,
}

impl ScreenHistory {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, dropped: Some(0) }
    }

    /// How many rows the emulator may keep.
    pub(super) fn capacity(&self) -> usize {
        if self.limit == 0 { 0 } else { self.limit + SPARE }
    }

    /// How many bytes may be drawn until [`ScreenHistory::trim`], on a screen of so many rows; any number where none is kept.
    pub(super) fn max_feed(&self, rows: usize) -> usize {
        if self.limit == 0 { usize::MAX } else { (SPARE / 2 * CLEAR / rows).max(1) }
    }

    /// Takes away the rows that are not wanted.
    pub(super) fn trim(&mut self, grid: &mut Grid<Cell>) {
        self.notice_full(grid);
        let more = self.excess(grid);
        if SPARE / 2 < more {
            grid.update_history(self.limit);
            grid.update_history(self.capacity());
            self.dropped = self.dropped.map(|gone| gone + more as u64);
        }
    }

    /// The program is about to have all of them forgotten.
    pub(super) fn clear(&mut self, grid: &Grid<Cell>) {
        self.notice_full(grid);
        self.dropped = self.dropped.map(|gone| gone + grid.history_size() as u64);
    }

    /// Lines are about to flow anew: of those that are gone nobody knows how many rows they would be.
    pub(super) fn reflow(&mut self) {
        self.dropped = self.dropped.filter(|gone| *gone == 0);
    }

    /// How many rows there are that are not wanted.
    pub(super) fn excess(&self, grid: &Grid<Cell>) -> usize {
        grid.history_size().saturating_sub(self.limit)
    }

    /// How many there were before those that are wanted, if that can be told.
    pub(super) fn dropped(&self, grid: &Grid<Cell>) -> Option<u64> {
        let is_full = self.is_full(grid);
        self.dropped.filter(|_| !is_full).map(|gone| gone + self.excess(grid) as u64)
    }

    fn notice_full(&mut self, grid: &Grid<Cell>) {
        if self.is_full(grid) {
            self.dropped = None;
        }
    }

    /// Whether rows may have been forgotten that nobody has counted.
    fn is_full(&self, grid: &Grid<Cell>) -> bool {
        0 < self.limit && self.capacity() <= grid.history_size()
    }
}

impl TermHandler {
    /// Takes away rows above that nobody wants. The alternate screen has none.
    pub(super) fn trim(&mut self) {
        if !self.has(TermMode::ALT_SCREEN) {
            self.history.trim(self.term.grid_mut());
        }
    }

    /// Counts the rows above the primary screen, which are about to be forgotten.
    pub(super) fn clear_history(&mut self) {
        let grid = self.term.grid();
        self.history.clear(self.primary.as_ref().unwrap_or(grid));
    }
}
