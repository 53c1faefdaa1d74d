//! Writes a whole screen as the escape bytes that draw it on a fresh one.
//!
//! State that no bytes can produce in `alacritty_terminal` is missing: the saved cursor of the
//! hidden screen; the saved cursor while the cursor is outside the region in origin mode; the
//! character that `CSI b` would repeat; marks on spacers; and the few rows that
//! `cell_groups::is_unreachable` names.

use alacritty_terminal::grid::{Charsets, Cursor, Dimensions, Grid};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::term::color::COUNT;
use alacritty_terminal::vte::ansi::{CharsetIndex, CursorShape, CursorStyle, KeyboardModes, Rgb};

use super::cell_groups::is_unreachable;
use super::dump_writer::DumpWriter;
use super::handler::TermHandler;
use super::rows;
use super::view::kitty_keyboard;

/// Modes that are plain flags, in the order in which they are written.
const MODES: [(TermMode, &str); 14] = [
    (TermMode::SHOW_CURSOR, "?25"),
    (TermMode::APP_CURSOR, "?1"),
    (TermMode::LINE_WRAP, "?7"),
    (TermMode::MOUSE_REPORT_CLICK, "?1000"),
    (TermMode::MOUSE_DRAG, "?1002"),
    (TermMode::MOUSE_MOTION, "?1003"),
    (TermMode::FOCUS_IN_OUT, "?1004"),
    (TermMode::UTF8_MOUSE, "?1005"),
    (TermMode::SGR_MOUSE, "?1006"),
    (TermMode::ALTERNATE_SCROLL, "?1007"),
    (TermMode::URGENCY_HINTS, "?1042"),
    (TermMode::BRACKETED_PASTE, "?2004"),
    (TermMode::INSERT, "4"),
    (TermMode::LINE_FEED_NEW_LINE, "20"),
];

/// State that a dump does not restore, though it may be visible or matter later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpLoss {
    /// Cells that no output can produce.
    Cells,
    /// The saved cursor: restoring it is the only way to a position outside the region in origin
    /// mode.
    SavedCursor,
}

/// See [`Screen::loss`](super::Screen::loss).
pub(super) fn loss(handler: &TermHandler) -> Option<DumpLoss> {
    let grids = [Some(handler.term.grid()), handler.primary.as_ref()];
    let is_lost = |grid: &Grid<Cell>| {
        let last = grid.screen_lines() - 1;
        (0..=last).any(|row| is_unreachable(rows::cells(grid, row), row == last))
    };
    if grids.into_iter().flatten().any(is_lost) {
        return Some(DumpLoss::Cells);
    }
    let is_inside = handler.region.contains(&row(&handler.term.grid().cursor));
    (handler.has(TermMode::ORIGIN) && !is_inside).then_some(DumpLoss::SavedCursor)
}

/// See [`Screen::dump`](super::Screen::dump).
pub(super) fn dump(handler: &TermHandler) -> Vec<u8> {
    let mut writer = start(handler);
    let [_, hidden] = &handler.pushed;
    if let Some(primary) = &handler.primary {
        rows::write(&mut writer, primary);
        restore_cursor(&mut writer, primary, &primary.cursor, 0);
        push_keyboard(&mut writer, hidden);
        // The alternate screen inherits the cursor of the primary one, with its style and charsets.
        writer.push("\x1b[?1049h");
        writer.reset_style();
        writer.designate(Charsets::default());
        writer.push("\x1b[2J");
    }
    finish(writer, handler)
}

/// See [`Screen::dump_shown`](super::Screen::dump_shown).
pub(super) fn dump_shown(handler: &TermHandler) -> Vec<u8> {
    finish(start(handler), handler)
}

/// What both screens share.
fn start(handler: &TermHandler) -> DumpWriter {
    let mut writer = DumpWriter::default();
    titles(&mut writer, handler);
    palette(&mut writer, handler);
    tabs(&mut writer, handler);
    writer
}

/// The screen that is shown.
fn finish(mut writer: DumpWriter, handler: &TermHandler) -> Vec<u8> {
    let [shown, _] = &handler.pushed;
    rows::write(&mut writer, handler.term.grid());
    push_keyboard(&mut writer, shown);
    keyboard(&mut writer, handler);
    region(&mut writer, handler);
    cursors(&mut writer, handler);
    modes(&mut writer, handler);
    if handler.reversed {
        writer.push("\x1b[?5h");
    }
    writer.finish()
}

fn titles(writer: &mut DumpWriter, handler: &TermHandler) {
    for title in &handler.titles {
        writer.push(&format!("\x1b]2;{title}\x1b\\\x1b[22t"));
    }
    if !handler.title.is_empty() || !handler.titles.is_empty() {
        writer.push(&format!("\x1b]2;{}\x1b\\", handler.title));
    }
}

