//! Synchronized updates are drawn at once.

use super::*;

#[test]
fn a_synchronized_update_is_held_until_it_ends_or_is_settled() {
    let mut screen = screen("a\x1b[?2026h");
    let before = screen.revision();
    screen.feed(b"\rb");
    assert_eq!((screen.view().rows[0].as_str(), screen.revision()), ("a", before));
    assert!(screen.is_update_held());
    screen.flush_update();
    assert_eq!(screen.view().rows[0], "b");
    assert!(!screen.is_update_held() && before < screen.revision());
}

#[test]
fn a_synchronized_update_ends_when_the_size_changes() {
    let mut screen = screen("a\x1b[?2026h\rb");
    screen.resize(Size { cols: 11, ..SMALL });
    assert!(!screen.is_update_held());
    screen.feed(b"c");
    assert_eq!(screen.view().rows[0], "bc");
}

#[test]
fn an_endless_update_is_drawn_before_it_ends() {
    let mut screen = screen("\x1b[?2026h");
    for _ in 0..40 {
        screen.feed(&[b'x'; 1 << 16]);
        assert!(screen.pending_bytes() <= 2 << 20);
    }
    assert!(!screen.is_update_held());
    assert_eq!(screen.view().rows[3], "xxxxxxxxxx");
}
