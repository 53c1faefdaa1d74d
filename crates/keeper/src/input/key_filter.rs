//! Tells user input from the reports that a terminal sends by itself.
//!
//! A terminal sends focus events, mouse events and answers to queries on the same stream as keys.
//! They change no text, and counted as input they would make every pane that a user only views look
//! typed into.
//!
//! The server learns which keys a user pressed, so that it knows of an Enter before the program
//! shows it. It never learns the text, which may be a password.

/// At most this many bytes of keys are reported for one write: the first ones.
const MAX_KEYS: usize = 1024;
/// Stands for a run of text.
const TEXT_PLACEHOLDER: u8 = b'*';
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// The input of one client.
#[derive(Debug, Default)]
pub(crate) struct KeyFilter {
    /// Whether a paste has begun and not ended.
    pasting: bool,
}

impl KeyFilter {
    /// The keys that were pressed, as they were sent. Each run of text, typed or pasted, is a star.
    pub(crate) fn keys_pressed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut keys = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let used = self.next(rest, &mut keys);
            rest = &rest[used..];
        }
        keys.truncate(MAX_KEYS);
        keys
    }

    /// Handles the report, paste mark or key that these bytes begin with; answers its length.
    fn next(&mut self, rest: &[u8], keys: &mut Vec<u8>) -> usize {
        if let Some(length) = report_len(rest) {
            return length;
        }
        for (mark, begins) in [(PASTE_START, true), (PASTE_END, false)] {
            if rest.starts_with(mark) {
                self.pasting = begins;
                keys.extend(mark);
                return mark.len();
            }
        }
        let length = if self.pasting { 1 } else { key_len(rest) };
        let key = &rest[..length];
        if self.pasting || is_text_key(key) {
            if keys.last() != Some(&TEXT_PLACEHOLDER) {
                keys.push(TEXT_PLACEHOLDER);
            }
        } else {
            keys.extend(key);
        }
        length
    }
}

/// How long the key is that these bytes begin with.
fn key_len(bytes: &[u8]) -> usize {
    let length = match bytes {
        [0x1b, b'[', rest @ ..] => {
            let last = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            last.map_or(bytes.len(), |last| last + 3)
        }
        [0x1b, b'O', ..] => 3,
        [0x1b, second, ..] if *second != 0x1b => 2,
        _ => 1,
    };
    length.min(bytes.len())
}

/// Whether a key enters text.
fn is_text_key(key: &[u8]) -> bool {
    match key {
        // Keys with their number, as programs may ask for: `97;1u`, or the older `27;1;97~`.
        [0x1b, b'[', numbers @ .., b'u'] => is_text_key_code(numbers),
        [0x1b, b'[', b'2', b'7', b';', numbers @ .., b'~'] => {
            let at = numbers.iter().position(|byte| *byte == b';');
            at.is_none_or(|at| {
                is_text_key_code(&[&numbers[at + 1..], b";", &numbers[..at]].concat())
            })
        }
        [0x1b, b'[', ..] | [0x1b, b'O', _] => false,
        [0x1b] | [0x1b, 0..0x20 | 0x7f] => false,
        [0x1b, ..] => true,
        [byte, ..] => 0x20 <= *byte && *byte != 0x7f,
        [] => false,
    }
}

/// Whether a key's number is that of a letter, rather than of a key like Enter or of a letter with
/// ctrl.
fn is_text_key_code(numbers: &[u8]) -> bool {
    let mut fields = numbers.split(|byte| *byte == b';').map(number);
    let key = fields.next().flatten();
    let modifiers = fields.next().flatten().unwrap_or(1);
    let is_with_ctrl = modifiers.saturating_sub(1) & 4 != 0;
    !is_with_ctrl && key.is_none_or(|key| !matches!(key, 0..0x20 | 0x7f | 57_344..=63_743))
}

/// The number in a field, up to its first colon.
fn number(field: &[u8]) -> Option<u32> {
    let digits = field.split(|byte| *byte == b':').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Whether any of this was typed, rather than reported by a terminal.
pub(crate) fn has_typed_input(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        match report_len(rest) {
            Some(length) => rest = &rest[length..],
            None => return true,
        }
    }
    false
}

/// How long the report is that these bytes begin with.
fn report_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x1b, b'[', rest @ ..] => csi_report_len(rest).map(|length| length + 2),
        // An answer about colours or names, up to its end.
        [0x1b, b']' | b'P' | b'_', rest @ ..] => string_len(rest).map(|length| length + 2),
        _ => None,
    }
}

