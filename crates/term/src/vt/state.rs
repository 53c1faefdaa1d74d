//! The position in the grammar, byte by byte.

use super::{BEL, CAN, ESC, SUB};

/// The state before the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VtState {
    /// In text.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes.
    Intermediate,
    /// In a control sequence.
    Csi,
    /// In a string.
    String(StringKind),
    /// After ESC in a string: a `\` ends the string, anything else cuts it off.
    StringEscape(StringKind),
}

/// The kind of a string, which the byte after ESC tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// `ESC ]`: a command of the operating system. The only one that BEL ends.
    Osc,
    /// `ESC P`: a device control string.
    Dcs,
    /// `ESC X`: a string without a meaning.
    Sos,
    /// `ESC ^`: a privacy message.
    Pm,
    /// `ESC _`: a command of the application.
    Apc,
    /// `ESC k`: a title, in screen and tmux.
    Title,
}

impl VtState {
    /// The state after this byte.
    #[must_use]
    pub fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::String(kind), ESC) => Self::StringEscape(kind),
            (_, ESC) => Self::Escape,
            (_, CAN | SUB) | (Self::String(StringKind::Osc), BEL) => Self::Ground,
            (Self::Escape | Self::StringEscape(_), b'[') => Self::Csi,
            (Self::Escape | Self::StringEscape(_), b']') => Self::String(StringKind::Osc),
            (Self::Escape | Self::StringEscape(_), b'P') => Self::String(StringKind::Dcs),
            (Self::Escape | Self::StringEscape(_), b'X') => Self::String(StringKind::Sos),
            (Self::Escape | Self::StringEscape(_), b'^') => Self::String(StringKind::Pm),
            (Self::Escape | Self::StringEscape(_), b'_') => Self::String(StringKind::Apc),
            (Self::Escape | Self::StringEscape(_), 0x20..=0x2f) => Self::Intermediate,
            (Self::Escape | Self::StringEscape(_) | Self::Intermediate, 0x30..=0x7e)
            | (Self::Csi, 0x40..=0x7e) => Self::Ground,
            (Self::StringEscape(_), _) => Self::Escape,
            (state, _) => state,
        }
    }
}

impl StringKind {
    /// The two bytes that begin it.
    #[must_use]
    pub fn introducer(self) -> &'static [u8] {
        match self {
            Self::Osc => b"\x1b]",
            Self::Dcs => b"\x1bP",
            Self::Sos => b"\x1bX",
            Self::Pm => b"\x1b^",
            Self::Apc => b"\x1b_",
            Self::Title => b"\x1bk",
        }
    }
}
