//! Prints a run of characters that take one column each into a row at once. The emulator takes them one by one.

use std::sync::Arc;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, CellExtra, Flags};
use alacritty_terminal::vte::ansi::{Handler, StandardCharset};

use super::handler::TermHandler;

const WIDE: Flags = Flags::WIDE_CHAR.union(Flags::WIDE_CHAR_SPACER);

/// How many of the bytes are characters of one byte and one column.
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !(0x20..0x7f).contains(byte)).unwrap_or(bytes.len())
}

/// Prints characters of one column as the emulator would.
pub(super) fn print<T: Copy + Into<char>>(tap: &mut TermHandler, mut text: &[T]) {
    while let Some((&first, rest)) = text.split_first() {
        let printed = if is_simple(tap) { fill(tap, text) } else { 0 };
        if printed == 0 {
            tap.input(first.into());
            text = rest;
        } else {
            text = &text[printed..];
        }
    }
}

/// Whether a character goes where the cursor stands, as it is, and moves nothing.
fn is_simple(tap: &TermHandler) -> bool {
    let cursor = &tap.term.grid().cursor;
    !cursor.input_needs_wrap
        && !tap.has(TermMode::INSERT)
        && cursor.charsets[tap.charset] == StandardCharset::Ascii
}

/// Prints into the cells from the cursor on, up to the end of the row or to half a wide character, whose other
/// half is the emulator's. Answers how many.
fn fill<T: Copy + Into<char>>(tap: &mut TermHandler, text: &[T]) -> usize {
    tap.changed = true;
    let grid = tap.term.grid_mut();
    let (line, start, cols) = (grid.cursor.point.line, grid.cursor.point.column.0, grid.columns());
    let end = cols.min(start + text.len());
    let template = grid.cursor.template.clone();
    let cells = &mut grid[line][Column(start)..Column(end)];
    let printed = match &template.extra {
        None => write(cells, text, &template, || None),
        Some(extra) => write(cells, text, &template, || Some(Arc::clone(extra))),
    };
    grid.cursor.input_needs_wrap = start + printed == cols;
    grid.cursor.point.column = Column((start + printed).min(cols - 1));
    printed
}

/// Writes up to half a wide character; how many were written.
fn write<T: Copy + Into<char>>(
    cells: &mut [Cell],
    text: &[T],
    template: &Cell,
    extra: impl Fn() -> Option<Arc<CellExtra>>,
) -> usize {
    let Cell { fg, bg, flags, .. } = *template;
    for (at, (cell, &c)) in cells.iter_mut().zip(text).enumerate() {
        if cell.flags.intersects(WIDE) {
            return at;
        }
        *cell = Cell { c: c.into(), fg, bg, flags, extra: extra() };
    }
    cells.len()
}
