//! The parser's position in the grammar of escape sequences, as far as it is known from outside.

use crate::vt::{CAN, ESC, SUB, StringKind, VtState};

/// Ends some strings, and is part of a character in others.
const ST: u8 = 0x9c;

/// The state before the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParserState {
    /// This one, surely.
    Known(VtState),
    /// After a byte that ends some strings and not others: giving text to the parser is slower, and
    /// never wrong.
    Unsure,
}

impl Default for ParserState {
    fn default() -> Self {
        Self::TEXT
    }
}

impl ParserState {
    /// In text: no sequence is unfinished.
    pub(super) const TEXT: Self = Self::Known(VtState::Ground);

    /// The state after this byte.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Known(VtState::String(kind)), ST) if kind != StringKind::Osc => Self::Unsure,
            (Self::Known(state), _) => Self::Known(state.after(byte)),
            (Self::Unsure, ESC) => Self::Known(VtState::Escape),
            (Self::Unsure, CAN | SUB) => Self::TEXT,
            (Self::Unsure, _) => Self::Unsure,
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
            if self == Self::TEXT || byte < 0x20 || self == Self::Unsure && !is_cut() {
                return (at + 1, self);
            }
        }
        (bytes.len(), self)
    }
}
