//! Strips escape sequences from terminal text. Carriage returns stay. Pure.

use std::iter::Peekable;
use std::str::Chars;

const ESC: char = '\x1b';
const BEL: char = '\x07';
const CAN: char = '\x18';
const SUB: char = '\x1a';
const ST: char = '\u{9c}';
/// What ends a control string.
const ENDS: [char; 7] = [BEL, CAN, SUB, ESC, ST, '\r', '\n'];

/// The text without escape sequences.
pub(super) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ESC => escape(&mut rest),
            '\u{9b}' => control(&mut rest),
            c => out.push(c),
        }
    }
    out
}

/// Skips what follows an escape.
fn escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.next() {
        Some('[') => control(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => string(rest),
        // Intermediates and a final byte, as in `ESC ( B`.
        Some(' '..='/') => while rest.next().is_some_and(|c| (' '..='/').contains(&c)) {},
        Some(_) | None => {}
    }
}

/// Skips a control sequence: parameters, intermediates, a final byte.
fn control(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
    rest.next_if(|c| ('@'..='~').contains(c));
}

/// Skips a control string up to its terminator. One without a terminator ends with its line, or
/// where another sequence begins.
fn string(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| !ENDS.contains(c)).is_some() {}
    match rest.peek() {
        Some(&(BEL | ST | CAN | SUB)) => drop(rest.next()),
        Some(&ESC) => {
            let mut ahead = rest.clone();
            ahead.next();
            if ahead.next_if_eq(&'\\').is_some() {
                *rest = ahead;
            }
        }
        Some(_) | None => {}
    }
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