/// A report that begins with a control sequence: focus, mouse, position, what the terminal is and
/// can do.
fn csi_report_len(rest: &[u8]) -> Option<usize> {
    // The old mouse report has three bytes after it.
    if let [b'M', _, _, _, ..] = rest {
        return Some(4);
    }
    let at = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
    let parameters = &rest[..at];
    let last = rest[at];
    let first = parameters.first().copied();
    let is_report = match last {
        b'I' | b'O' => parameters.is_empty(),
        b'M' | b'm' => first == Some(b'<'),
        b'u' => first == Some(b'?'),
        b'R' => parameters.contains(&b';') || first == Some(b'?'),
        b'c' | b'n' | b't' => !parameters.is_empty(),
        b'y' => parameters.ends_with(b"$"),
        _ => false,
    };
    is_report.then_some(at + 1)
}

/// The length of a control string (OSC, DCS, APC), with its terminator.
fn string_len(rest: &[u8]) -> Option<usize> {
    let bell = rest.iter().position(|byte| *byte == 7).map(|at| at + 1);
    let mark = rest.windows(2).position(|pair| pair == b"\x1b\\").map(|at| at + 2);
    [bell, mark].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_typed() {
        for keys in
            ["a", "\r", "\x1b", "\x1b[A", "\x1bOP", "\x1b[97;5u", "\x1b[200~x\x1b[201~", "\x1b[M"]
        {
            assert!(has_typed_input(keys.as_bytes()), "{keys:?}");
        }
        assert!(has_typed_input(b"\x1b[Ia"), "a key after a report is a key");
        assert!(has_typed_input(b"\x1b]11;rgb:0"), "what never ends is no report");
    }

    #[test]
    fn reports_are_not() {
        for report in [
            "",
            "\x1b[I",
            "\x1b[O",
            "\x1b[<0;3;4M\x1b[<0;3;4m",
            "\x1b[M !!",
            "\x1b[?62;22c",
            "\x1b[12;40R",
            "\x1b[0n",
            "\x1b[?2026;2$y",
            "\x1b[?1u",
            "\x1b]11;rgb:0/0/0\x07",
            "\x1bP>|x\x1b\\\x1b[I",
        ] {
            assert!(!has_typed_input(report.as_bytes()), "{report:?}");
        }
    }

    #[track_caller]
    fn check(typed: &[&str], pressed: &[&str]) {
        let mut filter = KeyFilter::default();
        let reported = typed.iter().map(|piece| filter.keys_pressed(piece.as_bytes()));
        let reported: Vec<_> = reported.map(|keys| String::from_utf8(keys).unwrap()).collect();
        assert_eq!(reported, pressed, "{typed:?}");
    }

    #[test]
    fn keys_are_told_and_words_are_not() {
        check(&["secret\r", "né\x7f"], &["*\r", "*\x7f"]);
        check(
            &["\x1b[A\x03", "\x1b", "\x1b\x1b", "\x1bOP"],
            &["\x1b[A\x03", "\x1b", "\x1b\x1b", "\x1bOP"],
        );
        check(&["\x1bx", "\x1b\r"], &["*", "\x1b\r"]);
        check(&["\x1b[Ia\x1b[<0;3;4M\r"], &["*\r"]);
        check(&["\x1b[12"], &["\x1b[12"]);
    }

    #[test]
    fn a_return_in_a_paste_is_text() {
        check(&["\x1b[200~a\rb", "c\r\x03", "\x1b[201~\r"], &["\x1b[200~*", "*", "\x1b[201~\r"]);
    }

    #[test]
    fn keys_by_number_are_told_and_letters_are_not() {
        check(
            &["\x1b[13u", "\x1b[27;1u", "\x1b[57358;1:3u"],
            &["\x1b[13u", "\x1b[27;1u", "\x1b[57358;1:3u"],
        );
        check(&["\x1b[97u\x1b[115;2:1;83u", "\x1b[97;1:3u"], &["*", "*"]);
        check(&["\x1b[99;5u", "\x1b[27;5;99~"], &["\x1b[99;5u", "\x1b[27;5;99~"]);
        check(&["\x1b[27;2;97~", "\x1b[27;2;13~", "\x1b[u"], &["*", "\x1b[27;2;13~", "*"]);
    }

    #[test]
    fn much_is_told_in_part() {
        check(&[&"a\r".repeat(MAX_KEYS)], &[&"*\r".repeat(MAX_KEYS / 2)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            has_typed_input(&bytes);
        }

        /// No typed text is reported, apart from letters in key sequences.
        #[test]
        fn no_word_is_told(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let reported = KeyFilter::default().keys_pressed(&bytes);
            let mut rest = reported.as_slice();
            while !rest.is_empty() {
                let length = key_len(rest);
                // Esc and text after it look like a letter with alt.
                let key = rest[..length].strip_prefix(b"\x1b").unwrap_or(&rest[..length]);
                prop_assert!(key == [TEXT_PLACEHOLDER] || !is_text_key(&rest[..length]), "{reported:?}");
                rest = &rest[length..];
            }
        }
    }
}
