//! Where in the grammar of escape sequences the parser stands, as far as it can be told from outside.

use super::CAN;

pub(super) const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const SUB: u8 = 0x1a;

/// Where the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
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
    /// In another string. Some of those have an end of their own, which is not looked for: to give text to the
    /// parser is slower, and never wrong.
    String,
}

impl Place {
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
            (place, _) => place,
        }
    }

    /// How many bytes it takes to be in text, or all of them; and where the byte after them stands. At least one
    /// is taken.
    pub(super) fn skip(mut self, bytes: &[u8]) -> (usize, Self) {
        for (at, &byte) in bytes.iter().enumerate() {
            self = self.after(byte);
            if self == Self::Text {
                return (at + 1, self);
            }
        }
        (bytes.len(), self)
    }
}
