//! What a pane shows, as bytes that draw it on a fresh terminal.

use paned_model::Size;

use super::rows::FormatRow;

/// What is asked of a pane beside its lines.
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

/// How a pane is at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TmuxScreenState {
    pub(super) size: Size,
    /// Whether its program draws on a screen of its own.
    pub(super) alternate: bool,
    /// Where the cursor was before it did, column and row.
    saved: (u32, u32),
    cursor: (u32, u32),
    /// Modes that are on, as they are switched on.
    modes: Vec<&'static str>,
    /// The rows that scroll.
    region: (u16, u16),
}

impl TmuxScreenState {
    pub(super) fn read(row: &mut FormatRow) -> Self {
        let mut number = |or: u32| row.number().unwrap_or(or);
        let (cols, rows) = (number(0), number(0));
        let alternate = number(0) == 1;
        let (saved, cursor) = ((number(0), number(0)), (number(0), number(0)));
        let mut modes = Vec::new();
        let mut mode = |usual: u32, how: &'static str| {
            if number(usual) != usual {
                modes.push(how);
            }
        };
        mode(1, "\x1b[?25l");
        for how in ["\x1b[?1h", "\x1b=", "\x1b[4h"] {
            mode(0, how);
        }
        mode(1, "\x1b[?7l");
        for how in ["\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1006h", "\x1b[?2004h"] {
            mode(0, how);
        }
        let short = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let last = rows.saturating_sub(1);
        let region = (short(number(0)), short(number(last)));
        let size = Size { cols: short(cols), rows: short(rows) };
        Self { size, alternate, saved, cursor, modes, region }
    }
}

/// Draws what has scrolled off, then the screen as it is. `lines` are both; `below` is what a program's own screen
/// lies over.
pub(super) fn draw(lines: &[Vec<u8>], below: &[Vec<u8>], moment: &TmuxScreenState) -> Vec<u8> {
    let rows = usize::from(moment.size.rows);
    let (history, screen) = lines.split_at(lines.len().saturating_sub(rows));
    // Lines drawn with boxes switch to the second set of characters.
    let mut bytes = b"\x1b)0".to_vec();
    for line in history {
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\x1b[m\r\n");
    }
    if moment.alternate {
        draw_screen(&mut bytes, below, moment.saved);
        bytes.extend_from_slice(b"\x1b[?1049h");
    }
    draw_screen(&mut bytes, screen, moment.cursor);
    let (upper, lower) = moment.region;
    if (upper, lower) != (0, moment.size.rows.saturating_sub(1)) {
        bytes.extend_from_slice(format!("\x1b[{};{}r", upper + 1, lower + 1).as_bytes());
        move_to(&mut bytes, moment.cursor);
    }
    moment.modes.iter().for_each(|mode| bytes.extend_from_slice(mode.as_bytes()));
    bytes
}

/// Draws a screen. Empty lines at its end, below the cursor, are not drawn: they would be lines of the log.
fn draw_screen(bytes: &mut Vec<u8>, screen: &[Vec<u8>], cursor: (u32, u32)) {
    // A screen of its own that was never left has no place to go back to.
    let cursor = if cursor.0 == u32::MAX { (0, 0) } else { cursor };
    bytes.extend_from_slice(b"\x1b[H\x1b[2J");
    let text = screen.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    // Down to the cursor, so that what is printed next begins a line of its own where it does here.
    let last = text.max((cursor.1 as usize).saturating_add(1)).min(screen.len());
    for (at, line) in screen[..last].iter().enumerate() {
        if 0 < at {
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\x1b[m");
        // tmux leaves out spaces at the end, as of a prompt, which the log needs before what is typed.
        if let (Ok(row), Some(width)) = (u32::try_from(at), width(line))
            && row == cursor.1
        {
            bytes.extend(std::iter::repeat_n(b' ', (cursor.0 as usize).saturating_sub(width)));
        }
    }
    move_to(bytes, cursor);
}

/// How many columns a line takes, if that is plain to see.
fn width(line: &[u8]) -> Option<usize> {
    let (mut width, mut escape) = (0, false);
    for byte in line {
        match byte {
            0x1b => escape = true,
            b'[' if escape => {}
            b'@'..=b'~' if escape => escape = false,
            _ if escape => {}
            b' '..=b'~' => width += 1,
            _ => return None,
        }
    }
    Some(width)
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
    fn check(moment: &TmuxScreenState, text: &[&str], below: &[&str], expect: &str) {
        let drawn = draw(&lines(text), &lines(below), moment);
        assert_eq!(String::from_utf8(drawn).unwrap(), expect);
    }

    fn moment() -> TmuxScreenState {
        let size = Size { cols: 10, rows: 3 };
        TmuxScreenState { size, cursor: (2, 1), region: (0, 2), ..TmuxScreenState::default() }
    }

    #[test]
    fn what_scrolled_off_comes_first_and_empty_rows_are_not_lines() {
        let expect = "\x1b)0old\x1b[m\r\n\x1b[H\x1b[2Ja\x1b[m\r\n\x1b[1m$\x1b[m \x1b[2;3H";
        check(&moment(), &["old", "a", "\x1b[1m$", ""], &[], expect);
    }

    #[test]
    fn a_screen_of_its_own_lies_over_the_other() {
        let own = TmuxScreenState {
            alternate: true,
            saved: (u32::MAX, u32::MAX),
            modes: vec!["\x1b[?25l"],
            region: (0, 1),
            ..moment()
        };
        let expect = "\x1b)0\x1b[H\x1b[2Jsh\x1b[m\x1b[1;1H\x1b[?1049h\x1b[H\x1b[2Jvi\x1b[m\r\n\x1b[m  \x1b[2;3H\x1b[1;2r\x1b[2;3H\x1b[?25l";
        check(&own, &["vi", "", ""], &["sh", "", ""], expect);
    }
}
