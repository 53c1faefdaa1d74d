//! What some text is about: which three bytes follow each other somewhere in it, in a small summary.
//!
//! It says for sure what is not there, and of the rest that it may be.

use memchr::memmem;

/// The fewest bytes that it can say something about.
pub(crate) const MIN_LITERAL: usize = 3;

/// Of logs and builds, 64 KiB hold a few thousand different threes: a third of these places or less.
const SLOTS: usize = 1 << 14;

/// How many threes are looked at together.
const STEP: usize = 64;

/// Letters beyond ASCII that are ASCII ones in another case.
const NON_ASCII_CASE_VARIANTS: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// A summary of some text, one bit for each place. The case of ASCII letters goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrigramFilter {
    bits: Box<[u64]>,
}

/// A summary that is being made.
pub(crate) struct TrigramFilterBuilder {
    /// Not 0 where something was seen. Bytes are set much faster than bits are.
    seen: Box<[u8; SLOTS]>,
}

impl TrigramFilter {
    /// Whether the text may hold this one, in whatever case: no is sure.
    pub(crate) fn may_contain(&self, text: &[u8]) -> bool {
        let is_set = |place: usize| self.bits[place / 64] & 1 << (place % 64) != 0;
        text.array_windows().all(|&three| is_set(usize::from(slot(three))))
    }
}

impl TrigramFilterBuilder {
    /// Of no text at all.
    pub(crate) fn new() -> Self {
        Self { seen: Box::new([0; SLOTS]) }
    }

    /// Adds more text, apart from what is there.
    pub(crate) fn add(&mut self, text: &[u8]) {
        let is_there = |letter: &str| memmem::find(text, letter.as_bytes()).is_some();
        if !text.is_ascii() && NON_ASCII_CASE_VARIANTS.into_iter().any(is_there) {
            // Too rare for a better answer than that everything may be there.
            self.seen.fill(1);
            return;
        }
        let mut rest = text;
        while let Some(bytes) = rest.first_chunk::<{ STEP + MIN_LITERAL - 1 }>() {
            // All places before the first of them is set, so that they are found many at a time.
            let mut places = [0; STEP];
            for (at, found) in places.iter_mut().enumerate() {
                *found = slot([bytes[at], bytes[at + 1], bytes[at + 2]]);
            }
            places.into_iter().for_each(|place| self.seen[usize::from(place)] = 1);
            rest = &rest[STEP..];
        }
        rest.array_windows().for_each(|&three| self.seen[usize::from(slot(three))] = 1);
    }

    /// The summary.
    pub(crate) fn build(&self) -> TrigramFilter {
        let bit = |(at, &seen): (usize, &u8)| u64::from(seen) << at;
        let word = |seen: &[u8]| seen.iter().enumerate().map(bit).sum();
        TrigramFilter { bits: self.seen.chunks(64).map(word).collect() }
    }
}

/// Where three bytes in a row have their place, below [`SLOTS`].
fn slot(three: [u8; MIN_LITERAL]) -> u16 {
    // Letters in lower case; that other bytes get mixed up costs little.
    let [a, b, c] = three.map(|byte| u16::from(byte | 0x20));
    // By halves of a number of Knuth's, which spread what is alike.
    let spread = (a | b << 8).wrapping_mul(0x9e37) ^ c.wrapping_mul(0x79b1);
    spread >> (u16::BITS - SLOTS.ilog2())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> TrigramFilter {
        let mut sum = TrigramFilterBuilder::new();
        sum.add(text.as_bytes());
        sum.build()
    }

    proptest! {
        #[test]
        fn what_is_there_may_be_there(before in ".{0,99}", text in ".{0,10}", after in ".{0,99}") {
            let gist = of(&format!("{before}{text}{after}"));
            prop_assert!(gist.may_contain(text.as_bytes()));
            prop_assert!(gist.may_contain(text.to_ascii_uppercase().as_bytes()));
            prop_assert!(gist.may_contain(text.to_ascii_lowercase().as_bytes()));
        }
    }

    #[test]
    fn what_is_not_there_is_mostly_known() {
        let mut sum = TrigramFilterBuilder::new();
        sum.add(b"0000616642 ERROR net/socket.rs 713 request failed");
        sum.add(b" after 3 ms");
        let gist = sum.build();
        assert!(
            gist.may_contain(b"error NET") && gist.may_contain(b"AFTER") && gist.may_contain(b"zz")
        );
        for text in ["haystack", "needle-7c1f", "minutes", "failed after"] {
            assert!(!gist.may_contain(text.as_bytes()), "{text}");
        }
        assert!(!TrigramFilterBuilder::new().build().may_contain(b"any"));
    }

    #[test]
    fn letters_in_another_case_beyond_ascii_are_not_missed() {
        assert!(of("\u{212a}elvin").may_contain(b"kelvin"));
        assert!(of("pre\u{17f}s").may_contain(b"PRESS"));
        assert!(!of("pré").may_contain(b"pre"));
    }
}
