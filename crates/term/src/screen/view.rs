//! What a user would see: a screen as values, without colours.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::CursorShape;
use paned_model::Size;
use schemars::JsonSchema;
use serde::Serialize;

use super::handler::TermHandler;

/// A snapshot of a screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenView {
    /// Its size.
    pub size: Size,
    /// The text of each row, without trailing blanks.
    pub rows: Vec<String>,
    /// The position of the next character.
    pub cursor: Cursor,
    /// The window title that the program has set; empty if none.
    pub title: String,
    /// The modes that the program has set.
    pub modes: ScreenModes,
    /// Identifies the content: it increases with every visible change, and keeps increasing when
    /// the server is restarted.
    pub revision: u64,
}

/// The cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// The row, from 0 at the top.
    pub row: u16,
    /// The column, from 0 at the left.
    pub col: u16,
    /// Whether it is shown.
    pub visible: bool,
    /// Its shape.
    pub shape: ScreenCursorShape,
}

/// The shape of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScreenCursorShape {
    /// The whole cell.
    Block,
    /// A line under the cell.
    Underline,
    /// A line at the left edge of the cell.
    Bar,
}

/// The modes that decide how keys, pastes and clicks are encoded, and how the whole screen is
/// shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenModes {
    /// Whether the alternate screen is shown.
    pub alternate_screen: bool,
    /// Whether pastes are bracketed.
    pub bracketed_paste: bool,
    /// Whether cursor keys send `ESC O`.
    pub application_cursor: bool,
    /// Whether the keypad sends escape sequences.
    pub application_keypad: bool,
    /// Whether the program wants focus events.
    pub focus_events: bool,
    /// Which mouse events the program wants.
    pub mouse: MouseTracking,
    /// How mouse events are encoded.
    pub mouse_encoding: MouseEncoding,
    /// The flags of the kitty keyboard protocol; 0 is the legacy keyboard.
    pub kitty_keyboard: u8,
    /// Whether foreground and background are swapped on the whole screen. Pictures and `ansi`
    /// include this.
    pub reverse_video: bool,
}

/// Which mouse events a program wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseTracking {
    /// None.
    Off,
    /// Button presses and releases.
    Click,
    /// Also motion while a button is pressed.
    Drag,
    /// All motion.
    Motion,
}

/// How mouse events are encoded.
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

/// Takes a snapshot of a screen.
pub(super) fn view(handler: &TermHandler, revision: u64) -> ScreenView {
    let grid = handler.term.grid();
    let lines = (0..grid.screen_lines()).map(|line| &grid[Line(small(line).into())]);
    ScreenView {
        size: Size { cols: small(grid.columns()), rows: small(grid.screen_lines()) },
        rows: lines.map(|row| text(&row[..])).collect(),
        cursor: cursor(handler),
        title: handler.title.clone(),
        modes: modes(handler),
        revision,
    }
}

/// The scrollback rows, oldest first.
pub(super) fn history(handler: &TermHandler) -> Vec<String> {
    let grid = handler.term.grid();
    let rows = grid.history_size() - handler.history.excess(grid);
    let rows = i32::try_from(rows).unwrap_or(i32::MAX);
    (-rows..0).map(|line| text(&grid[Line(line)][..])).collect()
}

/// How many rows were dropped before those, if known. The alternate screen has no scrollback.
pub(super) fn history_dropped(handler: &TermHandler) -> Option<u64> {
    if handler.has(TermMode::ALT_SCREEN) {
        Some(0)
    } else {
        handler.history.dropped(handler.term.grid())
    }
}

fn text(cells: &[Cell]) -> String {
    let mut text = String::with_capacity(cells.len());
    for (_, cell) in text_cells(cells) {
        // A tab stays in the cell it was printed on; the cells it skipped are blank.
        text.push(if cell.c == '\t' { ' ' } else { cell.c });
        text.extend(cell.zerowidth().unwrap_or_default());
    }
    text
}

/// The cells of a row that make up its text, with their columns: without second halves of wide
/// characters and trailing blanks.
pub(super) fn text_cells(cells: &[Cell]) -> impl Iterator<Item = (usize, &Cell)> {
    let is_shown = |cell: &Cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER);
    // Most rows are mostly blank, so trailing blanks are never converted to text.
    let is_filled = |cell: &Cell| {
        !matches!(cell.c, ' ' | '\t') || cell.zerowidth().is_some_and(|marks| !marks.is_empty())
    };
    let end =
        cells.iter().rposition(|cell| is_filled(cell) && is_shown(cell)).map_or(0, |at| at + 1);
    cells[..end].iter().enumerate().filter(move |(_, cell)| is_shown(cell))
}

fn cursor(handler: &TermHandler) -> Cursor {
    let point = handler.term.grid().cursor.point;
    Cursor {
        row: u16::try_from(point.line.0).unwrap_or(0),
        col: small(point.column.0),
        visible: handler.has(TermMode::SHOW_CURSOR),
        shape: match handler.term.cursor_style().shape {
            CursorShape::Underline => ScreenCursorShape::Underline,
            CursorShape::Beam => ScreenCursorShape::Bar,
            CursorShape::Block | CursorShape::HollowBlock | CursorShape::Hidden => {
                ScreenCursorShape::Block
            }
        },
    }
}

pub(super) fn modes(handler: &TermHandler) -> ScreenModes {
    ScreenModes {
        alternate_screen: handler.has(TermMode::ALT_SCREEN),
        bracketed_paste: handler.has(TermMode::BRACKETED_PASTE),
        application_cursor: handler.has(TermMode::APP_CURSOR),
        application_keypad: handler.has(TermMode::APP_KEYPAD),
        focus_events: handler.has(TermMode::FOCUS_IN_OUT),
        mouse: mouse(handler),
        mouse_encoding: mouse_encoding(handler),
        kitty_keyboard: kitty_keyboard(handler),
        reverse_video: handler.reversed,
    }
}

fn mouse(handler: &TermHandler) -> MouseTracking {
    let wanted = [
        (TermMode::MOUSE_MOTION, MouseTracking::Motion),
        (TermMode::MOUSE_DRAG, MouseTracking::Drag),
        (TermMode::MOUSE_REPORT_CLICK, MouseTracking::Click),
    ];
    wanted
        .into_iter()
        .find(|(mode, _)| handler.has(*mode))
        .map_or(MouseTracking::Off, |(_, mouse)| mouse)
}

fn mouse_encoding(handler: &TermHandler) -> MouseEncoding {
    if handler.has(TermMode::SGR_MOUSE) {
        MouseEncoding::Sgr
    } else if handler.has(TermMode::UTF8_MOUSE) {
        MouseEncoding::Utf8
    } else {
        MouseEncoding::Bytes
    }
}

/// The flags with the protocol's bits.
pub(super) fn kitty_keyboard(handler: &TermHandler) -> u8 {
    let flags = [
        TermMode::DISAMBIGUATE_ESC_CODES,
        TermMode::REPORT_EVENT_TYPES,
        TermMode::REPORT_ALTERNATE_KEYS,
        TermMode::REPORT_ALL_KEYS_AS_ESC,
        TermMode::REPORT_ASSOCIATED_TEXT,
    ];
    flags.iter().enumerate().map(|(bit, flag)| u8::from(handler.has(*flag)) << bit).sum()
}

/// Sizes came in as `u16`.
fn small(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
