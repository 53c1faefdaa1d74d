//! Escapes text from programs and users, so that it is safe to print.
//!
//! A title or a file name may hold escape sequences that would retitle, recolour or rewrite the
//! reader's terminal. Such characters are printed as `\x1b`, never raw.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes one line of text: what a terminal would interpret is written out.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push(&mut clean, c);
    }
    Cow::Owned(clean)
}

/// Escapes a rendered screen. Its escape sequences are ours and stay, because a cell holds none. A
/// cell may hold characters that change the direction of text.
pub(crate) fn ansi(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| !c.is_ascii() && is_unsafe(c);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) { push(&mut clean, c) } else { clean.push(c) }
    }
    Cow::Owned(clean)
}

/// Escapes JSON text without changing its value: unsafe characters occur inside strings only, and
/// the serialiser has already escaped those below U+0020.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && is_unsafe(c);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            let _ = write!(clean, "\\u{:04x}", u32::from(c));
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// Control characters, line separators, and characters that change the direction of text.
fn is_unsafe(c: char) -> bool {
    let changes_direction =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || changes_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

fn push(clean: &mut String, c: char) {
    let _ = match c {
        '\n' => write!(clean, "\\n"),
        '\r' => write!(clean, "\\r"),
        '\t' => write!(clean, "\\t"),
        c if is_unsafe(c) && c.is_ascii() => write!(clean, "\\x{:02x}", u32::from(c)),
        c if is_unsafe(c) => write!(clean, "\\u{{{:x}}}", u32::from(c)),
        c => write!(clean, "{c}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(line(text), shown);
    }

    #[test]
    fn ordinary_text_is_untouched() {
        check("cargo test — größer 漢字 🦀", "cargo test — größer 漢字 🦀");
    }

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        check("\x1b]0;owned\x07", "\\x1b]0;owned\\x07");
        check("a\r\nb\tc\x7f", "a\\r\\nb\\tc\\x7f");
        check("\u{9b}31m\u{202e}txt", "\\u{9b}31m\\u{202e}txt");
    }

    #[test]
    fn a_picture_keeps_its_colours_and_turns_nothing_around() {
        let shown = ansi("\x1b[31mred\x1b[0m\r\n\u{202e}txt\u{9b}2J");
        assert_eq!(shown, "\x1b[31mred\x1b[0m\r\n\\u{202e}txt\\u{9b}2J");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "title": "\u{9b}2J \x7f \x1b \u{202e}", "n": 1 });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let clean = json(&text);
        assert!(clean.chars().all(|c| c == '\n' || !is_unsafe(c)), "{clean:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&clean).unwrap(), value);
    }
}
