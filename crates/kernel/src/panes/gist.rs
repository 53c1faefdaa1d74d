//! What some text is about: which three bytes follow each other somewhere in it, in a small summary.
//!
//! It says for sure what is not there, and of the rest that it may be.

use memchr::memmem;

/// The fewest bytes that it can say something about.
pub(crate) const SHORTEST: usize = 3;

/// Of logs and builds, 64 KiB hold a few thousand different threes: a quarter of these bits or less.
const BITS: u32 = 1 << 14;

/// Letters beyond ASCII that are ASCII ones in another case.
const ODD_LETTERS: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// A summary of some text. The case of ASCII letters goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gist {
    bits: Box<[u64]>,
}

impl Gist {
    /// Of no text at all.
    pub(crate) fn new() -> Self {
        Self { bits: vec![0; BITS.div_ceil(u64::BITS) as usize].into() }
    }

    /// Adds more text, apart from what is there.
    pub(crate) fn add(&mut self, text: &[u8]) {
        let is_odd = |letter: &&str| memmem::find(text, letter.as_bytes()).is_some();
        if !text.is_ascii() && ODD_LETTERS.iter().any(|letter| is_odd(&letter)) {
            // Rare enough to do without.
            self.bits.fill(u64::MAX);
            return;
        }
        for (word, bit) in places(text) {
            self.bits[word] |= bit;
        }
    }

    /// Whether the text may hold this one, in whatever case: no is sure.
    pub(crate) fn may_hold(&self, text: &[u8]) -> bool {
        places(text).all(|(word, bit)| self.bits[word] & bit != 0)
    }
}

/// Where each three bytes in a row have their bit.
fn places(text: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    text.array_windows().map(|three: &[u8; SHORTEST]| {
        // Letters in lower case; that other bytes get mixed up costs little.
        let [a, b, c] = three.map(|byte| u32::from(byte | 0x20));
        // By a number of Knuth's, which spreads what is alike.
        let place = (a | b << 8 | c << 16).wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS.ilog2());
        ((place / u64::BITS) as usize, 1 << (place % u64::BITS))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Gist {
        let mut gist = Gist::new();
        gist.add(text.as_bytes());
        gist
    }

    proptest! {
        #[test]
        fn what_is_there_may_be_there(before in ".{0,40}", text in ".{0,10}", after in ".{0,40}") {
            let gist = of(&format!("{before}{text}{after}"));
            prop_assert!(gist.may_hold(text.as_bytes()));
            prop_assert!(gist.may_hold(text.to_ascii_uppercase().as_bytes()));
            prop_assert!(gist.may_hold(text.to_ascii_lowercase().as_bytes()));
        }
    }

    #[test]
    fn what_is_not_there_is_mostly_known() {
        let mut gist = of("0000616642 ERROR net/socket.rs 713 request failed");
        gist.add(b" after 3 ms");
        assert!(gist.may_hold(b"error NET") && gist.may_hold(b"AFTER") && gist.may_hold(b"zz"));
        for text in ["haystack", "needle-7c1f", "minutes", "failed after"] {
            assert!(!gist.may_hold(text.as_bytes()), "{text}");
        }
        assert!(!Gist::new().may_hold(b"any"));
    }

    #[test]
    fn letters_in_another_case_beyond_ascii_are_not_missed() {
        assert!(of("\u{212a}elvin").may_hold(b"kelvin"));
        assert!(of("pre\u{17f}s").may_hold(b"PRESS"));
        assert!(!of("pré").may_hold(b"pre"));
    }
}
