//! The scrollback: the last rows that scrolled off the top are kept, earlier ones are counted.
//!
//! The emulator drops the oldest rows of a full history silently. So its history is larger than the
//! limit, and surplus rows are removed and counted before it is full.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;

use super::handler::TermHandler;

/// How many surplus rows the emulator may keep. It would release memory if more were removed at
/// once.
const SPARE: usize = 1000;
/// The fewest bytes that can scroll off a screenful of rows: a clear screen.
const CLEAR: usize = 4;

/// The state of the scrollback.
pub(super) struct ScreenHistory {
    /// How many rows to keep.
    limit: usize,
    /// How many rows were dropped before those that are kept; `None` once that is unknown.
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

    /// How many bytes may be processed until [`ScreenHistory::trim`], on a screen of this many
    /// rows; no limit if no scrollback is kept.
    pub(super) fn max_feed(&self, rows: usize) -> usize {
        if self.limit == 0 { usize::MAX } else { (SPARE / 2 * CLEAR / rows).max(1) }
    }

    /// Removes surplus rows.
    pub(super) fn trim(&mut self, grid: &mut Grid<Cell>) {
        self.notice_full(grid);
        let more = self.excess(grid);
        if SPARE / 2 < more {
            grid.update_history(self.limit);
            grid.update_history(self.capacity());
            self.dropped = self.dropped.map(|count| count + more as u64);
        }
    }

    /// The program is about to clear the scrollback.
    pub(super) fn clear(&mut self, grid: &Grid<Cell>) {
        self.notice_full(grid);
        self.dropped = self.dropped.map(|count| count + grid.history_size() as u64);
    }

    /// Lines are about to reflow: how many rows the dropped ones would become is unknown.
    pub(super) fn reflow(&mut self) {
        self.dropped = self.dropped.filter(|count| *count == 0);
    }

    /// The number of surplus rows.
    pub(super) fn excess(&self, grid: &Grid<Cell>) -> usize {
        grid.history_size().saturating_sub(self.limit)
    }

    /// How many rows were dropped before those to keep, if known.
    pub(super) fn dropped(&self, grid: &Grid<Cell>) -> Option<u64> {
        let is_full = self.is_full(grid);
        self.dropped.filter(|_| !is_full).map(|count| count + self.excess(grid) as u64)
    }

    fn notice_full(&mut self, grid: &Grid<Cell>) {
        if self.is_full(grid) {
            self.dropped = None;
        }
    }

    /// Whether rows may have been dropped uncounted.
    fn is_full(&self, grid: &Grid<Cell>) -> bool {
        0 < self.limit && self.capacity() <= grid.history_size()
    }
}

impl TermHandler {
    /// Removes surplus rows. The alternate screen has no scrollback.
    pub(super) fn trim(&mut self) {
        if !self.has(TermMode::ALT_SCREEN) {
            self.history.trim(self.term.grid_mut());
        }
    }

    /// Counts the scrollback rows of the primary screen, which are about to be dropped.
    pub(super) fn clear_history(&mut self) {
        let grid = self.term.grid();
        self.history.clear(self.primary.as_ref().unwrap_or(grid));
    }
}
