//! Prints a run of single-column characters into a row at once. The emulator prints them one by
//! one.

use std::sync::Arc;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, CellExtra, Flags};
use alacritty_terminal::vte::ansi::{Handler, StandardCharset};

use super::handler::TermHandler;

const WIDE: Flags = Flags::WIDE_CHAR.union(Flags::WIDE_CHAR_SPACER);

/// How many leading bytes are characters of one byte and one column.
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !(0x20..0x7f).contains(byte)).unwrap_or(bytes.len())
}

/// Prints single-column characters as the emulator would.
pub(super) fn print<T: Copy + Into<char>>(handler: &mut TermHandler, mut text: &[T]) {
    while let Some((&first, rest)) = text.split_first() {
        let printed = if is_simple(handler) { fill(handler, text) } else { 0 };
        if printed == 0 {
            handler.input(first.into());
            text = rest;
        } else {
            text = &text[printed..];
        }
    }
}

/// Whether a character is written at the cursor as it is, without moving others.
fn is_simple(handler: &TermHandler) -> bool {
    let cursor = &handler.term.grid().cursor;
    !cursor.input_needs_wrap
        && !handler.has(TermMode::INSERT)
        && cursor.charsets[handler.charset] == StandardCharset::Ascii
}

/// Prints into the cells from the cursor on, up to the end of the row or to half a wide character,
/// which the emulator must handle. Returns how many were printed.
fn fill<T: Copy + Into<char>>(handler: &mut TermHandler, text: &[T]) -> usize {
    handler.changed = true;
    let grid = handler.term.grid_mut();
    let line = grid.cursor.point.line;
    let start = grid.cursor.point.column.0;
    let cols = grid.columns();
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

/// Writes up to half a wide character; returns how many were written.
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
