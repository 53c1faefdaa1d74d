//! Checks whether many lines at once are plain, so that they need not be cleaned one by one.

use memchr::{memchr_iter, memrchr};

use super::{has_c1, starts_with_mark};

/// How many bytes are checked together.
const STEP: usize = 64;

/// Whether cleaning would change none of these whole lines except for its line end, and cut none at
/// this many characters.
#[must_use]
pub fn are_plain(bytes: &[u8], max_chars: usize) -> bool {
    are_short(bytes, max_chars) && (are_ascii(bytes) || are_plain_beyond_ascii(bytes))
}

/// Whether output, cut anywhere, is only printable ASCII in lines that end with `\n` or `\r\n`. A
/// `\r` at its very end is not known to be the end of a line.
fn are_ascii(bytes: &[u8]) -> bool {
    let Some((&last, before)) = bytes.split_last() else { return true };
    let (steps, rest) = before.as_chunks::<STEP>();
    let mut odd = [0; STEP];
    for (at, step) in steps.iter().enumerate() {
        // The same bytes, shifted by one.
        let (nexts, _) = bytes[at * STEP + 1..].as_chunks::<STEP>();
        for (odd, (&byte, &next)) in odd.iter_mut().zip(step.iter().zip(&nexts[0])) {
            *odd |= non_plain_bits(byte, next);
        }
    }
    let nexts = bytes[before.len() - rest.len()..].iter().skip(1);
    let rest =
        rest.iter().zip(nexts).fold(0, |odd, (&byte, &next)| odd | non_plain_bits(byte, next));
    odd.into_iter().fold(rest | non_plain_bits(last, 0), |all, odd| all | odd) == 0
}

/// Not 0 for bytes that are neither printable ASCII nor a line end. Branch-free, so that the loop
/// can be vectorized.
fn non_plain_bits(byte: u8, next: u8) -> u8 {
    let mask = |is: bool| if is { 0xff } else { 0_u8 };
    // After adding 1, unprintable bytes are below 0x21 as signed numbers, 0x7f included.
    let unprintable = mask((byte.wrapping_add(1).cast_signed()) < 0x21);
    let ends = mask(byte == b'\n') | mask(byte == b'\r') & mask(next == b'\n');
    unprintable & !ends
}

/// Whether no line is longer than this.
fn are_short(bytes: &[u8], max_bytes: usize) -> bool {
    let mut rest = bytes;
    while max_bytes < rest.len() {
        // Jumps to the last line end within reach, not to each: far fewer steps for many short
        // lines.
        let Some(end) = memrchr(b'\n', &rest[..=max_bytes]) else { return false };
        rest = &rest[end + 1..];
    }
    true
}

fn are_plain_beyond_ascii(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let is_odd = |(at, &byte): (usize, &u8)| {
        byte < 0x80 && non_plain_bits(byte, bytes.get(at + 1).copied().unwrap_or(0)) != 0
    };
    let starts = memchr_iter(b'\n', bytes).map(|end| end + 1);
    let mut starts = std::iter::once(0).chain(starts).filter_map(|start| text.get(start..));
    !bytes.iter().enumerate().any(is_odd) && !has_c1(bytes) && !starts.any(starts_with_mark)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::lines::{clean, split};

    /// Some output, mostly plain.
    fn any_output() -> impl Strategy<Value = Vec<u8>> {
        let plain = select(vec!["a", "b c", "\n", "\r\n", "0123456789"]);
        let other = select(vec![
            &b"\xc3\xa9"[..],
            b"\xe6\x97\xa5",
            b"\r",
            b"\x1b[1m",
            b"\x7f",
            b"\t",
            b"\x08",
            b"\xff",
            b"\xc2\x85",
            b"\xcc\x81",
            b"\xe6\x97",
        ]);
        let part = prop_oneof![
            60 => plain.prop_map(|part| part.as_bytes().to_vec()),
            1 => other.prop_map(<[u8]>::to_vec),
        ];
        prop::collection::vec(part, 0..120).prop_map(|parts| parts.concat())
    }

    fn without_end(line: &[u8]) -> &[u8] {
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn plain_lines_are_what_cleaning_makes_of_them(output in any_output(), max in 1_usize..60) {
            if are_plain(&output, max) {
                for line in split(&output) {
                    let cleaned = clean(line, max);
                    prop_assert_eq!(cleaned.text.as_bytes(), without_end(line));
                    prop_assert!(!cleaned.cut);
                }
            }
        }

        #[test]
        fn short_lines_of_ascii_are_plain(lines in prop::collection::vec("[ -~]{0,20}", 0..30)) {
            let output: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
            prop_assert!(are_ascii(output.as_bytes()));
            prop_assert!(are_plain(output.as_bytes(), 22));
            let longest = lines.iter().map(|line| line.len() + 1).max().unwrap_or(0);
            prop_assert!(are_short(output.as_bytes(), longest));
            prop_assert!(longest == 0 || !are_short(output.as_bytes(), longest - 1));
        }

        #[test]
        fn one_odd_byte_is_found_wherever_it_is(at in 0_usize..300, odd in select(vec![0, 8, 9, 0x1b, 0x7f, 0x80, 0xff, b'\r'])) {
            let mut output = vec![b'x'; 300];
            output[at] = odd;
            prop_assert!(!are_ascii(&output));
            prop_assert!(!are_plain(&output, 300));
        }
    }

    #[test]
    fn text_beyond_ascii_is_plain_too() {
        for (output, expect) in [
            ("naïve\r\n日本\n", true),
            ("naïve\n\u{301}a\n", false),
            ("naïve \u{85}\n", false),
            ("naïve\rn\n", false),
            ("naïve\t\n", false),
        ] {
            assert_eq!(are_plain(output.as_bytes(), 80), expect, "{output:?}");
        }
        assert!(!are_plain(b"na\xc3\n\xafve\n", 80));
    }
}
