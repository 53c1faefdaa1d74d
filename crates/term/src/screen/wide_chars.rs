//! Wide characters occupy two cells. An edit that cuts between the two leaves blanks on both sides:
//! half a character is not shown, and no column is lost.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::Handler;
use unicode_width::UnicodeWidthChar;

use super::handler::TermHandler;

impl TermHandler {
    /// The cursor's column.
    pub(super) fn column(&self) -> usize {
        self.term.grid().cursor.point.column.0
    }

    /// Prepares an edit that divides the cursor's row at this column.
    #[inline]
    pub(super) fn cut(&mut self, col: usize) {
        self.changed = true;
        let line = self.term.grid().cursor.point.line;
        cut(self.term.grid_mut(), line, col);
    }

    /// Prints a character in insert mode.
    pub(super) fn insert(&mut self, c: char) {
        let col = self.column();
        let cols = self.term.columns();
        let pushed = c.width().unwrap_or(0);
        if !self.term.grid().cursor.input_needs_wrap && col + pushed < cols {
            self.cut(col);
            self.cut(cols - pushed);
            // Otherwise the emulator would handle the cells pushed out as if the character
            // overwrote them.
            let line = self.term.grid().cursor.point.line;
            self.term.grid_mut()[line][Column(cols - pushed)..].fill(Cell::default());
        }
        self.term.input(c);
        let line = self.term.grid().cursor.point.line;
        blank_lone_halves_in_row(self.term.grid_mut(), line);
    }
}

/// Blanks the wide character that crosses a column's left edge, if there is one.
#[inline]
fn cut(grid: &mut Grid<Cell>, line: Line, col: usize) {
    let is_half =
        grid[line][..].get(col).is_some_and(|cell| cell.flags.contains(Flags::WIDE_CHAR_SPACER));
    if is_half && 0 < col {
        for cell in &mut grid[line][Column(col - 1)..Column(col + 1)] {
            blank(cell);
        }
    }
}

/// Blanks halves of wide characters, in all rows.
pub(super) fn blank_lone_halves(grid: &mut Grid<Cell>) {
    for line in (0..grid.screen_lines()).filter_map(|line| i32::try_from(line).ok()) {
        blank_lone_halves_in_row(grid, Line(line));
    }
}

/// Blanks halves of wide characters, in one row.
fn blank_lone_halves_in_row(grid: &mut Grid<Cell>, line: Line) {
    for col in 0..grid.columns() {
        if is_lone_half(&grid[line][..], col) {
            blank(&mut grid[line][Column(col)]);
        }
    }
}

/// Whether a cell is one half of a wide character without the other.
pub(super) fn is_lone_half(cells: &[Cell], col: usize) -> bool {
    let has = |col: usize, flag| cells.get(col).is_some_and(|cell| cell.flags.contains(flag));
    let wide = Flags::WIDE_CHAR;
    let spacer = Flags::WIDE_CHAR_SPACER;
    let follows = 0 < col && has(col - 1, wide);
    has(col, wide) && !has(col + 1, spacer) || has(col, spacer) && !follows
}

fn blank(cell: &mut Cell) {
    cell.clear_wide();
    cell.flags.remove(Flags::WIDE_CHAR_SPACER);
}
