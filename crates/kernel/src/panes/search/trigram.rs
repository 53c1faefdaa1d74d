//! A small filter over a text: which three bytes follow each other somewhere in it.
//!
//! A negative answer is certain; a positive one means that the text may be there.

use memchr::memmem;

/// The shortest text that it can say something about, in bytes.
pub(crate) const MIN_LITERAL: usize = 3;

/// 64 KiB of logs or build output hold a few thousand different trigrams: a third of these slots or
/// less.
const SLOTS: usize = 1 << 14;

/// How many trigrams are hashed together.
const STEP: usize = 64;

/// Non-ASCII case variants of ASCII letters.
const NON_ASCII_CASE_VARIANTS: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// A filter over a text, one bit for each slot. The case of ASCII letters is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrigramFilter {
    bits: Box<[u64]>,
}

/// A filter under construction.
pub(crate) struct TrigramFilterBuilder {
    /// Not 0 where a trigram was seen. Setting bytes is much faster than setting bits.
    seen: Box<[u8; SLOTS]>,
}

impl TrigramFilter {
    /// Whether the text may contain this one, in any case. `false` is certain.
    pub(crate) fn may_contain(&self, text: &[u8]) -> bool {
        let is_set = |slot: usize| self.bits[slot / 64] & 1 << (slot % 64) != 0;
        text.array_windows().all(|&trigram| is_set(usize::from(slot(trigram))))
    }
}

impl TrigramFilterBuilder {
    /// A filter over no text.
    pub(crate) fn new() -> Self {
        Self { seen: Box::new([0; SLOTS]) }
    }

    /// Adds more text, separate from what was added before.
    pub(crate) fn add(&mut self, text: &[u8]) {
        let is_there = |letter: &str| memmem::find(text, letter.as_bytes()).is_some();
        if !text.is_ascii() && NON_ASCII_CASE_VARIANTS.into_iter().any(is_there) {
            // Too rare to be handled better: everything may be there.
            self.seen.fill(1);
            return;
        }
        let mut rest = text;
        while let Some(bytes) = rest.first_chunk::<{ STEP + MIN_LITERAL - 1 }>() {
            // All slots are computed before the first is set, so that many are computed at a time.
            let mut slots = [0; STEP];
            for (at, found) in slots.iter_mut().enumerate() {
                *found = slot([bytes[at], bytes[at + 1], bytes[at + 2]]);
            }
            slots.into_iter().for_each(|slot| self.seen[usize::from(slot)] = 1);
            rest = &rest[STEP..];
        }
        rest.array_windows().for_each(|&trigram| self.seen[usize::from(slot(trigram))] = 1);
    }

    /// The finished filter.
    pub(crate) fn build(&self) -> TrigramFilter {
        let bit = |(at, &seen): (usize, &u8)| u64::from(seen) << at;
        let word = |seen: &[u8]| seen.iter().enumerate().map(bit).sum();
        TrigramFilter { bits: self.seen.chunks(64).map(word).collect() }
    }
}

/// The slot of three bytes in a row, below [`SLOTS`].
fn slot(trigram: [u8; MIN_LITERAL]) -> u16 {
    // Lower-cases letters; that it also merges other bytes costs little.
    let [a, b, c] = trigram.map(|byte| u16::from(byte | 0x20));
    // Multiplicative hashing with the halves of Knuth's constant.
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
