//! Writes the cells onto a blank screen, so that not only the text but every cell comes out the
//! same.
//!
//! Most rows are plain text. The rest of this file handles what erasing, inserting and resizing
//! leave behind: halves of wide characters, and wrap flags in the middle of rows.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::{Cell, Flags};

use super::cell_groups::{CellGroup, CellGroupKind, is_shifted, starts_simply};
use super::dump_writer::DumpWriter;

/// A blank of two columns: printed only for its side effects.
const WIDE: char = '\u{3000}';

/// Makes the cursor wait to wrap at the end of a row: with wrapping off, a character that does not
/// fit is not drawn.
const PENDING_WRAP: &str = "\x1b[?7l\u{3000}\x1b[?7h";

/// The flags that wrapping leaves on a cell.
const WRAPPED: Flags = Flags::WRAPLINE.union(Flags::LEADING_WIDE_CHAR_SPACER);

/// Writes all rows. The screen that reads them must be blank, wrap lines, and scroll as a whole.
pub(super) fn write(writer: &mut DumpWriter, grid: &Grid<Cell>) {
    let rows: Vec<&[Cell]> = (0..grid.screen_lines()).map(|row| cells(grid, row)).collect();
    let Some((last, above)) = rows.split_last() else {
        return;
    };
    if !last.iter().any(|cell| cell.flags.intersects(WRAPPED)) {
        return write_down(writer, &rows);
    }
    write_down(writer, above);
    // Wrapping out of the last row scrolls, unless the scroll region is below the screen.
    writer.push(&format!("\x1b[{};{}r", rows.len() + 1, rows.len() + 2));
    let row = above.len();
    RowDumpWriter { writer, row, wrap_row: row, cols: last.len(), col: None, next: &[] }
        .write(last);
    writer.push(&format!("\x1b[1;{}r", rows.len().max(2)));
}

/// Leaves the cursor at the end of a row, waiting to wrap.
pub(super) fn wait_to_wrap(writer: &mut DumpWriter, row: usize, cells: &[Cell]) {
    let last = cells.len() - 1;
    writer.goto(row, last);
    let group = CellGroup::at(cells, last);
    if group.is_simple(cells) && !group.wraps(cells) {
        return print(writer, &cells[last]);
    }
    writer.push(PENDING_WRAP);
}

/// The cells of one row, from 0 at the top.
pub(super) fn cells(grid: &Grid<Cell>, row: usize) -> &[Cell] {
    &grid[Line(i32::try_from(row).unwrap_or(0))][..]
}

/// Writes rows from the top down.
fn write_down(writer: &mut DumpWriter, rows: &[&[Cell]]) {
    let mut flows = false;
    for (row, cells) in rows.iter().enumerate() {
        let next = rows.get(row + 1).copied().unwrap_or_default();
        let col = flows.then_some(0);
        flows = RowDumpWriter { writer, row, wrap_row: row + 1, cols: cells.len(), col, next }
            .write(cells);
    }
}

/// Writes one row from left to right: everything right of the cursor is blank.
struct RowDumpWriter<'a> {
    writer: &'a mut DumpWriter,
    row: usize,
    /// The row into which this one wraps; for the last row, the row itself.
    wrap_row: usize,
    cols: usize,
    /// The cursor's column, if it is known to be in this row.
    col: Option<usize>,
    /// The row that is written next; empty if there is none.
    next: &'a [Cell],
}

