//! Escapes in what a model types. Pure.

/// How many characters of an input are shown again.
const PREVIEW_CHARS: usize = 50;

/// The text with its escapes replaced: `\n`, `\r`, `\t`, `\\`, `\xNN` and `\uNNNN`. Everything else
/// stays as it is.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (decoded, len) = escape(after).unwrap_or(('\\', 0));
        out.push(decoded);
        rest = &after[len..];
    }
    out.push_str(rest);
    out
}

/// What an escape stands for, and how long it is after its backslash.
fn escape(after: &str) -> Option<(char, usize)> {
    let kind = after.chars().next()?;
    Some(match kind {
        'n' => ('\n', 1),
        'r' => ('\r', 1),
        't' => ('\t', 1),
        '\\' => ('\\', 1),
        'x' => (hex(after, 2)?, 3),
        'u' => (hex(after, 4)?, 5),
        _ => return None,
    })
}

/// The character with this number, which has as many digits.
fn hex(after: &str, digits: usize) -> Option<char> {
    let digits = after.get(1..=digits)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)
}

/// What was typed, in one line, with control characters made visible.
pub(super) fn preview(text: &str) -> String {
    let mut shown: String = text.chars().take(PREVIEW_CHARS).collect();
    if PREVIEW_CHARS < text.chars().count() {
        shown.push_str("...");
    }
    let shown = shown.replace('\x03', "^C").replace('\x04', "^D");
    let shown = shown.replace('\n', "\\n").replace('\r', "\\r");
    shown.chars().map(|c| if c.is_control() { '\u{b7}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(unescape(text), expect, "{text:?}");
    }

    #[test]
    fn the_escapes_that_there_are_are_replaced() {
        check(r"a\nb\rc\td\\e", "a\nb\rc\td\\e");
        check(r"\x03\x1b[A\u0041", "\x03\x1b[AA");
        check(r"\xe9", "\u{e9}");
        check(r"\\n", "\\n");
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in
            [r"\d", r"\x4", r"\xZZ", r"\u12", r"\ud800", r"\x+1", "\\", r"a\", "\u{e4}\\\u{e4}"]
        {
            check(text, text);
        }
        check("\n\r", "\n\r");
    }

    #[test]
    fn what_was_typed_is_shown_in_one_short_line() {
        assert_eq!(preview("ls\r"), "ls\\r");
        assert_eq!(preview("\x03\x04\n"), "^C^D\\n");
        assert_eq!(preview(&"x".repeat(51)), format!("{}...", "x".repeat(50)));
    }
}
