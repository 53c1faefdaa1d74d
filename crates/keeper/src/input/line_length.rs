//! The length of the line that is typed into a terminal in canonical mode.
//!
//! The kernel's line editor holds a limited number of bytes of a line and drops the rest. A line
//! may come in many writes, from many clients, so it is counted here, where all input passes.

use rustix::termios::{LocalModes, SpecialCodeIndex, Termios};

/// The longest line that the kernel's line editor holds.
const MAX_LINE: usize = 4095;

/// The current line, which has not ended.
#[derive(Debug, Default)]
pub(crate) struct LineLength {
    length: usize,
}

impl LineLength {
    /// Counts parts that are typed one after the other. Answers whether a line is longer than the
    /// line editor accepts.
    pub(crate) fn add(&mut self, modes: Option<&Termios>, parts: &[&[u8]]) -> bool {
        match modes.filter(|modes| modes.local_modes.contains(LocalModes::ICANON)) {
            Some(modes) => self.count(modes, &parts.concat()),
            None => {
                self.length = 0;
                false
            }
        }
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
            is_long |= MAX_LINE < self.length;
        }
        // Dropped bytes are no part of the line.
        self.length = self.length.min(MAX_LINE);
        is_long
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Size;
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    use super::*;
    use crate::pty::Pty;

    #[test]
    fn a_line_is_counted_over_all_its_pieces() {
        let pty = Pty::open(Size::default()).unwrap();
        let mut line = LineLength::default();
        let modes = tcgetattr(&pty.master).unwrap();
        let mut types = |bytes: &[u8]| line.add(Some(&modes), &[bytes]);
        assert!(!types(&[b'x'; 3000]));
        assert!(types(&[b'x'; 3000]));
        assert!(types(b"x"), "it is still too long");
        assert!(!types(b"\n") && !types(&[b'x'; 4095]) && types(b"x"));
        for end in [b"\r", b"\x04", b"\x15", b"\x03"] {
            assert!(!types(end) && !types(&[b'x'; 4095]), "{end:?}");
        }
        assert!(!types(b"\x7f\x7fxx") && types(b"x"));
        assert!(line.add(Some(&modes), &[&[b'x'; 4096], b"\r"]));
    }

    #[test]
    fn a_program_that_takes_keys_as_they_come_has_no_lines() {
        let pty = Pty::open(Size::default()).unwrap();
        let mut modes = tcgetattr(&pty.master).unwrap();
        modes.make_raw();
        tcsetattr(&pty.master, OptionalActions::Now, &modes).unwrap();
        let modes = tcgetattr(&pty.master).unwrap();
        assert!(!LineLength::default().add(Some(&modes), &[&[b'x'; 9000]]));
    }
}
