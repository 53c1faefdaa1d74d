//! Writes the scrollback as bytes that make the same scrollback in a fresh terminal, and leave its
//! screen as blank as it was, so that a dump can follow.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::{Cell, Flags};

use super::cell_groups::{CellGroup, CellGroupKind};
use super::dump_writer::DumpWriter;
use super::handler::TermHandler;

/// One row, as it is printed at the start of a line.
struct PrintedRow {
    bytes: Vec<u8>,
    /// Whether the text continues in the next row without a line end.
    wraps: RowEnd,
    begins_wide: bool,
}

/// How a row ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowEnd {
    Line,
    /// It is full, and what follows wraps.
    Wrap,
    /// Its last cell is free, because the wide character that follows did not fit.
    WideWrap,
}

/// See [`Screen::dump_history`](super::Screen::dump_history).
pub(super) fn dump_history(handler: &TermHandler, max_rows: usize, max_bytes: usize) -> Vec<u8> {
    let grid = handler.primary.as_ref().unwrap_or(handler.term.grid());
    let rows = last_rows(grid, max_rows.min(kept_rows(handler, grid)), max_bytes);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(rows.iter().map(|row| row.bytes.len() + 2).sum());
    for (n, row) in rows.iter().enumerate() {
        out.extend_from_slice(&row.bytes);
        if !rows.get(n + 1).is_some_and(|next| row.continues_in(next)) {
            out.extend_from_slice(b"\r\n");
        }
    }
    // The last rows are still on the screen: they scroll off its top.
    let screen_rows = grid.screen_lines();
    let on_screen = rows.len().min(screen_rows - 1);
    out.extend_from_slice(format!("\x1b[{screen_rows};1H").as_bytes());
    out.extend(std::iter::repeat_n(b'\n', on_screen));
    out.extend_from_slice(b"\x1b[H");
    out
}

fn kept_rows(handler: &TermHandler, grid: &Grid<Cell>) -> usize {
    grid.history_size() - handler.history.excess(grid)
}

/// The last rows of the scrollback, oldest first, as far as their bytes fit.
fn last_rows(grid: &Grid<Cell>, max_rows: usize, max_bytes: usize) -> Vec<PrintedRow> {
    let mut left = max_bytes;
    let newest_first = (1..=max_rows).map(|back| {
        let line = Line(-i32::try_from(back).unwrap_or(i32::MAX));
        PrintedRow::of(&grid[line][..])
    });
    let mut rows: Vec<_> = newest_first
        .map_while(|row| {
            left = left.checked_sub(row.bytes.len() + 2)?;
            Some(row)
        })
        .collect();
    rows.reverse();
    rows
}

impl PrintedRow {
    fn of(cells: &[Cell]) -> Self {
        let mut writer = DumpWriter::default();
        let groups = CellGroup::all(cells);
        for group in &groups {
            print(&mut writer, cells, group);
        }
        let used = groups.last().map_or(0, CellGroup::end);
        let wraps = row_end(cells);
        if wraps == RowEnd::Wrap {
            writer.reset_style();
            (used..cells.len()).for_each(|_| writer.print(' '));
        }
        writer.reset_style();
        let begins_wide = cells.first().is_some_and(|cell| cell.flags.contains(Flags::WIDE_CHAR));
        Self { bytes: writer.finish(), wraps, begins_wide }
    }

    fn continues_in(&self, next: &Self) -> bool {
        match self.wraps {
            RowEnd::Line => false,
            RowEnd::Wrap => !next.bytes.is_empty(),
            RowEnd::WideWrap => next.begins_wide,
        }
    }
}

fn row_end(cells: &[Cell]) -> RowEnd {
    let flags = cells.last().map_or(Flags::empty(), |cell| cell.flags);
    if flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
        RowEnd::WideWrap
    } else if flags.contains(Flags::WRAPLINE) {
        RowEnd::Wrap
    } else {
        RowEnd::Line
    }
}

/// Prints a group where it is: all columns before it are printed.
fn print(writer: &mut DumpWriter, cells: &[Cell], group: &CellGroup) {
    let cell = &cells[group.col];
    let is_last = group.end() == cells.len();
    match group.kind {
        // Half a wide character cannot be printed.
        CellGroupKind::LoneWide | CellGroupKind::LoneSpacer => writer.print(' '),
        CellGroupKind::Leading if is_last => {}
        CellGroupKind::Leading => writer.print(' '),
        CellGroupKind::Whole => {
            writer.set_style(cell);
            // A tab stays in the cell it was printed on; the cells that it skipped are blank.
            writer.print(if cell.c == '\t' { ' ' } else { cell.c });
            cell.zerowidth().unwrap_or_default().iter().for_each(|&mark| writer.print(mark));
        }
    }
}
