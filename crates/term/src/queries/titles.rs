//! The title of a person's window while a program has another one. Pure.
//!
//! The terminal keeps theirs on its own stack of titles, without being asked for it. Programs use that stack as well,
//! so theirs is kept here: a program that takes more off than it has put there does not find the person's.

use crate::sequences::{Csi, ESC, osc};

/// Saves and restores the titles of window and icon.
const SAVE: &[u8] = b"\x1b[22;0t";
const RESTORE: &[u8] = b"\x1b[23;0t";
/// How many titles can be pushed; as many as a screen keeps.
const MAX_PUSHED: usize = 64;

/// The title a program has, as the sequence that set it; none is the person's own.
#[derive(Debug, Default)]
pub(super) struct TitleStack {
    now: Option<Vec<u8>>,
    pushed: Vec<Option<Vec<u8>>>,
    /// Whether the person's own is on the terminal's stack.
    is_saved: bool,
}

impl TitleStack {
    /// What the terminal is to be shown instead of this sequence; nothing if it concerns no title.
    pub(super) fn replacement(&mut self, sequence: &[u8]) -> Option<Vec<u8>> {
        if let Some(csi) = Csi::read(sequence).filter(|csi| csi.is(0, 0, b"t")) {
            return match csi.param(0) {
                22 => Some(self.push()),
                23 => Some(self.pop()),
                _ => None,
            };
        }
        match osc(sequence) {
            Some((0 | 2, title)) => Some(self.set((!title.is_empty()).then(|| sequence.to_vec()))),
            // The icon's, which nobody brings back but the terminal.
            Some((1, _)) => Some([self.save(), sequence].concat()),
            None if matches!(sequence, [ESC, b']', b'l' | b'L' | b'I', ..]) => {
                Some([self.save(), sequence].concat())
            }
            Some(_) | None => None,
        }
    }

    fn push(&mut self) -> Vec<u8> {
        if self.pushed.len() == MAX_PUSHED {
            self.pushed.remove(0);
        }
        self.pushed.push(self.now.clone());
        Vec::new()
    }

    fn pop(&mut self) -> Vec<u8> {
        match self.pushed.pop() {
            Some(title) => self.set(title),
            None => Vec::new(),
        }
    }

    fn set(&mut self, title: Option<Vec<u8>>) -> Vec<u8> {
        let shown = match &title {
            Some(title) => [self.save(), title].concat(),
            None if std::mem::take(&mut self.is_saved) => RESTORE.to_vec(),
            None => Vec::new(),
        };
        self.now = title;
        shown
    }

    fn save(&mut self) -> &'static [u8] {
        match std::mem::replace(&mut self.is_saved, true) {
            true => &[],
            false => SAVE,
        }
    }
}
