//! Which letters are drawn as lines and corners.

use memchr::{memchr, memchr2, memmem};

use super::split;
use super::tokens::LineTokenizer;

/// The character sets of a terminal, as far as they matter: whether each draws lines, and which of them is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charsets {
    /// The first and the second: no others can be used for long.
    lines: [bool; 2],
    /// What they were when the cursor was saved.
    saved: [bool; 2],
    /// Whether the second is used and not the first.
    shifted: bool,
}

impl Charsets {
    /// What they are after some output, which begins with a line if anything is to be made of a sequence there.
    #[must_use]
    pub fn after(self, output: &[u8]) -> Self {
        if self == Self::default() && !may_switch_charset(output) {
            return self;
        }
        split(output).fold(self, |sets, line| {
            let (mut reader, mut rest) = (LineTokenizer::new(sets), line);
            while reader.next(&mut rest).is_some() {}
            reader.charsets()
        })
    }

    /// Whether letters are drawn as lines.
    #[must_use]
    pub fn is_line_drawing(self) -> bool {
        self.lines[usize::from(self.shifted)]
    }

    /// SO and SI.
    pub(super) fn shift(&mut self, on: bool) {
        self.shifted = on;
    }

    /// `ESC ( 0` and its kin.
    pub(super) fn designate(&mut self, set: u8, kind: u8) {
        let Some(index) = b"()".iter().position(|mark| *mark == set) else { return };
        match kind {
            b'0' => self.lines[index] = true,
            b'B' => self.lines[index] = false,
            _ => {}
        }
    }

    /// `ESC 7`.
    pub(super) fn save(&mut self) {
        self.saved = self.lines;
    }

    /// `ESC 8`.
    pub(super) fn restore(&mut self) {
        self.lines = self.saved;
    }
}

/// Whether there is something in some output that may have lines drawn where none were before: no is sure.
#[must_use]
pub fn may_switch_charset(output: &[u8]) -> bool {
    const SO: u8 = 0x0e;
    const ESC: u8 = 0x1b;
    // In plain text one pass is enough.
    let Some(at) = memchr2(SO, ESC, output) else { return false };
    let rest = &output[at..];
    let chooses = |choice: &[u8]| memmem::find(rest, choice).is_some();
    memchr(SO, rest).is_some() || chooses(b"\x1b(0") || chooses(b"\x1b)0")
}
