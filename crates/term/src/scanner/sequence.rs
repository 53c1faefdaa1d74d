//! What whole escape sequences mean to [`Signals`](super::Signals). Keeps nothing.

use super::modes::TrackedModes;
use super::terminal_state::TerminalState;
use super::{ESC, ScanEvent};
use crate::title;

/// The last bytes of the CSI sequences that matter.
const TRACKED_FINALS: &[u8] = b"chlnpqrstu";

/// How long the rest of a sequence after its ESC is, if it is all there and cannot matter: nearly always a
/// colour or a move.
pub(super) fn skippable(rest: &[u8]) -> Option<usize> {
    let body = rest.strip_prefix(b"[")?;
    let end = body.iter().position(|byte| !(0x20..0x40).contains(byte))?;
    let is_dull = matches!(body[end], 0x40..=0x7e) && !TRACKED_FINALS.contains(&body[end]);
    is_dull.then_some(end + 2)
}

/// A whole CSI sequence of a kind that matters here.
pub(super) struct ScannerCsi<'a> {
    /// `<`, `=`, `>`, `?` or, where none is written, 0.
    prefix: u8,
    params: &'a [u8],
    /// The byte between parameters and last byte or, where none is written, 0.
    intermediate: u8,
    final_byte: u8,
}

impl<'a> ScannerCsi<'a> {
    /// Reads what stands between `CSI` and the last byte; nothing if the sequence cannot matter.
    pub(super) fn parse(body: &'a [u8], last: u8) -> Option<Self> {
        if !TRACKED_FINALS.contains(&last) {
            return None;
        }
        let (prefix, body) = match body {
            [prefix @ b'<'..=b'?', rest @ ..] => (*prefix, rest),
            body => (0, body),
        };
        let (params, middle) = match body {
            [params @ .., middle @ 0x20..=0x2f] => (params, *middle),
            params => (params, 0),
        };
        // A second intermediate byte, or a prefix in the wrong place, makes it a sequence of nobody's.
        let is_plain = params.iter().all(|byte| matches!(byte, b'0'..=b';'));
        is_plain.then_some(Self { prefix, params, intermediate: middle, final_byte: last })
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

    /// Notes the modes it switches.
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

    /// Notes what it sets beside modes; the title that there is now, if it brought one back.
    pub(super) fn set(&self, setting: &mut TerminalState) -> Option<String> {
        match (self.prefix, self.intermediate, self.final_byte) {
            (0, 0, b'r') => setting.set_region(self.number(0, 0), self.number(1, 0)),
            (0, b' ', b'q') => setting.set_shape(self.number(0, 0)),
            (0, 0, b's') => setting.save(),
            (0, 0, b'u') => setting.restore(),
            (0, 0, b't') if self.number(0, 0) == 22 => setting.push_title(),
            (0, 0, b't') if self.number(0, 0) == 23 => return setting.pop_title(),
            // The older two are none to our screens.
            (b'?', 0, b'h' | b'l') if self.numbers().any(|mode| mode == 1049) => {
                setting.swap(self.final_byte == b'h');
            }
            // A switch to another number of columns, which makes all rows scroll again.
            (b'?', 0, b'h' | b'l') if self.numbers().any(|mode| mode == 3) => setting.resized(),
            (0, b'!', b'p') => setting.reset_softly(),
            _ => {}
        }
        None
    }

    /// Whether it begins or ends a synchronized update.
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

/// A decimal number as terminals read it: empty is zero, too large is the largest.
fn number(digits: &[u8]) -> u16 {
    let whole = digits.split(|&byte| byte == b':').next().unwrap_or_default();
    whole.iter().fold(0, |sum: u16, digit| {
        sum.saturating_mul(10).saturating_add(u16::from(digit.saturating_sub(b'0')))
    })
}

/// What a whole string (`held` from its ESC to before its terminator) says.
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
