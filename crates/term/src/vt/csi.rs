//! Control sequences: prefix, parameters, intermediate bytes and a final byte.

use super::{ESC, VtSequence};

/// A complete control sequence. Its fields are parsed when they are asked for, as most sequences
/// are colours that few readers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csi<'a>(VtSequence<'a>);

/// The length of the control sequence that these bytes begin with, if it is complete and without
/// control characters: nearly always it is.
#[inline]
#[must_use]
pub fn complete_csi(bytes: &[u8]) -> Option<usize> {
    let [ESC, b'[', body @ ..] = bytes else { return None };
    let end = body.iter().position(|byte| !(0x20..0x40).contains(byte))?;
    matches!(body[end], 0x40..=0x7e).then_some(end + 3)
}

impl<'a> Csi<'a> {
    pub(super) fn new(sequence: VtSequence<'a>) -> Self {
        Self(sequence)
    }

    /// Its bytes.
    #[must_use]
    pub fn sequence(&self) -> VtSequence<'a> {
        self.0
    }

    /// The final byte.
    #[must_use]
    pub fn last(&self) -> u8 {
        self.0.plain.last().copied().unwrap_or(0)
    }

    /// Everything between `CSI` and the final byte.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        match self.0.plain {
            [_, _, body @ .., _] => body,
            _ => &[],
        }
    }

    /// `<`, `=`, `>`, `?`, or 0 if there is none.
    #[must_use]
    pub fn prefix(&self) -> u8 {
        match self.body() {
            [prefix @ b'<'..=b'?', ..] => *prefix,
            _ => 0,
        }
    }

    /// The first byte between parameters and final byte, or 0 if there is none.
    #[must_use]
    pub fn intermediate(&self) -> u8 {
        let (_, intermediates) = self.split();
        intermediates.first().copied().unwrap_or(0)
    }

    /// The numbers at the start of the parameters; `None` for a parameter without one.
    pub fn numbers(&self) -> impl Iterator<Item = Option<u32>> + 'a {
        let (params, _) = self.split();
        params.split(|byte| *byte == b';').map(leading_number)
    }

    /// A parameter; 0 if it is missing.
    #[must_use]
    pub fn number(&self, index: usize) -> u32 {
        self.numbers().nth(index).flatten().unwrap_or(0)
    }

    /// Whether one of its parameters is this number.
    #[must_use]
    pub fn has_number(&self, number: u32) -> bool {
        self.numbers().any(|it| it == Some(number))
    }

    /// Whether terminals give it a meaning: nothing is in the wrong place, and there is one
    /// intermediate byte at most.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let (params, intermediates) = self.split();
        params.iter().all(|byte| matches!(byte, b'0'..=b';')) && intermediates.len() <= 1
    }

    /// Whether it is a sequence with this prefix, this intermediate byte and this final byte.
    #[must_use]
    pub fn is(&self, prefix: u8, intermediate: u8, last: u8) -> bool {
        (self.prefix(), self.intermediate(), self.last()) == (prefix, intermediate, last)
    }

    /// The parameters, and the intermediate bytes with all that follows them.
    fn split(&self) -> (&'a [u8], &'a [u8]) {
        let body = match self.body() {
            [b'<'..=b'?', rest @ ..] => rest,
            body => body,
        };
        let params = body.iter().position(|byte| *byte < 0x30).unwrap_or(body.len());
        body.split_at(params)
    }
}

/// The number at the start of a text, as terminals parse it: too large is the largest.
pub(super) fn leading_number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let add = |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    text.first().filter(|byte| byte.is_ascii_digit()).map(|_| digits.fold(0, add))
}
