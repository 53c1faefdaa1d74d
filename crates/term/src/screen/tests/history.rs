//! Rows that scroll off the screen.

use super::*;

#[test]
fn rows_that_scroll_off_are_kept_where_that_is_asked_for() {
    let size = Size { cols: 20, rows: 3 };
    let lines: String = (1..=8).map(|n| format!("line {n}\r\n")).collect();
    let mut screen = Screen::with_history(size, 4);
    screen.feed(lines.as_bytes());
    assert_eq!(screen.history(), ["line 3", "line 4", "line 5", "line 6"]);
    assert_eq!(screen.view().rows, ["line 7", "line 8", ""]);
    let mut usual = Screen::new(size);
    usual.feed(lines.as_bytes());
    assert_eq!((usual.history(), usual.view().rows), (Vec::new(), screen.view().rows));
    screen.feed(b"\x1b[?1049hmenu");
    assert_eq!(screen.history(), Vec::<String>::new(), "the other screen has none");
}

/// A screen of 3 rows that keeps 4 rows of scrollback reports how many were before those.
#[track_caller]
fn check_gone(steps: &[(&str, usize)], resize: Option<Size>, expect: Option<u64>) {
    let mut screen = Screen::with_history(Size { cols: 20, rows: 3 }, 4);
    for (text, count) in steps {
        screen.feed(text.repeat(*count).as_bytes());
    }
    if let Some(size) = resize {
        screen.resize(size);
    }
    assert_eq!(screen.history_dropped(), expect, "{steps:?}");
}

#[test]
fn rows_that_are_no_longer_kept_are_counted() {
    let line = ("line\r\n", 8);
    check_gone(&[("line\r\n", 6)], None, Some(0));
    check_gone(&[line], None, Some(2));
    check_gone(&[("line\r\n", 50_000)], None, Some(50_000 - 6));
    check_gone(&[("x", 20 * 3000)], None, Some(3000 - 3 - 4));
    check_gone(&[("1\r\n2\r\n3\x1b[2J\x1b[H", 2000)], None, Some(3 * 2000 - 4));
    check_gone(&[("\x1b[3S", 9000)], None, Some(3 * 9000 - 4));
    check_gone(&[line, ("\x1b[3J", 1)], None, Some(6));
    check_gone(&[line, ("\x1bc", 1), line], None, Some(6 + 2));
    check_gone(&[line, ("\x1b[?1049h", 1), ("line\r\n", 9), ("\x1b[?1049l", 1)], None, Some(2));
    check_gone(&[line, ("\x1b[2;3r\x1b[3H", 1), ("line\r\n", 9)], None, Some(2));
}

#[test]
fn rows_that_nobody_could_count_are_not_counted() {
    let size = |cols, rows| Some(Size { cols, rows });
    let many = [("line\r\n", 5000)];
    check_gone(&many, size(20, 2), Some(5000 - 5));
    check_gone(&many, size(9, 3), None);
    check_gone(&[("x\x1b[65535b", 3)], None, None);
}
