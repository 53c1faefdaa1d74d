//! Strips escape sequences from terminal text. Carriage returns stay. Pure.

use paned_term::vt::{VtDialect, each_text};

const LINE_ENDS: [char; 2] = ['\r', '\n'];

/// The text without escape sequences. One without an end goes no further than its line, as the text
/// may begin or break off anywhere.
pub(super) fn strip(text: &str) -> String {
    // The terminator of strings as a C1 control.
    let text = text.replace('\u{9c}', "\x1b\\");
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(LINE_ENDS) {
        let (line, end) = line.split_at(line.trim_end_matches(LINE_ENDS).len());
        each_text(VtDialect::AnyTerminal, line.as_bytes(), |text| out.extend(text));
        out.extend(end.as_bytes());
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(strip(text), expect, "{text:?}");
    }

    #[test]
    fn sequences_go_and_text_stays() {
        check("a\x1b[1;31mb\x1b[0mc", "abc");
        check("a\x1b]0;title\x07b", "ab");
        check("a\x1b]8;;http://x\x1b\\b", "ab");
        check("a\x1b(Bb\x1b7c\x1b[?25ld", "abcd");
        check("a\x1bPq#0\x1b\\b", "ab");
    }

    #[test]
    fn line_ends_and_other_characters_stay() {
        check("a\r\nb\tc\u{e4}", "a\r\nb\tc\u{e4}");
    }

    #[test]
    fn a_sequence_that_breaks_off_takes_nothing_with_it() {
        for text in ["a\x1b", "a\x1b[", "a\x1b[1", "a\x1b]0;x", "a\x1b("] {
            check(text, "a");
        }
        check("a\x1b[1\nb", "a\nb");
        check("a\x1b]0;x\r\nb\r\n", "a\r\nb\r\n");
        check("a\x1bPx\x18b\x1b_y\x1ac", "abc");
        check("a\x1b]0;x\x1b[31mb\x1b]0;y\x1b\\c", "abc");
        check("a\x1b]0;x\u{9c}b", "ab");
    }
}
