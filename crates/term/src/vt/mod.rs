//! The grammar of terminal output: the only place that knows where escape sequences begin and end.
//! That of typed input is in [`input`]. Pure: no meanings.
//!
//! It follows the rules that terminals share. ESC begins a sequence and cuts off an unfinished one,
//! CAN and SUB cancel it. Other control characters inside an escape or control sequence act at
//! once, and the sequence continues; inside a string they are skipped.

mod csi;
pub mod input;
mod state;
mod string_buffer;
#[cfg(test)]
mod tests;
mod tokenizer;

pub use csi::{Csi, complete_csi};
pub use state::{StringKind, VtState};
pub use string_buffer::{StringBuffer, osc};
pub use tokenizer::{VtDialect, VtTokenizer, each_text};

/// A control character that is a query by itself: the terminal answers with a configured text.
pub const ENQ: u8 = 0x05;
/// Rings the bell, and ends an OSC.
pub const BEL: u8 = 0x07;
/// Selects the character set G1.
pub const SO: u8 = 0x0e;
/// Selects the character set G0.
pub const SI: u8 = 0x0f;
/// Cancels a sequence.
pub const CAN: u8 = 0x18;
/// Cancels a sequence, too.
pub const SUB: u8 = 0x1a;
/// Begins every sequence.
pub const ESC: u8 = 0x1b;
/// The first byte of the C1 controls in UTF-8; some terminals accept them in this form.
const C1_LEAD: u8 = 0xc2;

/// The longest sequence that is recognized, and the longest string that a [`StringBuffer`] keeps.
pub const MAX_SEQUENCE: usize = 4096;

/// A part of a stream. All of them in a row, as [`VtToken::raw`] gives them, are the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtToken<'a> {
    /// Text, and control characters outside of sequences.
    Text(&'a [u8]),
    /// ESC, any intermediate bytes, a final byte.
    Escape(VtSequence<'a>),
    /// A control sequence.
    Csi(Csi<'a>),
    /// An escape or control sequence that ESC has cut off, or CAN or SUB cancelled.
    Incomplete(VtSequence<'a>),
    /// A part of an escape or control sequence that is too long to be held. The sequence follows
    /// only if it is so long because of control characters inside it.
    Overlong(&'a [u8]),
    /// The beginning of a string.
    StringStart(StringKind, &'a [u8]),
    /// A part of a string, with the control characters that terminals skip.
    StringBody(&'a [u8]),
    /// The end of a string.
    StringEnd(StringEnd),
}

/// An escape or control sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VtSequence<'a> {
    /// The bytes as they arrived, after those that were [`VtToken::Overlong`].
    pub raw: &'a [u8],
    /// All bytes from ESC on, without those that terminals skip or execute.
    pub plain: &'a [u8],
}

/// What ended a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringEnd {
    /// The terminator `ESC \`.
    St,
    /// BEL, which ends an OSC.
    Bel,
    /// CAN.
    Can,
    /// SUB.
    Sub,
    /// The ESC of the next sequence.
    Cut,
}

impl<'a> VtToken<'a> {
    /// The bytes as they arrived.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        match *self {
            Self::Text(raw)
            | Self::Overlong(raw)
            | Self::StringStart(_, raw)
            | Self::StringBody(raw) => raw,
            Self::Escape(sequence) | Self::Incomplete(sequence) => sequence.raw,
            Self::Csi(csi) => csi.sequence().raw,
            Self::StringEnd(end) => end.bytes(),
        }
    }
}

impl<'a> VtSequence<'a> {
    /// The control characters inside it, which act before it does.
    pub fn controls(&self) -> impl Iterator<Item = u8> + 'a {
        controls(if self.is_plain() { &[] } else { self.raw })
    }

    /// Whether it arrived as it is, without control characters inside.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.raw.len() == self.plain.len()
    }

    /// Whether it came after [`VtToken::Overlong`].
    #[must_use]
    pub fn is_overlong(&self) -> bool {
        self.raw.len() < self.plain.len()
    }
}

/// The control characters inside a sequence, which act before it does.
pub fn controls(raw: &[u8]) -> impl Iterator<Item = u8> {
    raw.iter().copied().filter(|byte| *byte < 0x20 && !matches!(*byte, CAN | SUB | ESC))
}

impl StringEnd {
    /// The bytes that ended the string.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::St => b"\x1b\\",
            Self::Bel => &[BEL],
            Self::Can => &[CAN],
            Self::Sub => &[SUB],
            Self::Cut => b"",
        }
    }

    /// Whether the string is complete, rather than cancelled or cut off.
    #[must_use]
    pub fn is_complete(self) -> bool {
        matches!(self, Self::St | Self::Bel)
    }
}
