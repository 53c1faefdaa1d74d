//! The content of a string, collected as it arrives.

use super::csi::leading_number;
use super::{C1_LEAD, MAX_SEQUENCE, StringEnd, StringKind, VtToken};

/// The content of a string up to [`MAX_SEQUENCE`] bytes, without the control characters that
/// terminals skip: they must not hide what the string is.
#[derive(Clone, Debug, Default)]
pub struct StringBuffer {
    kind: Option<StringKind>,
    bytes: Vec<u8>,
    is_overlong: bool,
}

impl StringBuffer {
    /// Takes the next token; returns the string that it ends, and how, unless that is too long.
    pub fn observe(&mut self, token: &VtToken<'_>) -> Option<(StringKind, &[u8], StringEnd)> {
        match *token {
            VtToken::StringStart(kind, _) => self.start(kind),
            VtToken::StringBody(part) => drop(self.push(part)),
            VtToken::StringEnd(end) => {
                return self.whole_string().map(|(kind, content)| (kind, content, end));
            }
            _ => {}
        }
        None
    }

    /// Begins another string.
    pub fn start(&mut self, kind: StringKind) {
        self.kind = Some(kind);
        self.bytes.clear();
        self.is_overlong = false;
    }

    /// Appends a part of the string. Returns what is not kept because the string is too long, as it
    /// arrived.
    pub fn push<'a>(&mut self, part: &'a [u8]) -> &'a [u8] {
        for (at, &byte) in part.iter().enumerate() {
            if self.bytes.len() == MAX_SEQUENCE {
                self.is_overlong = true;
                return &part[at..];
            }
            match byte {
                0..0x20 | 0x7f => {}
                0x80..=0x9f if self.bytes.last() == Some(&C1_LEAD) => drop(self.bytes.pop()),
                _ => self.bytes.push(byte),
            }
        }
        &[]
    }

    /// The kind and the content of the string so far; its beginning, if it is too long.
    #[must_use]
    pub fn start_of_string(&self) -> Option<(StringKind, &[u8])> {
        self.kind.map(|kind| (kind, &self.bytes[..]))
    }

    /// The kind and the content of the string, unless it is too long.
    #[must_use]
    pub fn whole_string(&self) -> Option<(StringKind, &[u8])> {
        self.start_of_string().filter(|_| !self.is_overlong)
    }

    /// Whether the string is too long, so that not all of it is kept.
    #[must_use]
    pub fn is_overlong(&self) -> bool {
        self.is_overlong
    }
}

/// The number of an OSC and the text after it.
#[must_use]
pub fn osc(content: &[u8]) -> Option<(u32, String)> {
    let text = content.iter().position(|byte| *byte == b';').map_or(content.len(), |at| at + 1);
    leading_number(content)
        .map(|number| (number, String::from_utf8_lossy(&content[text..]).into_owned()))
}
