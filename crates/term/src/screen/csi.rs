//! The fast path for the most common control sequences: styles, cursor moves and erasing. The
//! parser handles all others.

use alacritty_terminal::vte::ansi::{ClearMode, Handler, LineClearMode};

use super::handler::TermHandler;
use super::sgr;

/// Sequences with more parameters are left to the parser.
const MAX_PARAMS: usize = 16;

/// A complete common sequence: only numbers and the final byte.
pub(super) struct SimpleCsi {
    params: [u16; MAX_PARAMS],
    count: usize,
    final_byte: u8,
}

impl SimpleCsi {
    /// Parses what follows `ESC [`, and how many bytes that is. `None` if it is incomplete or not
    /// common.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut params = [0; MAX_PARAMS];
        let mut count = 0;
        let mut number = 0_u16;
        for (at, &byte) in bytes.iter().enumerate() {
            if byte.is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                continue;
            }
            *params.get_mut(count)? = number;
            count += 1;
            number = 0;
            match byte {
                b';' => {}
                0x40..=0x7e => return Some((Self { params, count, final_byte: byte }, at + 1)),
                _ => return None,
            }
        }
        None
    }

    /// Applies it; returns whether it was common enough for that. If not, nothing was done.
    pub(super) fn apply(&self, handler: &mut TermHandler) -> bool {
        match self.final_byte {
            b'm' => {
                return sgr::apply_sgr(&mut handler.term.grid_mut().cursor.template, self.params());
            }
            b'H' => handler.goto(i32::from(self.at_least_one(0)) - 1, self.count(1) - 1),
            b'K' => return self.clear_line(handler),
            b'J' => return self.clear_screen(handler),
            b'A' => handler.move_up(self.count(0)),
            b'B' => handler.move_down(self.count(0)),
            b'C' => handler.move_forward(self.count(0)),
            b'D' => handler.move_backward(self.count(0)),
            b'G' => handler.goto_col(self.count(0) - 1),
            b'X' => handler.erase_chars(self.count(0)),
            b'd' => handler.goto_line(i32::from(self.at_least_one(0)) - 1),
            _ => return false,
        }
        true
    }

    fn clear_line(&self, handler: &mut TermHandler) -> bool {
        match self.params[0] {
            0 => handler.clear_line(LineClearMode::Right),
            1 => handler.clear_line(LineClearMode::Left),
            2 => handler.clear_line(LineClearMode::All),
            _ => return false,
        }
        true
    }

    fn clear_screen(&self, handler: &mut TermHandler) -> bool {
        match self.params[0] {
            0 => handler.clear_screen(ClearMode::Below),
            1 => handler.clear_screen(ClearMode::Above),
            2 => handler.clear_screen(ClearMode::All),
            _ => return false,
        }
        true
    }

    fn params(&self) -> &[u16] {
        &self.params[..self.count]
    }

    /// A parameter that counts as one if it is missing or zero.
    fn at_least_one(&self, index: usize) -> u16 {
        self.params[index].max(1)
    }

    fn count(&self, index: usize) -> usize {
        self.at_least_one(index).into()
    }
}
