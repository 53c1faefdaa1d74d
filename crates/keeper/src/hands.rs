//! What a person typed, told from what their terminal says by itself.
//!
//! A terminal reports its focus, its mouse and its answers to questions on the same line as the keys. Those change no
//! text, and would make every pane that somebody looks at seem to be typed into.

/// Whether any of this was typed, rather than reported by a terminal.
pub(crate) fn typed(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        match report(rest) {
            Some(length) => rest = &rest[length..],
            None => return true,
        }
    }
    false
}

/// How long the report is that these bytes begin with.
fn report(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x1b, b'[', rest @ ..] => control(rest).map(|length| length + 2),
        // An answer about colours or names, up to its end.
        [0x1b, b']' | b'P' | b'_', rest @ ..] => string(rest).map(|length| length + 2),
        _ => None,
    }
}

/// A report that begins with a control sequence: focus, mouse, position, what the terminal is and can do.
fn control(rest: &[u8]) -> Option<usize> {
    // The old mouse report has three bytes after it.
    if let [b'M', _, _, _, ..] = rest {
        return Some(4);
    }
    let at = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
    let (parameters, last) = (&rest[..at], rest[at]);
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

/// The length of a string of a terminal, with what ends it.
fn string(rest: &[u8]) -> Option<usize> {
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
            assert!(typed(keys.as_bytes()), "{keys:?}");
        }
        assert!(typed(b"\x1b[Ia"), "a key after a report is a key");
        assert!(typed(b"\x1b]11;rgb:0"), "what never ends is no report");
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
            assert!(!typed(report.as_bytes()), "{report:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            typed(&bytes);
        }
    }
}
