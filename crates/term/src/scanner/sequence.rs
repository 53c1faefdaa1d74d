//! The meaning of complete escape sequences for [`OutputScanner`](super::OutputScanner). Stateless.

use super::modes::TrackedModes;
use super::settings::TerminalSettings;
use super::{ESC, ScanEvent};
use crate::title;

/// The final bytes of the CSI sequences that matter.
const TRACKED_FINALS: &[u8] = b"chlnpqrstu";

/// The length of the rest of a sequence after its ESC, if it is complete and its final byte is not
/// tracked: nearly always a colour or a cursor move.
pub(super) fn skippable(rest: &[u8]) -> Option<usize> {
    let body = rest.strip_prefix(b"[")?;
    let end = body.iter().position(|byte| !(0x20..0x40).contains(byte))?;
    let is_untracked = matches!(body[end], 0x40..=0x7e) && !TRACKED_FINALS.contains(&body[end]);
    is_untracked.then_some(end + 2)
}

/// A complete CSI sequence of a kind that matters here.
pub(super) struct ScannerCsi<'a> {
    /// `<`, `=`, `>`, `?`, or 0 if there is none.
    prefix: u8,
    params: &'a [u8],
    /// The byte between parameters and final byte, or 0 if there is none.
    intermediate: u8,
    final_byte: u8,
}

impl<'a> ScannerCsi<'a> {
    /// Parses the bytes between `CSI` and the final byte; `None` if the sequence cannot matter.
    pub(super) fn parse(body: &'a [u8], last: u8) -> Option<Self> {
        if !TRACKED_FINALS.contains(&last) {
            return None;
        }
        let (prefix, body) = match body {
            [prefix @ b'<'..=b'?', rest @ ..] => (*prefix, rest),
            body => (0, body),
        };
        let (params, intermediate) = match body {
            [params @ .., intermediate @ 0x20..=0x2f] => (params, *intermediate),
            params => (params, 0),
        };
        // With a second intermediate byte, or a prefix in the wrong place, the sequence is
        // unassigned.
        let is_plain = params.iter().all(|byte| matches!(byte, b'0'..=b';'));
        is_plain.then_some(Self { prefix, params, intermediate, final_byte: last })
    }

    /// Whether the program waits for an answer.
    pub(super) fn is_query(&self) -> bool {
        match (self.prefix, self.intermediate, self.final_byte) {
            // Device attributes and version.
            (0 | b'>' | b'=', 0, b'c') | (b'>', 0, b'q') => self.number(0, 0) == 0,
            // Device status, cursor position.
            (0, 0, b'n') => matches!(self.number(0, 0), 5 | 6),
            // Private status reports, mode requests, the keyboard's flags.
            (b'?', 0, b'n' | b'u') | (0 | b'?', b'$', b'p') => true,
            // Window and cell sizes.
            (0, 0, b't') => matches!(self.number(0, 0), 14 | 16 | 18),
            _ => false,
        }
    }

    /// Applies the modes it switches.
    pub(super) fn switch(&self, modes: &mut TrackedModes) {
        match (self.prefix, self.intermediate, self.final_byte) {
            (b'?', 0, b'h' | b'l') => {
                self.numbers().for_each(|mode| modes.set_private(mode, self.final_byte == b'h'));
            }
            (0, 0, b'h' | b'l') if self.numbers().any(|mode| mode == 4) => {
                modes.set_insert(self.final_byte == b'h');
            }
            (b'>', 0, b'u') => modes.push_keyboard(self.number(0, 0)),
            (b'<', 0, b'u') => modes.pop_keyboard(self.number(0, 1).max(1)),
            (b'=', 0, b'u') => modes.set_keyboard(self.number(0, 0), self.number(1, 1)),
            (0, b'!', b'p') => modes.reset_softly(),
            _ => {}
        }
    }

    /// Applies what it sets besides modes; returns the new title, if it restored one.
    pub(super) fn set(&self, state: &mut TerminalSettings) -> Option<String> {
        match (self.prefix, self.intermediate, self.final_byte) {
            (0, 0, b'r') => state.set_region(self.number(0, 0), self.number(1, 0)),
            (0, b' ', b'q') => state.set_shape(self.number(0, 0)),
            (0, 0, b's') => state.save(),
            (0, 0, b'u') => state.restore(),
            (0, 0, b't') if self.number(0, 0) == 22 => state.push_title(),
            (0, 0, b't') if self.number(0, 0) == 23 => return state.pop_title(),
            // Our screens do not implement the older modes 47 and 1047.
            (b'?', 0, b'h' | b'l') if self.numbers().any(|mode| mode == 1049) => {
                state.swap(self.final_byte == b'h');
            }
            // DECCOLM changes the number of columns, which resets the scroll region.
            (b'?', 0, b'h' | b'l') if self.numbers().any(|mode| mode == 3) => state.resized(),
            (0, b'!', b'p') => state.reset_softly(),
            _ => {}
        }
        None
    }

    /// Whether it begins (`true`) or ends (`false`) a synchronized update.
    pub(super) fn updates(&self) -> Option<bool> {
        let is_it =
            (self.prefix, self.intermediate) == (b'?', 0) && matches!(self.final_byte, b'h' | b'l');
        (is_it && self.numbers().any(|mode| mode == 2026)).then_some(self.final_byte == b'h')
    }

    fn number(&self, index: usize, default: u16) -> u16 {
        self.numbers().nth(index).unwrap_or(default)
    }

    fn numbers(&self) -> impl Iterator<Item = u16> {
        self.params.split(|&byte| byte == b';').map(number)
    }
}

/// A decimal number as terminals parse it: empty is zero, too large is the largest.
fn number(digits: &[u8]) -> u16 {
    let whole = digits.split(|&byte| byte == b':').next().unwrap_or_default();
    whole.iter().fold(0, |sum: u16, digit| {
        sum.saturating_mul(10).saturating_add(u16::from(digit.saturating_sub(b'0')))
    })
}

/// The event of a complete string (`held` from its ESC to before its terminator).
pub(super) fn string(held: &[u8]) -> Option<ScanEvent> {
    match held {
        [ESC, b']', b'0' | b'2', b';', text @ ..] => {
            Some(ScanEvent::Title(title::clean(&String::from_utf8_lossy(text))))
        }
        [ESC, b']', body @ ..] if asks_colour(body) || body == b"7501;?" => Some(ScanEvent::Query),
        [ESC, b'P', b'$' | b'+', b'q', ..] => Some(ScanEvent::Query),
        _ => None,
    }
}

/// `4;1;?`, `10;?`, `11;?`, `12;?`.
fn asks_colour(body: &[u8]) -> bool {
    let mut fields = body.split(|&byte| byte == b';');
    matches!(fields.next(), Some(b"4" | b"10" | b"11" | b"12")) && fields.any(|field| field == b"?")
}