fn palette(writer: &mut DumpWriter, handler: &TermHandler) {
    let colours = handler.term.colors();
    for (index, colour) in (0..COUNT).filter_map(|index| Some((index, colours[index]?))) {
        let Rgb { r, g, b } = colour;
        let name = if index < 256 { format!("4;{index}") } else { (index - 246).to_string() };
        writer.push(&format!("\x1b]{name};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"));
    }
}

fn tabs(writer: &mut DumpWriter, handler: &TermHandler) {
    if handler.tabs.iter().enumerate().all(|(col, stop)| *stop == (col % 8 == 0)) {
        return;
    }
    writer.push("\x1b[3g");
    for (col, _) in handler.tabs.iter().enumerate().filter(|(_, stop)| **stop) {
        writer.goto(0, col);
        writer.push("\x1bH");
    }
    writer.goto(0, 0);
}

fn push_keyboard(writer: &mut DumpWriter, pushed: &[KeyboardModes]) {
    for mode in pushed {
        writer.push(&format!("\x1b[>{}u", mode.bits()));
    }
}

/// `CSI = u` changes the flags without changing the stack.
fn keyboard(writer: &mut DumpWriter, handler: &TermHandler) {
    let [shown, _] = &handler.pushed;
    let flags = kitty_keyboard(handler);
    if flags != shown.last().map_or(0, KeyboardModes::bits) {
        writer.push(&format!("\x1b[={flags}u"));
    }
}

fn region(writer: &mut DumpWriter, handler: &TermHandler) {
    let region = &handler.region;
    if *region != (0..rows(handler)) {
        // A region of one row or none is only possible by asking for more rows than there are.
        writer.push(&format!("\x1b[{};{}r", region.start + 1, region.end.max(region.start + 2)));
    }
}

/// Writes the saved cursor, then the cursor; no later mode may move it.
fn cursors(writer: &mut DumpWriter, handler: &TermHandler) {
    let grid = handler.term.grid();
    if grid.saved_cursor != Cursor::default() {
        restore_cursor(writer, grid, &grid.saved_cursor, 0);
        writer.push("\x1b7");
    }
    let is_inside = handler.region.contains(&row(&grid.cursor));
    match (handler.has(TermMode::ORIGIN), is_inside) {
        (false, _) => restore_cursor(writer, grid, &grid.cursor, 0),
        (true, true) => {
            writer.push("\x1b[?6h");
            restore_cursor(writer, grid, &grid.cursor, handler.region.start);
        }
        (true, false) => {
            restore_cursor(writer, grid, &grid.cursor, 0);
            writer.push("\x1b7\x1b[?6h\x1b8");
        }
    }
}

/// Restores a cursor's position, style and charsets. Rows are counted from `top`.
fn restore_cursor(writer: &mut DumpWriter, grid: &Grid<Cell>, cursor: &Cursor<Cell>, top: usize) {
    writer.designate(Charsets::default());
    let row = row(cursor);
    if cursor.input_needs_wrap {
        rows::wait_to_wrap(writer, row - top, rows::cells(grid, row));
    } else {
        writer.goto(row - top, cursor.point.column.0);
    }
    writer.set_style(&cursor.template);
    writer.designate(cursor.charsets);
}

fn modes(writer: &mut DumpWriter, handler: &TermHandler) {
    let at_first = TermMode::default();
    for (mode, number) in MODES {
        if handler.has(mode) != at_first.contains(mode) {
            writer.push(&format!("\x1b[{number}{}", if handler.has(mode) { 'h' } else { 'l' }));
        }
    }
    if handler.has(TermMode::APP_KEYPAD) {
        writer.push("\x1b=");
    }
    if handler.term.cursor_style() != CursorStyle::default() {
        writer.push(&format!("\x1b[{} q", style(handler.term.cursor_style())));
    }
    if handler.charset == CharsetIndex::G1 {
        writer.push("\x0e");
    }
}

/// The DECSCUSR number of a cursor style; the steady one follows the blinking one.
fn style(style: CursorStyle) -> u8 {
    let blinking = match style.shape {
        CursorShape::Underline => 3,
        CursorShape::Beam => 5,
        CursorShape::Block | CursorShape::HollowBlock | CursorShape::Hidden => 1,
    };
    blinking + u8::from(!style.blinking)
}

fn row(cursor: &Cursor<Cell>) -> usize {
    usize::try_from(cursor.point.line.0).unwrap_or(0)
}

fn rows(handler: &TermHandler) -> usize {
    handler.term.grid().screen_lines()
}
