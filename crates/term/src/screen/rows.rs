//! Writes the cells of a blank screen, so that not only the text but every cell comes out the same.
//!
//! Most rows are plain text. The rest of this file is for what erasing, inserting and resizing leave behind:
//! halves of wide characters, and rows that say in their middle that they wrap.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::{Cell, Flags};

use super::cell_groups::{CellGroup, CellGroupKind, is_shifted, starts_simply};
use super::dump_writer::DumpWriter;

/// Two columns of nothing: printed where only its side effects are wanted.
const WIDE: char = '\u{3000}';

/// Makes the cursor wait at the end of a row: where nothing wraps, a character too wide for its place is not drawn.
const PENDING_WRAP: &str = "\x1b[?7l\u{3000}\x1b[?7h";

/// The marks that wrapping leaves on a cell.
const WRAPPED: Flags = Flags::WRAPLINE.union(Flags::LEADING_WIDE_CHAR_SPACER);

/// Writes all rows. The screen that reads them is blank, wraps, and scrolls as a whole.
pub(super) fn write(pen: &mut DumpWriter, grid: &Grid<Cell>) {
    let rows: Vec<&[Cell]> = (0..grid.screen_lines()).map(|row| cells(grid, row)).collect();
    let Some((last, above)) = rows.split_last() else {
        return;
    };
    if !last.iter().any(|cell| cell.flags.intersects(WRAPPED)) {
        return write_down(pen, &rows);
    }
    write_down(pen, above);
    // To wrap out of the last row is to scroll, unless the region that scrolls is below the screen.
    pen.push(&format!("\x1b[{};{}r", rows.len() + 1, rows.len() + 2));
    let row = above.len();
    RowDumpWriter { pen, row, wrap_row: row, cols: last.len(), col: None, next: &[] }.write(last);
    pen.push(&format!("\x1b[1;{}r", rows.len().max(2)));
}

/// Leaves the cursor at the end of a row, waiting to wrap.
pub(super) fn wait_to_wrap(pen: &mut DumpWriter, row: usize, cells: &[Cell]) {
    let last = cells.len() - 1;
    pen.goto(row, last);
    let part = CellGroup::at(cells, last);
    if part.is_simple(cells) && !part.wraps(cells) {
        return print(pen, &cells[last]);
    }
    pen.push(PENDING_WRAP);
}

/// The cells of one row, from 0 at the top.
pub(super) fn cells(grid: &Grid<Cell>, row: usize) -> &[Cell] {
    &grid[Line(i32::try_from(row).unwrap_or(0))][..]
}

/// Writes rows from the top down.
fn write_down(pen: &mut DumpWriter, rows: &[&[Cell]]) {
    let mut flows = false;
    for (row, cells) in rows.iter().enumerate() {
        let next = rows.get(row + 1).copied().unwrap_or_default();
        let col = flows.then_some(0);
        flows = RowDumpWriter { pen, row, wrap_row: row + 1, cols: cells.len(), col, next }
            .write(cells);
    }
}

/// Writes one row from left to right: what is right of the cursor is blank.
struct RowDumpWriter<'a> {
    pen: &'a mut DumpWriter,
    row: usize,
    /// The row into which this one wraps; for the last row, the row itself.
    wrap_row: usize,
    cols: usize,
    /// Where the cursor stands, if it is known to stand in this row.
    col: Option<usize>,
    /// The row that is written next; empty if there is none.
    next: &'a [Cell],
}

