//! Output in, views and dumps out; and the properties that hold for every output.

mod generators;
mod history;
mod properties;
mod replies;
mod revision;
mod updates;

use super::*;
pub(super) use generators::{sequence, size, text};

const SMALL: Size = Size { cols: 10, rows: 4 };

fn screen(output: &str) -> Screen {
    let mut screen = Screen::new(SMALL);
    screen.feed(output.as_bytes());
    screen
}

/// The rows of a screen of ten columns and four rows, joined by `|`, without empty ones at the end.
#[track_caller]
fn check(output: &str, expect: &str) {
    let rows = screen(output).view().rows.join("|");
    assert_eq!(rows.trim_end_matches('|'), expect, "{output:?}");
}

#[test]
fn a_title_as_screen_and_tmux_have_it_is_not_drawn_however_it_is_cut() {
    let output = b"a\x1bkti\xc3\xa9le\x1b\\b\x1b[1mk";
    for cut in 0..output.len() {
        let mut screen = Screen::new(SMALL);
        screen.feed(&output[..cut]);
        screen.feed(&output[cut..]);
        assert_eq!(screen.view().rows[0], "abk", "cut at {cut}");
    }
}

#[test]
fn rows_are_text_without_blanks_at_the_end() {
    check("a  b  \r\n\r\n  c", "a  b||  c");
    check("a\tb\x1b[41m   ", "a       b");
    check("a\t", "a");
    // Blanks that are a link are blanks; one that carries a mark is not.
    check("a\x1b]8;;http://x\x07  \x1b]8;;\x07", "a");
    check("a \u{301}  ", "a \u{301}");
}

#[test]
fn each_character_of_a_row_is_drawn_somehow() {
    let screen = screen("a\x1b[2mb\x1b[0m日e\u{301}\t\x1b[1mx  \r\n\r\n本");
    let drawn = screen.char_styles(|look| (look.dim, look.bold));
    let counts: Vec<_> = screen.view().rows.iter().map(|row| row.chars().count()).collect();
    assert_eq!(drawn.iter().map(Vec::len).collect::<Vec<_>>(), counts);
    let first: Vec<_> = drawn[0].iter().map(|(col, _)| *col).collect();
    assert_eq!(first, [0, 1, 2, 4, 4, 5, 6, 7, 8]);
    let dim: Vec<_> = drawn[0].iter().filter(|(_, (dim, _))| *dim).collect();
    assert_eq!(dim, [&(1, (true, false))]);
    assert_eq!(drawn[0].last(), Some(&(8, (false, true))));
}

#[test]
fn wide_characters_come_once_and_marks_stay() {
    check("日本e\u{301}x", "日本e\u{301}x");
    check("123456789日", "123456789|日");
}

#[test]
fn half_a_wide_character_is_a_blank_and_no_column_is_lost() {
    check("日本wx\r\x1b[X", "  本wx");
    check("日本wx\x1b[1;2H\x1b[X", "  本wx");
    check("日本wx\x1b[1;2H\x1b[2X", "    wx");
    check("日本wx\x1b[1;2H\x1b[K", "");
    check("日本wx\x1b[1;3H\x1b[1K", "    wx");
    check("日本wx\x1b[1;2H\x1b[P", " 本wx");
    check("日本wx\x1b[1;2H\x1b[2P", "  wx");
    check("日本wx\x1b[1;2H\x1b[@", "   本wx");
    check("日本wx\x1b[1;2H\x1b[4hz", " z 本wx");
    check("日本1234日\r\x1b[@", " 日本1234");
    check("日本1234日\r\x1b[4hz", "z日本1234");
    check("日本wx\x1b[1;2H\x1b[J", "");
    check("日本wx\r\n\x1b[1;3H\x1b[1J", "    wx");
    // A cell that was left free for a wide character is a column like others.
    check("123456789日\x1b[1;1H\x1b[2P", "3456789|日");
    check("123456789日\x1b[1;1H\x1b[2P\x1b[1;9Hx", "3456789 x|日");
}

#[test]
fn what_the_emulator_has_otherwise_than_terminals_is_put_right() {
    check("one\r\ntwo\x1b[1Jx", "|   x");
    check("0123456789\x1b[2P", "012345678");
    check("ab\x1b[?6lx", "xb");
}

#[test]
fn the_view_tells_cursor_title_and_modes() {
    let view = screen(
        "\x1b]0;hi\x07\x1b[?25l\x1b[2;3H\x1b[5 q\x1b[?5;1049;2004;1;1004;1003;1006h\x1b=\x1b[>5u",
    )
    .view();
    assert_eq!(
        view.cursor,
        view::Cursor { row: 1, col: 2, visible: false, shape: view::ScreenCursorShape::Bar }
    );
    assert_eq!(view.title, "hi");
    let modes = view::ScreenModes {
        alternate_screen: true,
        bracketed_paste: true,
        application_cursor: true,
        application_keypad: true,
        focus_events: true,
        mouse: view::MouseTracking::Motion,
        mouse_encoding: view::MouseEncoding::Sgr,
        kitty_keyboard: 5,
        reverse_video: true,
    };
    assert_eq!(view.modes, modes);
}

#[test]
fn the_smallest_screens_do_not_hang() {
    let mut screen = screen("日本日本日本");
    screen.resize(Size { cols: 1, rows: 0 });
    assert_eq!(screen.view().size, Size { cols: 2, rows: 1 });
}

#[test]
fn a_flood_of_pushes_does_no_harm() {
    let mut screen = screen(&"\x1b[>1u\x1b[22t".repeat(5000));
    screen.feed(b"\x1b[>3u");
    assert_eq!(screen.view().modes.kitty_keyboard, 3);
}

#[test]
fn an_endless_string_is_given_up() {
    let mut screen = screen("\x1b]2;");
    for _ in 0..40 {
        screen.feed(&[b'x'; 1 << 15]);
    }
    screen.feed(b"\r\nhello");
    assert_eq!(screen.view().rows[3], "hello");
}

#[test]
fn a_title_pushed_before_comes_back_after_a_dump() {
    let mut again = Screen::new(SMALL);
    again.feed(&screen("\x1b]2;a\x07\x1b[22t\x1b]2;b\x07").dump());
    again.feed(b"\x1b[23t");
    assert_eq!(again.view().title, "a");
}

/// A screen is shared between tasks behind a lock.
#[test]
fn a_screen_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<Screen>();
}
