//! What is neither a mode nor a cell: title, scroll region, cursor shape, and the
//! style of the next character. Kept to set it again on a terminal that missed the output.

use std::mem;

use super::sgr_pen::SgrPen;
use crate::vt::{ESC, SO};

/// How many titles can be pushed; as many as [`Screen`](crate::Screen) keeps.
const MAX_PUSHED: usize = 64;

/// The settings that differ from a fresh terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct TerminalSettings {
    title: String,
    titles: Vec<String>,
    /// The first and the last row of the scroll region, as given; a resize clears it.
    region: Option<(u16, u16)>,
    shape: u16,
    shown: ScreenPens,
    /// The pens of the screen that is not shown.
    hidden: ScreenPens,
    is_alternate: bool,
    /// Whether G1 is active, not G0.
    shifted: bool,
}

/// The current and the saved drawing state of one screen.
#[derive(Clone, Debug, Default)]
struct ScreenPens {
    now: PenState,
    saved: PenState,
}

/// The style and character sets for the next character.
#[derive(Clone, Debug, Default)]
struct PenState {
    pen: SgrPen,
    /// Whether each of the four character sets draws lines.
    lines: [bool; 4],
}

impl TerminalSettings {
    pub(super) fn pen(&mut self) -> &mut SgrPen {
        &mut self.shown.now.pen
    }

    /// OSC 0 and OSC 2.
    pub(super) fn set_title(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    /// `CSI 22 t`.
    pub(super) fn push_title(&mut self) {
        if self.titles.len() == MAX_PUSHED {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }

    /// `CSI 23 t`; returns the restored title.
    pub(super) fn pop_title(&mut self) -> Option<String> {
        self.title = self.titles.pop()?;
        Some(self.title.clone())
    }

    /// `CSI first ; last r`.
    pub(super) fn set_region(&mut self, first: u16, last: u16) {
        match (first.max(1), last) {
            (1, 0) => self.region = None,
            (first, last) if last == 0 || first < last => self.region = Some((first, last)),
            _ => {}
        }
    }

    /// The terminal was resized.
    pub(super) fn resized(&mut self) {
        self.region = None;
    }

    /// `CSI number SP q`.
    pub(super) fn set_shape(&mut self, shape: u16) {
        if shape <= 6 {
            self.shape = shape;
        }
    }

    /// `ESC ( 0` and similar.
    pub(super) fn designate(&mut self, set: u8, kind: u8) {
        let Some(index) = b"()*+".iter().position(|mark| *mark == set) else { return };
        match kind {
            b'0' => self.shown.now.lines[index] = true,
            b'B' => self.shown.now.lines[index] = false,
            _ => {}
        }
    }

    /// Whether the active character set matters.
    pub(super) fn has_lines(&self) -> bool {
        self.shown.now.lines[..2].contains(&true)
    }

    /// SO and SI.
    pub(super) fn shift(&mut self, on: bool) {
        self.shifted = on;
    }

    /// `ESC 7`.
    pub(super) fn save(&mut self) {
        self.shown.saved = self.shown.now.clone();
    }

    /// `ESC 8`.
    pub(super) fn restore(&mut self) {
        self.shown.now = self.shown.saved.clone();
    }

    /// Shows or leaves the alternate screen. It inherits the state of the primary one, which is
    /// saved.
    pub(super) fn swap(&mut self, to_alternate: bool) {
        if self.is_alternate == to_alternate {
            return;
        }
        if to_alternate {
            self.hidden.now = self.shown.now.clone();
            self.save();
        }
        self.is_alternate = to_alternate;
        mem::swap(&mut self.shown, &mut self.hidden);
    }

    /// `CSI ! p`, which does not affect the title and the active screen.
    pub(super) fn reset_softly(&mut self) {
        self.region = None;
        self.shown = ScreenPens::default();
    }

    /// Writes the titles. They come first, as they do not depend on modes.
    pub(super) fn write_titles(&self, out: &mut Vec<u8>) {
        for title in &self.titles {
            out.extend(format!("\x1b]2;{title}\x1b\\\x1b[22t").bytes());
        }
        if !self.title.is_empty() || !self.titles.is_empty() {
            out.extend(format!("\x1b]2;{}\x1b\\", self.title).bytes());
        }
    }

    /// Writes everything else. It comes after the modes, as it belongs to the screen that they
    /// show.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self.region {
            Some((first, 0)) => out.extend(format!("\x1b[{first}r").bytes()),
            Some((first, last)) => out.extend(format!("\x1b[{first};{last}r").bytes()),
            None => {}
        }
        if self.shape != 0 {
            out.extend(format!("\x1b[{} q", self.shape).bytes());
        }
        for (lines, mark) in self.shown.now.lines.iter().zip(b"()*+") {
            if *lines {
                out.extend([ESC, *mark, b'0']);
            }
        }
        self.shown.now.pen.write(out);
        if self.shifted {
            out.push(SO);
        }
    }
}