impl RowDumpWriter<'_> {
    /// Writes the row. Answers whether the next one follows by wrapping.
    fn write(&mut self, cells: &[Cell]) -> bool {
        let parts = CellGroup::all(cells);
        let Some((first, others)) = parts.split_first() else {
            return false;
        };
        if is_shifted(&parts, self.cols) {
            self.write_shifted(cells, first, others);
            return false;
        }
        // What lands in this very row must find nothing there.
        let is_early =
            |part: &&CellGroup| part.kind == CellGroupKind::Leading && self.wrap_row == self.row;
        let (early, late): (Vec<&CellGroup>, Vec<&CellGroup>) = parts.iter().partition(is_early);
        let in_order = early.into_iter().chain(late);
        in_order.fold(false, |_, part| self.part(cells, part, part.col))
    }

    /// Writes the row one column too far left, pushes it right, and writes the first part.
    fn write_shifted(&mut self, cells: &[Cell], first: &CellGroup, others: &[CellGroup]) {
        for part in others {
            self.part(cells, part, part.col - 1);
        }
        self.edit(0, "@", 1);
        // Half a character at both ends cannot be had: the first is left out.
        if !first.is_lone() {
            self.part(cells, first, 0);
        }
        if cells[self.cols - 1].flags.contains(Flags::WRAPLINE) {
            wait_to_wrap(self.pen, self.row, cells);
            self.pen.push("\t");
        }
    }

    /// Writes one part at a column. Answers whether the next row follows by wrapping.
    fn part(&mut self, cells: &[Cell], part: &CellGroup, col: usize) -> bool {
        let cell = &cells[part.col];
        match part.kind {
            CellGroupKind::Whole if part.wraps(cells) => return self.wrapping(cells, part, col),
            CellGroupKind::Whole => self.print(cell, col, part.width),
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
        self.tabs(cells, part, col);
        false
    }

    /// A part that says its row wraps. It says so only if it is printed at the end of the row.
    fn wrapping(&mut self, cells: &[Cell], part: &CellGroup, col: usize) -> bool {
        let edge = self.cols - part.width;
        self.print(&cells[part.col], edge, part.width);
        if edge == col && part.is_simple(cells) && starts_simply(self.next) {
            return true;
        }
        // A tab wraps, and draws nothing.
        self.pen.push("\t");
        self.col = None;
        self.shift_left(edge, col);
        self.tabs(cells, part, col);
        false
    }

    /// The cell left free by a wide character that did not fit.
    fn leading(&mut self, cell: &Cell, col: usize) {
        let edge = self.cols - 1;
        self.print(&wide(cell), edge, 1);
        self.pen.reset_style();
        self.pen.goto(self.wrap_row, 0);
        self.pen.push("\x1b[2X");
        if let Some(marks) = cell.zerowidth() {
            self.pen.goto(self.row, edge);
            self.pen.push(PENDING_WRAP);
            marks.iter().for_each(|&mark| self.pen.print(mark));
        }
        self.shift_left(edge, col);
    }

    /// Pulls what stands at the end of the row to its column.
    fn shift_left(&mut self, from: usize, to: usize) {
        if from != to {
            self.edit(to, "P", from - to);
        }
    }

    /// Puts tabs back into the cells they were printed on.
    fn tabs(&mut self, cells: &[Cell], part: &CellGroup, col: usize) {
        for at in (0..part.width).filter(|at| cells[part.col + at].c == '\t') {
            self.go(col + at);
            self.pen.push("\t");
            self.col = None;
        }
    }

    fn print(&mut self, cell: &Cell, col: usize, width: usize) {
        self.go(col);
        print(self.pen, cell);
        self.col = Some(col + width).filter(|&col| col < self.cols);
    }

    /// Inserts, deletes or erases at a column, without leaving a look behind.
    fn edit(&mut self, col: usize, action: &str, count: usize) {
        self.pen.reset_style();
        self.go(col);
        self.pen.push(&format!("\x1b[{count}{action}"));
    }

    fn go(&mut self, col: usize) {
        if self.col != Some(col) {
            self.pen.goto(self.row, col);
        }
        self.col = Some(col);
    }
}

fn print(pen: &mut DumpWriter, cell: &Cell) {
    pen.set_style(cell);
    pen.print(if cell.c == '\t' { ' ' } else { cell.c });
    cell.zerowidth().unwrap_or_default().iter().for_each(|&mark| pen.print(mark));
}

/// A wide character that looks like this cell.
fn wide(cell: &Cell) -> Cell {
    let mut wide = Cell { c: WIDE, fg: cell.fg, bg: cell.bg, flags: cell.flags, extra: None };
    wide.set_underline_color(cell.underline_color());
    wide.set_hyperlink(cell.hyperlink());
    wide
}
