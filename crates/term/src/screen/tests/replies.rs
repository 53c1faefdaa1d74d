//! What a screen answers to the program's queries.

use super::*;

/// The screen's replies, with `^` for ESC.
#[track_caller]
fn check_replies(output: &str, expect: &str) {
    let mut screen = screen(output);
    let replies = String::from_utf8(screen.take_replies()).unwrap();
    assert_eq!(replies.replace('\x1b', "^"), expect, "{output:?}");
    assert_eq!(screen.take_replies(), b"");
}

#[test]
fn questions_are_answered() {
    check_replies("\x1b[c", "^[?6c");
    check_replies("ab\x1b[6n\x1b[5n", "^[1;3R^[0n");
    check_replies("\x1b[?u\x1b[?2004$p", "^[?0u^[?2004;2$y");
    check_replies("\x1b[?5$p\x1b[?5h\x1b[?5$p", "^[?5;2$y^[?5;1$y");
    check_replies("\x1b[14t\x1b[18t", "^[4;64;80t^[8;4;10t");
}

#[test]
fn colours_are_answered_as_they_are_at_the_question() {
    check_replies("\x1b]11;?\x07", "^]11;rgb:1414/1616/1b1b\x07");
    check_replies(
        "\x1b]4;1;#123456\x07\x1b]4;1;?\x1b\\\x1b]104\x07",
        "^]4;1;rgb:1212/3434/5656^\\",
    );
}

#[test]
fn clipboard_and_title_are_never_told() {
    check_replies("\x1b]52;c;aGk=\x07\x1b]52;c;?\x07\x1b]2;x\x07\x1b[21t\x1b[20t", "");
}

#[test]
fn the_program_status_protocol_is_announced_in_order() {
    check_replies("a\x1b]7501;?\x1b\\\x1b[5n", "^]7501;?^\\^[0n");
    check_replies("\x1b[5n\x1b[?2026h\x1b]7501;?\x07\x1b[?2026l", "^[0n^]7501;?\x07");
    for other in ["7501;state=idle", "7501;?x", "750;?", "7501", "7501;??", "17501;?"] {
        check_replies(&format!("\x1b]{other}\x1b\\\x1b]{other}\x07"), "");
    }
    check_replies("\x1b]7501;?\x18\x1b]2;7501;?\x07\x1bP7501;?\x1b\\", "");
    let output = b"\x1b]7501;?\x1b\\";
    for cut in 0..output.len() {
        let mut screen = Screen::new(SMALL);
        screen.feed(&output[..cut]);
        screen.feed(&output[cut..]);
        assert_eq!(screen.take_replies(), output, "cut at {cut}");
    }
}

#[test]
fn replies_nobody_takes_are_bounded() {
    let mut screen = screen(&"\x1b[c".repeat(50_000));
    assert!(screen.take_replies().len() <= 64 << 10);
}
