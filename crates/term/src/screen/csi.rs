//! The control sequences that most output consists of: looks, moves and erasing. All others are the parser's.

use alacritty_terminal::vte::ansi::{ClearMode, Handler, LineClearMode};

use super::handler::TermHandler;
use super::sgr;

/// More parameters than this are left to the parser.
const MAX_PARAMS: usize = 16;

/// A whole sequence, as far as it is common: nothing but numbers and the last byte.
pub(super) struct SimpleCsi {
    params: [u16; MAX_PARAMS],
    count: usize,
    final_byte: u8,
}

impl SimpleCsi {
    /// Reads what follows `ESC [`; and how many bytes that is. Nothing if it is not all there or not common.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (mut params, mut count, mut number) = ([0; MAX_PARAMS], 0, 0_u16);
        for (at, &byte) in bytes.iter().enumerate() {
            if byte.is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                continue;
            }
            *params.get_mut(count)? = number;
            (count, number) = (count + 1, 0);
            match byte {
                b';' => {}
                0x40..=0x7e => return Some((Self { params, count, final_byte: byte }, at + 1)),
                _ => return None,
            }
        }
        None
    }

    /// Does what it says; whether it was common enough for that. If not, nothing was done.
    pub(super) fn apply(&self, tap: &mut TermHandler) -> bool {
        match self.final_byte {
            b'm' => return sgr::apply_sgr(&mut tap.term.grid_mut().cursor.template, self.params()),
            b'H' => tap.goto(i32::from(self.at_least_one(0)) - 1, self.count(1) - 1),
            b'K' => return self.clear_line(tap),
            b'J' => return self.clear_screen(tap),
            b'A' => tap.move_up(self.count(0)),
            b'B' => tap.move_down(self.count(0)),
            b'C' => tap.move_forward(self.count(0)),
            b'D' => tap.move_backward(self.count(0)),
            b'G' => tap.goto_col(self.count(0) - 1),
            b'X' => tap.erase_chars(self.count(0)),
            b'd' => tap.goto_line(i32::from(self.at_least_one(0)) - 1),
            _ => return false,
        }
        true
    }

    fn clear_line(&self, tap: &mut TermHandler) -> bool {
        match self.params[0] {
            0 => tap.clear_line(LineClearMode::Right),
            1 => tap.clear_line(LineClearMode::Left),
            2 => tap.clear_line(LineClearMode::All),
            _ => return false,
        }
        true
    }

    fn clear_screen(&self, tap: &mut TermHandler) -> bool {
        match self.params[0] {
            0 => tap.clear_screen(ClearMode::Below),
            1 => tap.clear_screen(ClearMode::Above),
            2 => tap.clear_screen(ClearMode::All),
            _ => return false,
        }
        true
    }

    fn params(&self) -> &[u16] {
        &self.params[..self.count]
    }

    /// A parameter that is one when it is not given, or zero.
    fn at_least_one(&self, index: usize) -> u16 {
        self.params[index].max(1)
    }

    fn count(&self, index: usize) -> usize {
        self.at_least_one(index).into()
    }
}
