//! Writes a whole screen as the escape bytes that draw it on a fresh one.
//!
//! What no bytes can bring `alacritty_terminal` to is not in it: the saved cursor of the screen that is not
//! shown; the saved cursor while the cursor stands outside the region in origin mode; the character that
//! `CSI b` would repeat; marks on spacers; and the few rows that `cell_groups::is_unreachable` names.

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

/// The modes that do nothing but be on or off, in the order in which they are switched.
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

/// What a dump does not bring back, though it may be seen or matter later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpLoss {
    /// Cells that no bytes make.
    Cells,
    /// The saved cursor: it takes the only way to a place outside the region in origin mode.
    SavedCursor,
}

/// See [`Screen::loss`](super::Screen::loss).
pub(super) fn loss(tap: &TermHandler) -> Option<DumpLoss> {
    let grids = [Some(tap.term.grid()), tap.primary.as_ref()];
    let is_lost = |grid: &Grid<Cell>| {
        let last = grid.screen_lines() - 1;
        (0..=last).any(|row| is_unreachable(rows::cells(grid, row), row == last))
    };
    if grids.into_iter().flatten().any(is_lost) {
        return Some(DumpLoss::Cells);
    }
    let is_inside = tap.region.contains(&row(&tap.term.grid().cursor));
    (tap.has(TermMode::ORIGIN) && !is_inside).then_some(DumpLoss::SavedCursor)
}

/// See [`Screen::dump`](super::Screen::dump).
pub(super) fn dump(tap: &TermHandler) -> Vec<u8> {
    let mut pen = DumpWriter::default();
    let [shown, hidden] = &tap.pushed;
    titles(&mut pen, tap);
    palette(&mut pen, tap);
    tabs(&mut pen, tap);
    if let Some(primary) = &tap.primary {
        rows::write(&mut pen, primary);
        restore_cursor(&mut pen, primary, &primary.cursor, 0);
        push_keyboard(&mut pen, hidden);
        // The alternate screen starts with the cursor of the primary one, its look and its charsets.
        pen.push("\x1b[?1049h");
        pen.reset_style();
        pen.designate(Charsets::default());
        pen.push("\x1b[2J");
    }
    rows::write(&mut pen, tap.term.grid());
    push_keyboard(&mut pen, shown);
    keyboard(&mut pen, tap);
    region(&mut pen, tap);
    cursors(&mut pen, tap);
    modes(&mut pen, tap);
    if tap.reversed {
        pen.push("\x1b[?5h");
    }
    pen.finish()
}

fn titles(pen: &mut DumpWriter, tap: &TermHandler) {
    for title in &tap.titles {
        pen.push(&format!("\x1b]2;{title}\x1b\\\x1b[22t"));
    }
    if !tap.title.is_empty() || !tap.titles.is_empty() {
        pen.push(&format!("\x1b]2;{}\x1b\\", tap.title));
    }
}

fn palette(pen: &mut DumpWriter, tap: &TermHandler) {
    let colours = tap.term.colors();
    for (index, colour) in (0..COUNT).filter_map(|index| Some((index, colours[index]?))) {
        let Rgb { r, g, b } = colour;
        let name = if index < 256 { format!("4;{index}") } else { (index - 246).to_string() };
        pen.push(&format!("\x1b]{name};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"));
    }
}

fn tabs(pen: &mut DumpWriter, tap: &TermHandler) {
    if tap.tabs.iter().enumerate().all(|(col, stop)| *stop == (col % 8 == 0)) {
        return;
    }
    pen.push("\x1b[3g");
    for (col, _) in tap.tabs.iter().enumerate().filter(|(_, stop)| **stop) {
        pen.goto(0, col);
        pen.push("\x1bH");
    }
    pen.goto(0, 0);
}

fn push_keyboard(pen: &mut DumpWriter, pushed: &[KeyboardModes]) {
    for mode in pushed {
        pen.push(&format!("\x1b[>{}u", mode.bits()));
    }
}

/// `CSI = u` changes the flags without changing what was pushed.
fn keyboard(pen: &mut DumpWriter, tap: &TermHandler) {
    let [shown, _] = &tap.pushed;
    let flags = kitty_keyboard(tap);
    if flags != shown.last().map_or(0, KeyboardModes::bits) {
        pen.push(&format!("\x1b[={flags}u"));
    }
}

fn region(pen: &mut DumpWriter, tap: &TermHandler) {
    let region = &tap.region;
    if *region != (0..rows(tap)) {
        // One row, or none, can only be had by asking for more than there are.
        pen.push(&format!("\x1b[{};{}r", region.start + 1, region.end.max(region.start + 2)));
    }
}

/// The saved cursor, then the cursor, which no mode may move any more.
fn cursors(pen: &mut DumpWriter, tap: &TermHandler) {
    let grid = tap.term.grid();
    if grid.saved_cursor != Cursor::default() {
        restore_cursor(pen, grid, &grid.saved_cursor, 0);
        pen.push("\x1b7");
    }
    let is_inside = tap.region.contains(&row(&grid.cursor));
    match (tap.has(TermMode::ORIGIN), is_inside) {
        (false, _) => restore_cursor(pen, grid, &grid.cursor, 0),
        (true, true) => {
            pen.push("\x1b[?6h");
            restore_cursor(pen, grid, &grid.cursor, tap.region.start);
        }
        (true, false) => {
            restore_cursor(pen, grid, &grid.cursor, 0);
            pen.push("\x1b7\x1b[?6h\x1b8");
        }
    }
}

/// Puts a cursor where it was, with its look and charsets. Rows are counted from `top`.
fn restore_cursor(pen: &mut DumpWriter, grid: &Grid<Cell>, cursor: &Cursor<Cell>, top: usize) {
    pen.designate(Charsets::default());
    let row = row(cursor);
    if cursor.input_needs_wrap {
        rows::wait_to_wrap(pen, row - top, rows::cells(grid, row));
    } else {
        pen.goto(row - top, cursor.point.column.0);
    }
    pen.set_style(&cursor.template);
    pen.designate(cursor.charsets);
}

fn modes(pen: &mut DumpWriter, tap: &TermHandler) {
    let at_first = TermMode::default();
    for (mode, number) in MODES {
        if tap.has(mode) != at_first.contains(mode) {
            pen.push(&format!("\x1b[{number}{}", if tap.has(mode) { 'h' } else { 'l' }));
        }
    }
    if tap.has(TermMode::APP_KEYPAD) {
        pen.push("\x1b=");
    }
    if tap.term.cursor_style() != CursorStyle::default() {
        pen.push(&format!("\x1b[{} q", style(tap.term.cursor_style())));
    }
    if tap.charset == CharsetIndex::G1 {
        pen.push("\x0e");
    }
}

/// The number of a cursor's style; the steady one follows the blinking one.
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

fn rows(tap: &TermHandler) -> usize {
    tap.term.grid().screen_lines()
}
