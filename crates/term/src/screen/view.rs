//! What a person would see: a screen as values, without colours.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::CursorShape;
use paned_model::Size;
use schemars::JsonSchema;
use serde::Serialize;

use super::handler::TermHandler;

/// A screen at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenView {
    /// How large it is.
    pub size: Size,
    /// The text of each row, without the blanks at its end.
    pub rows: Vec<String>,
    /// Where the next character goes.
    pub cursor: Cursor,
    /// What the program calls its window; empty when it has not said.
    pub title: String,
    /// What the program has switched on.
    pub modes: ScreenModes,
    /// Another number for whatever is shown otherwise: it rises with what changes the screen, and goes on rising when the
    /// server is started anew.
    pub revision: u64,
}

/// Where the next character goes, and how that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// The row, from 0 at the top.
    pub row: u16,
    /// The column, from 0 at the left.
    pub col: u16,
    /// Whether it is shown.
    pub visible: bool,
    /// What it looks like.
    pub shape: ScreenCursorShape,
}

/// What a cursor looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScreenCursorShape {
    /// The whole cell.
    Block,
    /// A line under the cell.
    Underline,
    /// A line at the left of the cell.
    Bar,
}

/// The modes that decide what keys, pastes and clicks become, and how the whole screen is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenModes {
    /// Whether the alternate screen is shown.
    pub alternate_screen: bool,
    /// Whether pasted text is to be marked as such.
    pub bracketed_paste: bool,
    /// Whether cursor keys send `ESC O`.
    pub application_cursor: bool,
    /// Whether the keypad sends sequences.
    pub application_keypad: bool,
    /// Whether the program wants to know of focus.
    pub focus_events: bool,
    /// Which mouse events the program wants.
    pub mouse: MouseTracking,
    /// How it wants them written.
    pub mouse_encoding: MouseEncoding,
    /// The flags of the kitty keyboard protocol; 0 is the old keyboard.
    pub kitty_keyboard: u8,
    /// Whether text and background change places on the whole screen. Pictures and `ansi` show it so.
    pub reverse_video: bool,
}

/// Which mouse events a program wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseTracking {
    /// None.
    Off,
    /// Buttons going down and up.
    Click,
    /// And moves while a button is down.
    Drag,
    /// And all other moves.
    Motion,
}

/// How a program wants mouse events written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseEncoding {
    /// One byte per number.
    Bytes,
    /// One character per number.
    Utf8,
    /// Decimal numbers.
    Sgr,
}

/// Looks at a screen.
pub(super) fn view(tap: &TermHandler, revision: u64) -> ScreenView {
    let grid = tap.term.grid();
    let lines = (0..grid.screen_lines()).map(|line| &grid[Line(small(line).into())]);
    ScreenView {
        size: Size { cols: small(grid.columns()), rows: small(grid.screen_lines()) },
        rows: lines.map(|row| text(&row[..])).collect(),
        cursor: cursor(tap),
        title: tap.title.clone(),
        modes: modes(tap),
        revision,
    }
}

/// The rows above a screen, oldest first.
pub(super) fn history(tap: &TermHandler) -> Vec<String> {
    let grid = tap.term.grid();
    let rows = grid.history_size() - tap.history.excess(grid);
    let rows = i32::try_from(rows).unwrap_or(i32::MAX);
    (-rows..0).map(|line| text(&grid[Line(line)][..])).collect()
}

/// How many rows there were before those, if that can be told. The alternate screen has none but its own.
pub(super) fn history_dropped(tap: &TermHandler) -> Option<u64> {
    if tap.has(TermMode::ALT_SCREEN) { Some(0) } else { tap.history.dropped(tap.term.grid()) }
}

fn text(cells: &[Cell]) -> String {
    let mut text = String::with_capacity(cells.len());
    for (_, cell) in text_cells(cells) {
        // A tab stays in the cell it was printed on; the cells it jumped over are blank.
        text.push(if cell.c == '\t' { ' ' } else { cell.c });
        text.extend(cell.zerowidth().unwrap_or_default());
    }
    text
}

/// The cells of a row that are its text, with their columns: without second halves of wide ones and blanks at the end.
pub(super) fn text_cells(cells: &[Cell]) -> impl Iterator<Item = (usize, &Cell)> {
    let is_shown = |cell: &Cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER);
    // Most rows are mostly blank, so the blanks at the end are never made into text.
    let is_ink = |cell: &Cell| {
        !matches!(cell.c, ' ' | '\t') || cell.zerowidth().is_some_and(|marks| !marks.is_empty())
    };
    let end = cells.iter().rposition(|cell| is_ink(cell) && is_shown(cell)).map_or(0, |at| at + 1);
    cells[..end].iter().enumerate().filter(move |(_, cell)| is_shown(cell))
}

fn cursor(tap: &TermHandler) -> Cursor {
    let point = tap.term.grid().cursor.point;
    Cursor {
        row: u16::try_from(point.line.0).unwrap_or(0),
        col: small(point.column.0),
        visible: tap.has(TermMode::SHOW_CURSOR),
        shape: match tap.term.cursor_style().shape {
            CursorShape::Underline => ScreenCursorShape::Underline,
            CursorShape::Beam => ScreenCursorShape::Bar,
            CursorShape::Block | CursorShape::HollowBlock | CursorShape::Hidden => {
                ScreenCursorShape::Block
            }
        },
    }
}

pub(super) fn modes(tap: &TermHandler) -> ScreenModes {
    ScreenModes {
        alternate_screen: tap.has(TermMode::ALT_SCREEN),
        bracketed_paste: tap.has(TermMode::BRACKETED_PASTE),
        application_cursor: tap.has(TermMode::APP_CURSOR),
        application_keypad: tap.has(TermMode::APP_KEYPAD),
        focus_events: tap.has(TermMode::FOCUS_IN_OUT),
        mouse: mouse(tap),
        mouse_encoding: mouse_encoding(tap),
        kitty_keyboard: kitty_keyboard(tap),
        reverse_video: tap.reversed,
    }
}

fn mouse(tap: &TermHandler) -> MouseTracking {
    let wanted = [
        (TermMode::MOUSE_MOTION, MouseTracking::Motion),
        (TermMode::MOUSE_DRAG, MouseTracking::Drag),
        (TermMode::MOUSE_REPORT_CLICK, MouseTracking::Click),
    ];
    wanted
        .into_iter()
        .find(|(mode, _)| tap.has(*mode))
        .map_or(MouseTracking::Off, |(_, mouse)| mouse)
}

fn mouse_encoding(tap: &TermHandler) -> MouseEncoding {
    if tap.has(TermMode::SGR_MOUSE) {
        MouseEncoding::Sgr
    } else if tap.has(TermMode::UTF8_MOUSE) {
        MouseEncoding::Utf8
    } else {
        MouseEncoding::Bytes
    }
}

/// The flags as the protocol numbers them.
pub(super) fn kitty_keyboard(tap: &TermHandler) -> u8 {
    let flags = [
        TermMode::DISAMBIGUATE_ESC_CODES,
        TermMode::REPORT_EVENT_TYPES,
        TermMode::REPORT_ALTERNATE_KEYS,
        TermMode::REPORT_ALL_KEYS_AS_ESC,
        TermMode::REPORT_ASSOCIATED_TEXT,
    ];
    flags.iter().enumerate().map(|(bit, flag)| u8::from(tap.has(*flag)) << bit).sum()
}

/// Sizes came in as `u16`.
fn small(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
