//! The parser's position in the grammar of escape sequences, as far as it is known from outside.

use super::CAN;

pub(super) const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const SUB: u8 = 0x1a;

/// The state before the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ParserState {
    /// In text, surely: no sequence is unfinished.
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes.
    Intermediate,
    /// In a control sequence.
    Csi,
    /// In a string that BEL can end.
    Osc,
    /// In another string.
    String,
    /// After a byte that ends some strings and not others: giving text to the parser is slower, and
    /// never wrong.
    Unsure,
}

/// Ends some strings, and is part of a character in others.
const ST: u8 = 0x9c;

impl ParserState {
    /// The state after this byte.
    pub(super) fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (_, ESC) => Self::Escape,
            (_, CAN | SUB) | (Self::Osc, BEL) => Self::Text,
            (Self::Escape, b'[') => Self::Csi,
            (Self::Escape, b']') => Self::Osc,
            (Self::Escape, b'P' | b'X' | b'^' | b'_') => Self::String,
            (Self::Escape, 0x20..=0x2f) => Self::Intermediate,
            (Self::Escape | Self::Intermediate, 0x30..=0x7e) | (Self::Csi, 0x40..=0x7e) => {
                Self::Text
            }
            (Self::String, ST) => Self::Unsure,
            (state, _) => state,
        }
    }

    /// How many bytes to take until text begins, or until a byte with an effect, or all of them;
    /// and the state after them. At least one is taken.
    pub(super) fn skip(mut self, bytes: &[u8]) -> (usize, Self) {
        for (at, &byte) in bytes.iter().enumerate() {
            self = self.after(byte);
            // The parser never gets a partial character.
            let is_cut = || bytes.get(at + 1).is_some_and(|next| (0x80..0xc0).contains(next));
            // Control characters act within a sequence as they do in text.
            if self == Self::Text || byte < 0x20 || self == Self::Unsure && !is_cut() {
                return (at + 1, self);
            }
        }
        (bytes.len(), self)
    }
}
