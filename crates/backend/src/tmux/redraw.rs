//! The contents of a pane, as bytes that draw them on a fresh terminal.

use paned_model::Size;
use paned_term::vt::{VtDialect, each_text};

use super::rows::FormatRow;

/// What is queried of a pane beside its lines.
pub(super) const COLUMNS: &[&str] = &[
    "pane_width",
    "pane_height",
    "alternate_on",
    "alternate_saved_x",
    "alternate_saved_y",
    "cursor_x",
    "cursor_y",
    "cursor_flag",
    "keypad_cursor_flag",
    "keypad_flag",
    "insert_flag",
    "wrap_flag",
    "mouse_standard_flag",
    "mouse_button_flag",
    "mouse_all_flag",
    "mouse_sgr_flag",
    "bracket_paste_flag",
    "scroll_region_upper",
    "scroll_region_lower",
];

/// The terminal state of a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TmuxScreenState {
    pub(super) size: Size,
    /// Whether the alternate screen is on.
    pub(super) alternate: bool,
    /// The saved cursor of the normal screen, column and row.
    saved: (u32, u32),
    cursor: (u32, u32),
    /// Modes that differ from the default, as the sequences that set them.
    modes: Vec<&'static str>,
    /// The rows that scroll.
    region: (u16, u16),
}

impl TmuxScreenState {
    pub(super) fn read(row: &mut FormatRow) -> Self {
        let mut number = |or: u32| row.number().unwrap_or(or);
        let cols = number(0);
        let rows = number(0);
        let alternate = number(0) == 1;
        let saved = (number(0), number(0));
        let cursor = (number(0), number(0));
        let mut modes = Vec::new();
        let mut mode = |default: u32, sequence: &'static str| {
            if number(default) != default {
                modes.push(sequence);
            }
        };
        mode(1, "\x1b[?25l");
        for sequence in ["\x1b[?1h", "\x1b=", "\x1b[4h"] {
            mode(0, sequence);
        }
        mode(1, "\x1b[?7l");
        for sequence in ["\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1006h", "\x1b[?2004h"]
        {
            mode(0, sequence);
        }
        let short = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let last = rows.saturating_sub(1);
        let region = (short(number(0)), short(number(last)));
        let size = Size { cols: short(cols), rows: short(rows) };
        Self { size, alternate, saved, cursor, modes, region }
    }
}

/// Draws the scrollback, then the screen. `lines` are both; `covered` is the normal screen below
/// the alternate screen.
pub(super) fn draw(lines: &[Vec<u8>], covered: &[Vec<u8>], state: &TmuxScreenState) -> Vec<u8> {
    let rows = usize::from(state.size.rows);
    let (history, screen) = lines.split_at(lines.len().saturating_sub(rows));
    // Line-drawing characters switch to the G1 character set.
    let mut bytes = b"\x1b)0".to_vec();
    for line in history {
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\x1b[m\r\n");
    }
    if state.alternate {
        draw_screen(&mut bytes, covered, state.saved);
        bytes.extend_from_slice(b"\x1b[?1049h");
    }
    draw_screen(&mut bytes, screen, state.cursor);
    let (upper, lower) = state.region;
    if (upper, lower) != (0, state.size.rows.saturating_sub(1)) {
        bytes.extend_from_slice(format!("\x1b[{};{}r", upper + 1, lower + 1).as_bytes());
        move_to(&mut bytes, state.cursor);
    }
    state.modes.iter().for_each(|mode| bytes.extend_from_slice(mode.as_bytes()));
    bytes
}

/// Draws a screen. Empty lines at its end, below the cursor, are not drawn: they would become lines
/// of the log.
fn draw_screen(bytes: &mut Vec<u8>, screen: &[Vec<u8>], cursor: (u32, u32)) {
    // `u32::MAX` means that tmux has no saved cursor.
    let cursor = if cursor.0 == u32::MAX { (0, 0) } else { cursor };
    bytes.extend_from_slice(b"\x1b[H\x1b[2J");
    let used = screen.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    // Down to the cursor, so that the next output begins a new line where it does in tmux.
    let last = used.max((cursor.1 as usize).saturating_add(1)).min(screen.len());
    for (at, line) in screen[..last].iter().enumerate() {
        if 0 < at {
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\x1b[m");
        // tmux omits trailing spaces, as of a prompt, which the log needs before the typed text.
        if let (Ok(row), Some(width)) = (u32::try_from(at), width(line))
            && row == cursor.1
        {
            bytes.extend(std::iter::repeat_n(b' ', (cursor.0 as usize).saturating_sub(width)));
        }
    }
    move_to(bytes, cursor);
}

/// How many columns a line takes; `None` unless it is printable ASCII and escape sequences.
fn width(line: &[u8]) -> Option<usize> {
    let mut width = Some(0);
    each_text(VtDialect::Screen, line, |text| {
        let is_printable = text.iter().all(|byte| (b' '..=b'~').contains(byte));
        width = width.filter(|_| is_printable).map(|width| width + text.len());
    });
    width
}

fn move_to(bytes: &mut Vec<u8>, (column, row): (u32, u32)) {
    let to = format!("\x1b[{};{}H", row.saturating_add(1), column.saturating_add(1));
    bytes.extend_from_slice(to.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[&str]) -> Vec<Vec<u8>> {
        text.iter().map(|line| line.as_bytes().to_vec()).collect()
    }

    #[track_caller]
    fn check(state: &TmuxScreenState, text: &[&str], covered: &[&str], expect: &str) {
        let drawn = draw(&lines(text), &lines(covered), state);
        assert_eq!(String::from_utf8(drawn).unwrap(), expect);
    }

    fn state() -> TmuxScreenState {
        let size = Size { cols: 10, rows: 3 };
        TmuxScreenState { size, cursor: (2, 1), region: (0, 2), ..TmuxScreenState::default() }
    }

    #[test]
    fn what_scrolled_off_comes_first_and_empty_rows_are_not_lines() {
        let expect = "\x1b)0old\x1b[m\r\n\x1b[H\x1b[2Ja\x1b[m\r\n\x1b[1m$\x1b[m \x1b[2;3H";
        check(&state(), &["old", "a", "\x1b[1m$", ""], &[], expect);
    }

    #[test]
    fn a_screen_of_its_own_lies_over_the_other() {
        let own = TmuxScreenState {
            alternate: true,
            saved: (u32::MAX, u32::MAX),
            modes: vec!["\x1b[?25l"],
            region: (0, 1),
            ..state()
        };
        let expect = "\x1b)0\x1b[H\x1b[2Jsh\x1b[m\x1b[1;1H\x1b[?1049h\x1b[H\x1b[2Jvi\x1b[m\r\n\x1b[m  \x1b[2;3H\x1b[1;2r\x1b[2;3H\x1b[?25l";
        check(&own, &["vi", "", ""], &["sh", "", ""], expect);
    }

    #[test]
    fn the_width_is_that_of_the_text() {
        assert_eq!(width(b"\x1b[1mab\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\"), Some(3));
        assert_eq!(width(b"\x0eqq\x0f"), None);
    }
}
