//! The title of the user's window while a program has set another one. Pure.
//!
//! The terminal keeps the user's title on its own title stack, so that it need not be queried.
//! Programs use that stack as well, so their entries are kept here: a program that pops more than
//! it pushed does not reach the user's title.

use crate::vt::{Csi, StringEnd, StringKind, osc};

/// Saves and restores the titles of window and icon.
const SAVE: &[u8] = b"\x1b[22;0t";
const RESTORE: &[u8] = b"\x1b[23;0t";
/// How many titles can be pushed; as many as [`Screen`](crate::Screen) keeps.
const MAX_PUSHED: usize = 64;

/// The program's title, as the sequence that set it; `None` while the user's own is shown.
#[derive(Debug, Default)]
pub(super) struct TitleStack {
    now: Option<Vec<u8>>,
    pushed: Vec<Option<Vec<u8>>>,
    /// Whether the user's title is on the terminal's stack.
    is_saved: bool,
}

impl TitleStack {
    /// The bytes to send to the terminal instead of this sequence; `None` if it is not about
    /// titles.
    pub(super) fn replace_csi(&mut self, csi: &Csi<'_>) -> Option<Vec<u8>> {
        if !csi.is(0, 0, b't') {
            return None;
        }
        match csi.number(0) {
            22 => Some(self.push()),
            23 => Some(self.pop()),
            _ => None,
        }
    }

    /// The bytes to send to the terminal instead of this string; `None` if it is not about titles.
    pub(super) fn replace_string(
        &mut self,
        kind: StringKind,
        content: &[u8],
        end: StringEnd,
    ) -> Option<Vec<u8>> {
        if kind != StringKind::Osc {
            return None;
        }
        let sequence = || [kind.introducer(), content, end.bytes()].concat();
        match osc(content) {
            Some((0 | 2, title)) => Some(self.set((!title.is_empty()).then(sequence))),
            // The icon's title; only the terminal can restore it.
            Some((1, _)) => Some([self.save(), &sequence()].concat()),
            None if matches!(content, [b'l' | b'L' | b'I', ..]) => {
                Some([self.save(), &sequence()].concat())
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
        let out = match &title {
            Some(title) => [self.save(), title].concat(),
            None if std::mem::take(&mut self.is_saved) => RESTORE.to_vec(),
            None => Vec::new(),
        };
        self.now = title;
        out
    }

    fn save(&mut self) -> &'static [u8] {
        match std::mem::replace(&mut self.is_saved, true) {
            true => &[],
            false => SAVE,
        }
    }
}