impl RowDumpWriter<'_> {
    /// Writes the row. Returns whether the next one follows by wrapping.
    fn write(&mut self, cells: &[Cell]) -> bool {
        let groups = CellGroup::all(cells);
        let Some((first, others)) = groups.split_first() else {
            return false;
        };
        if is_shifted(&groups, self.cols) {
            self.write_shifted(cells, first, others);
            return false;
        }
        // A group that wraps into this same row must find it blank, so it comes first.
        let is_early =
            |group: &&CellGroup| group.kind == CellGroupKind::Leading && self.wrap_row == self.row;
        let (early, late): (Vec<&CellGroup>, Vec<&CellGroup>) = groups.iter().partition(is_early);
        let in_order = early.into_iter().chain(late);
        in_order.fold(false, |_, group| self.write_group(cells, group, group.col))
    }

    /// Writes the row one column too far left, shifts it right, and writes the first group.
    fn write_shifted(&mut self, cells: &[Cell], first: &CellGroup, others: &[CellGroup]) {
        for group in others {
            self.write_group(cells, group, group.col - 1);
        }
        self.edit(0, "@", 1);
        // Half a character at both ends is not possible: the first is left out.
        if !first.is_lone() {
            self.write_group(cells, first, 0);
        }
        if cells[self.cols - 1].flags.contains(Flags::WRAPLINE) {
            wait_to_wrap(self.writer, self.row, cells);
            self.writer.push("\t");
        }
    }

    /// Writes one group at a column. Returns whether the next row follows by wrapping.
    fn write_group(&mut self, cells: &[Cell], group: &CellGroup, col: usize) -> bool {
        let cell = &cells[group.col];
        match group.kind {
            CellGroupKind::Whole if group.wraps(cells) => return self.wrapping(cells, group, col),
            CellGroupKind::Whole => self.print(cell, col, group.width),
            CellGroupKind::LoneWide => {
                self.print(cell, col, 2);
                self.edit(col + 1, "X", 1);
            }
            CellGroupKind::LoneSpacer => {
                self.print(&wide(cell), col, 2);
                self.edit(col, "P", 1);
            }
            CellGroupKind::Leading => self.leading(cell, col),
        }
        self.tabs(cells, group, col);
        false
    }

    /// Writes a group with the wrap flag. The flag is set only by printing at the end of the row.
    fn wrapping(&mut self, cells: &[Cell], group: &CellGroup, col: usize) -> bool {
        let edge = self.cols - group.width;
        self.print(&cells[group.col], edge, group.width);
        if edge == col && group.is_simple(cells) && starts_simply(self.next) {
            return true;
        }
        // A tab wraps and draws nothing.
        self.writer.push("\t");
        self.col = None;
        self.shift_left(edge, col);
        self.tabs(cells, group, col);
        false
    }

    /// Writes the cell left free by a wide character that did not fit.
    fn leading(&mut self, cell: &Cell, col: usize) {
        let edge = self.cols - 1;
        self.print(&wide(cell), edge, 1);
        self.writer.reset_style();
        self.writer.goto(self.wrap_row, 0);
        self.writer.push("\x1b[2X");
        if let Some(marks) = cell.zerowidth() {
            self.writer.goto(self.row, edge);
            self.writer.push(PENDING_WRAP);
            marks.iter().for_each(|&mark| self.writer.print(mark));
        }
        self.shift_left(edge, col);
    }

    /// Shifts what was printed at the end of the row left to its column.
    fn shift_left(&mut self, from: usize, to: usize) {
        if from != to {
            self.edit(to, "P", from - to);
        }
    }

    /// Writes tabs back into the cells they were printed on.
    fn tabs(&mut self, cells: &[Cell], group: &CellGroup, col: usize) {
        for at in (0..group.width).filter(|at| cells[group.col + at].c == '\t') {
            self.go(col + at);
            self.writer.push("\t");
            self.col = None;
        }
    }

    fn print(&mut self, cell: &Cell, col: usize, width: usize) {
        self.go(col);
        print(self.writer, cell);
        self.col = Some(col + width).filter(|&col| col < self.cols);
    }

    /// Inserts, deletes or erases at a column, without leaving a style behind.
    fn edit(&mut self, col: usize, action: &str, count: usize) {
        self.writer.reset_style();
        self.go(col);
        self.writer.push(&format!("\x1b[{count}{action}"));
    }

    fn go(&mut self, col: usize) {
        if self.col != Some(col) {
            self.writer.goto(self.row, col);
        }
        self.col = Some(col);
    }
}

fn print(writer: &mut DumpWriter, cell: &Cell) {
    writer.set_style(cell);
    writer.print(if cell.c == '\t' { ' ' } else { cell.c });
    cell.zerowidth().unwrap_or_default().iter().for_each(|&mark| writer.print(mark));
}

/// A wide character with the style of this cell.
fn wide(cell: &Cell) -> Cell {
    let mut wide = Cell { c: WIDE, fg: cell.fg, bg: cell.bg, flags: cell.flags, extra: None };
    wide.set_underline_color(cell.underline_color());
    wide.set_hyperlink(cell.hyperlink());
    wide
}
