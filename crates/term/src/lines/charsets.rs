//! Character sets: which letters are drawn as lines and corners.

use memchr::{memchr, memchr2, memmem};

use super::split;
use super::tokens::LineTokenizer;

/// The character sets of a terminal, as far as they matter here: whether each draws lines, and
/// which one is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charsets {
    /// G0 and G1; others cannot be selected for more than one character.
    lines: [bool; 2],
    /// The sets at the time when the cursor was saved.
    saved: [bool; 2],
    /// Whether G1 is active, not G0.
    shifted: bool,
}

impl Charsets {
    /// The sets after some output. The output must start at a line's beginning; otherwise a
    /// sequence that is cut there is not recognized.
    #[must_use]
    pub fn after(self, output: &[u8]) -> Self {
        if self == Self::default() && !may_switch_charset(output) {
            return self;
        }
        split(output).fold(self, |sets, line| {
            let mut tokenizer = LineTokenizer::new(sets);
            let mut rest = line;
            while tokenizer.next(&mut rest).is_some() {}
            tokenizer.charsets()
        })
    }

    /// Whether letters are drawn as lines now.
    #[must_use]
    pub fn is_line_drawing(self) -> bool {
        self.lines[usize::from(self.shifted)]
    }

    /// SO and SI.
    pub(super) fn shift(&mut self, on: bool) {
        self.shifted = on;
    }

    /// `ESC ( 0` and similar.
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

/// Whether output may switch line drawing on. It may return `true` in vain, but never `false`
/// wrongly.
#[must_use]
pub fn may_switch_charset(output: &[u8]) -> bool {
    const SO: u8 = 0x0e;
    const ESC: u8 = 0x1b;
    // For plain text one pass is enough.
    let Some(at) = memchr2(SO, ESC, output) else { return false };
    let rest = &output[at..];
    let designates = |sequence: &[u8]| memmem::find(rest, sequence).is_some();
    memchr(SO, rest).is_some() || designates(b"\x1b(0") || designates(b"\x1b)0")
}
