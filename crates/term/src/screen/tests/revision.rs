//! The revision rises with each visible change, and only then.

use super::*;

/// The visible state of a screen, with the colours that its revision covers, too.
pub(super) fn shown(screen: &Screen) -> (ScreenView, StyledScreen) {
    (ScreenView { revision: 0, ..screen.view() }, screen.styled())
}

/// Whether the output, after an `a`, gives the screen another revision.
#[track_caller]
fn check_revision(output: &str, changes: bool) {
    let mut screen = screen("a");
    let before = screen.revision();
    screen.feed(output.as_bytes());
    assert_eq!(before < screen.revision(), changes, "{output:?}");
    assert!(before <= screen.revision());
}

#[test]
fn what_cannot_be_seen_is_no_revision() {
    for output in ["\x07", "\x1b[0m", "\x1b[1;31m", "\x1b[?2026h", "\x1b[c", "\x1b[6n", "\x1b7"] {
        check_revision(output, false);
    }
    for output in ["\x1b[1;2H", "\x1b[?25h", "\x1b]2;", "\x1b[?2026hb", "\x1b(0", "\x1b[>0u"] {
        check_revision(output, false);
    }
}

#[test]
fn what_can_be_seen_is_a_revision() {
    for output in
        ["b", "\n", "\r", "\x1b[H", "\x1b[?25l", "\x1b[?5h", "\x1b]2;t\x07", "\x1b[4 q", "\x1b[>1u"]
    {
        check_revision(output, true);
    }
    for output in ["\x1b]4;1;#123456\x07", "\x1b[?1049h", "\x1b[?2004h", "\x1b=", "\x1bc", "\x1b#8"]
    {
        check_revision(output, true);
    }
    check_revision("\x1b[?2026hb\x1b[?2026l", true);
}

#[test]
fn what_is_taken_back_is_a_revision_too() {
    for (on, off) in [
        ("\x1b[>1u", "\x1b[<u"),
        ("\x1b[?25l", "\x1b[?25h"),
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[?5h", "\x1b[?5l"),
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b=", "\x1b>"),
    ] {
        let mut screen = screen(on);
        let before = screen.revision();
        screen.feed(off.as_bytes());
        assert!(before < screen.revision(), "{off:?}");
    }
}

#[test]
fn a_revision_is_a_position() {
    let mut screen = Screen::new(SMALL);
    screen.set_position(1000);
    screen.feed(b"abc\x1b[0m");
    assert_eq!(screen.revision(), 1003);
    screen.resize(SMALL);
    assert_eq!(screen.revision(), 1003, "it had that size");
    screen.resize(Size { cols: 11, ..SMALL });
    assert_eq!(screen.revision(), 1009);
}
