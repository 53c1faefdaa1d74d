//! Terminal state beyond the common modes that a program has changed, and the sequences that undo
//! it. Pure.
//!
//! It is undone only if it was changed: most terminals do not know most of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::vt::{Csi, StringBuffer, StringKind, VtDialect, VtToken, VtTokenizer, osc};

/// Private modes that are off in a fresh terminal: reverse video, backspace, side margins, reverse
/// wrapping, highlighting, arrow keys for the wheel, synchronized updates, grapheme clusters,
/// colour scheme reports, size reports, paste events, Esc as a key, and win32 input.
const PRIVATE_OFF: [u32; 13] =
    [5, 45, 67, 69, 1001, 1007, 2026, 2027, 2031, 2048, 5522, 7727, 9001];
/// Private modes that are on in a fresh terminal: key repeat, num lock, Esc prefix for meta.
const PRIVATE_ON: [u32; 3] = [8, 1035, 1036];
/// ANSI modes that are off in a fresh terminal: keyboard lock, and a return with each line feed.
const ANSI_OFF: [u32; 2] = [2, 20];
/// An ANSI mode that is on: no local echo.
const ANSI_ON: [u32; 1] = [12];

/// How many titles are popped at most; as many as terminals keep.
const MOST_TITLES: usize = 16;

/// The state that must be undone.
#[derive(Clone, Debug)]
pub(super) struct ChangedModes {
    tokenizer: VtTokenizer,
    string: StringBuffer,
    changed: ChangedState,
}

#[derive(Clone, Debug, Default)]
struct ChangedState {
    /// Modes that differ from a fresh terminal, by kind and number.
    modes: BTreeSet<(ModeKind, u32)>,
    /// Key modifier and format options, by final byte and number.
    keys: BTreeSet<(u8, u32)>,
    /// The OSC sequences that reset colours, pointer, link and progress.
    strings: BTreeMap<u32, String>,
    has_tabs: bool,
    /// How many titles are on the terminal's stack.
    titles: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ModeKind {
    Private,
    Ansi,
}

impl Default for ChangedModes {
    fn default() -> Self {
        Self {
            tokenizer: VtTokenizer::new(VtDialect::AnyTerminal),
            string: StringBuffer::default(),
            changed: ChangedState::default(),
        }
    }
}

impl ChangedModes {
    /// Records bytes that were sent to the terminal.
    pub(super) fn observe(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(token) = self.tokenizer.next(&mut rest) {
            match token {
                VtToken::Csi(csi) => self.changed.observe_csi(&csi),
                VtToken::Escape(sequence) => self.changed.observe_escape(sequence.plain),
                _ => {}
            }
            if let Some((StringKind::Osc, content, _)) = self.string.observe(&token)
                && let Some((number, text)) = osc(content)
            {
                self.changed.observe_osc(number, &text);
            }
        }
    }

    /// The bytes that undo it; empty if nothing was changed.
    pub(super) fn undo(&self) -> String {
        self.changed.undo()
    }
}

impl ChangedState {
    fn observe_escape(&mut self, sequence: &[u8]) {
        match sequence {
            b"\x1bH" => self.has_tabs = true,
            b"\x1bc" => {
                // Titles and colours survive even a full reset.
                *self = Self {
                    titles: self.titles,
                    strings: std::mem::take(&mut self.strings),
                    ..Self::default()
                };
            }
            _ => {}
        }
    }

    fn observe_csi(&mut self, csi: &Csi<'_>) {
        let last = csi.last();
        match (csi.prefix(), csi.intermediate(), last) {
            (b'?', 0, b'h' | b'l') => self.switch(ModeKind::Private, csi),
            (0, 0, b'h' | b'l') => self.switch(ModeKind::Ansi, csi),
            (b'>', 0, b'm' | b'f') if csi.numbers().all(|number| number.is_none()) => {
                self.keys.retain(|(key_last, _)| *key_last != last);
            }
            (b'>', 0, b'm' | b'f') => {
                let key = (last, csi.number(0));
                match csi.number(1) {
                    0 => self.keys.remove(&key),
                    _ => self.keys.insert(key),
                };
            }
            (b'>', 0, b'n') => {
                self.keys.remove(&(b'm', csi.number(0)));
            }
            (0, 0, b'g' | b'W') => self.has_tabs = true,
            (b'?', 0, b'W') => self.has_tabs = false,
            (0, 0, b't') if csi.number(0) == 22 => self.titles += 1,
            (0, 0, b't') if csi.number(0) == 23 => self.titles = self.titles.saturating_sub(1),
            _ => {}
        }
    }

    fn switch(&mut self, kind: ModeKind, csi: &Csi<'_>) {
        let (off, on): (&[u32], &[u32]) = match kind {
            ModeKind::Private => (&PRIVATE_OFF, &PRIVATE_ON),
            ModeKind::Ansi => (&ANSI_OFF, &ANSI_ON),
        };
        for mode in csi.numbers().flatten() {
            let is_known = off.contains(&mode) || on.contains(&mode);
            if is_known && (csi.last() == b'h') == off.contains(&mode) {
                self.modes.insert((kind, mode));
            } else {
                self.modes.remove(&(kind, mode));
            }
        }
    }

    fn observe_osc(&mut self, number: u32, text: &str) {
        let (is_changed, undo) = match number {
            4 | 5 | 10..=19 => return self.observe_colours(number, text),
            // Resets a single colour; other changed colours may remain.
            104 | 105 if !text.is_empty() => return,
            104 | 105 | 110..=119 => {
                self.strings.remove(&(number - 100));
                return;
            }
            8 => (!text.ends_with(';'), "8;;".to_owned()),
            9 if text.starts_with("4;") => (!text.starts_with("4;0"), "9;4;0".to_owned()),
            22 if text.starts_with('?') => return,
            22 => (!text.is_empty(), "22;".to_owned()),
            _ => return,
        };
        match is_changed {
            true => self.strings.insert(number, undo),
            false => self.strings.remove(&number),
        };
    }

    /// Records the colours that an OSC sets. It may query some of them, or all.
    fn observe_colours(&mut self, number: u32, text: &str) {
        let specs = text.split(';');
        let set: Vec<u32> = match number {
            // An index before each colour.
            4 | 5 => specs.skip(1).step_by(2).filter(|spec| *spec != "?").map(|_| number).collect(),
            // The colours from this number on.
            _ => (number..=19).zip(specs).filter(|(_, spec)| *spec != "?").map(|it| it.0).collect(),
        };
        self.strings.extend(set.into_iter().map(|number| (number, (number + 100).to_string())));
    }

    fn undo(&self) -> String {
        let mut out = String::new();
        for (kind, mode) in &self.modes {
            let (mark, on) = match kind {
                ModeKind::Private => ("?", PRIVATE_ON.contains(mode)),
                ModeKind::Ansi => ("", ANSI_ON.contains(mode)),
            };
            out += &format!("\x1b[{mark}{mode}{}", if on { 'h' } else { 'l' });
        }
        for (last, key) in &self.keys {
            out += &format!("\x1b[>{key}{}", char::from(*last));
        }
        for string in self.strings.values() {
            out += &format!("\x1b]{string}\x1b\\");
        }
        if self.has_tabs {
            out += "\x1b[?5W";
        }
        out + &"\x1b[23;0t".repeat(self.titles.min(MOST_TITLES))
    }
}
