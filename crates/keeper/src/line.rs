//! How long the line is that somebody types into a terminal that edits lines.
//!
//! The kernel's line editor holds so much of a line and drops what is typed beyond that. A line may come in many
//! pieces, from many who type, so it is counted here, where all of them meet.

use std::os::fd::AsFd;

use rustix::termios::{LocalModes, SpecialCodeIndex, Termios, tcgetattr};

/// The longest line that the kernel's line editor holds.
const LONGEST: usize = 4095;

/// What a terminal that edits lines makes of what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    /// Whether any of it is more than its line editor takes.
    pub(crate) too_long: bool,
}

/// The line that has not ended.
#[derive(Debug, Default)]
pub(crate) struct Line {
    length: usize,
}

impl Line {
    /// These were typed one after the other: what a terminal that edits lines makes of them.
    pub(crate) fn typed(&mut self, terminal: &impl AsFd, parts: &[&[u8]]) -> Option<Edited> {
        let modes = tcgetattr(terminal).ok();
        let modes = modes.filter(|modes| modes.local_modes.contains(LocalModes::ICANON));
        let Some(modes) = modes else {
            self.length = 0;
            return None;
        };
        let mut too_long = false;
        for part in parts {
            too_long |= self.count(&modes, part);
        }
        Some(Edited { too_long })
    }

    fn count(&mut self, modes: &Termios, bytes: &[u8]) -> bool {
        use SpecialCodeIndex as Index;
        let is = |byte: u8, index| byte != 0 && modes.special_codes[index] == byte;
        let any = |byte: u8, all: &[Index]| all.iter().any(|index| is(byte, *index));
        let ends: &[Index] = &[Index::VEOF, Index::VEOL, Index::VKILL];
        let signals: &[Index] = match modes.local_modes.contains(LocalModes::ISIG) {
            true => &[Index::VINTR, Index::VQUIT, Index::VSUSP],
            false => &[],
        };
        let mut is_long = false;
        for byte in bytes.iter().copied() {
            let is_end = matches!(byte, b'\n' | b'\r') || any(byte, ends) || any(byte, signals);
            self.length = match is_end {
                true => 0,
                false if is(byte, Index::VERASE) => self.length.saturating_sub(1),
                false => self.length + 1,
            };
            is_long |= LONGEST < self.length;
        }
        // What was dropped is no part of the line any more.
        self.length = self.length.min(LONGEST);
        is_long
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Size;
    use rustix::termios::{OptionalActions, tcsetattr};

    use super::*;
    use crate::pty::Pty;

    #[test]
    fn a_line_is_counted_over_all_its_pieces() {
        let pty = Pty::open(Size::default()).unwrap();
        let mut line = Line::default();
        let mut types = |bytes: &[u8]| line.typed(&pty.master, &[bytes]).unwrap().too_long;
        assert!(!types(&[b'x'; 3000]));
        assert!(types(&[b'x'; 3000]));
        assert!(types(b"x"), "it is still too long");
        assert!(!types(b"\n") && !types(&[b'x'; 4095]) && types(b"x"));
        for end in [b"\r", b"\x04", b"\x15", b"\x03"] {
            assert!(!types(end) && !types(&[b'x'; 4095]), "{end:?}");
        }
        assert!(!types(b"\x7f\x7fxx") && types(b"x"));
        let parts: &[&[u8]] = &[&[b'x'; 4096], b"\r"];
        assert_eq!(line.typed(&pty.master, parts), Some(Edited { too_long: true }));
    }

    #[test]
    fn a_program_that_takes_keys_as_they_come_has_no_lines() {
        let pty = Pty::open(Size::default()).unwrap();
        let mut modes = tcgetattr(&pty.master).unwrap();
        modes.make_raw();
        tcsetattr(&pty.master, OptionalActions::Now, &modes).unwrap();
        assert_eq!(Line::default().typed(&pty.master, &[&[b'x'; 9000]]), None);
    }
}
