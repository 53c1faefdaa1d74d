//! Where in the grammar of escape sequences the parser stands, as far as it can be told from outside.

use super::CAN;

pub(super) const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const SUB: u8 = 0x1a;

/// Where the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ParserState {
    /// In text, surely: no sequence has begun that has not ended.
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and bytes that only an ending can follow.
    Intermediate,
    /// In a control sequence, which a letter ends.
    Csi,
    /// In a string that BEL ends, too.
    Osc,
    /// In another string.
    String,
    /// After what ends some of those and not others: to give text to the parser is slower, and never wrong.
    Unsure,
}

/// Ends some strings, and is a part of a character in others.
const ST: u8 = 0x9c;

impl ParserState {
    /// Where the byte after this one stands.
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
            (place, _) => place,
        }
    }

    /// How many bytes it takes to be in text, or to do something on the way there, or all of them; and where the byte
    /// after them stands. At least one is taken.
    pub(super) fn skip(mut self, bytes: &[u8]) -> (usize, Self) {
        for (at, &byte) in bytes.iter().enumerate() {
            self = self.after(byte);
            // The parser never sees a character that is cut.
            let is_cut = || bytes.get(at + 1).is_some_and(|next| (0x80..0xc0).contains(next));
            // Controls do within a sequence what they do in text.
            if self == Self::Text || byte < 0x20 || self == Self::Unsure && !is_cut() {
                return (at + 1, self);
            }
        }
        (bytes.len(), self)
    }
}
