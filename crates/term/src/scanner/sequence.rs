//! The meaning of complete escape sequences for [`OutputScanner`](super::OutputScanner). Stateless.

use super::ScanEvent;
use super::modes::TrackedModes;
use super::settings::TerminalSettings;
use crate::title;
use crate::vt::{Csi, MAX_SEQUENCE, StringKind, complete_csi};

/// The final bytes of the CSI sequences that matter.
const TRACKED_FINALS: &[u8] = b"chlnpqrstu";

/// The length of the control sequence that these bytes begin with, if it is complete and its final
/// byte is not tracked: nearly always a colour or a cursor move.
#[inline]
pub(super) fn skippable(bytes: &[u8]) -> Option<usize> {
    let length = complete_csi(bytes).filter(|length| *length <= MAX_SEQUENCE)?;
    (!TRACKED_FINALS.contains(&bytes[length - 1])).then_some(length)
}

/// A control sequence of a kind that matters here.
pub(super) struct ScannerCsi<'a> {
    csi: Csi<'a>,
    prefix: u8,
    intermediate: u8,
    last: u8,
}

impl<'a> ScannerCsi<'a> {
    /// `None` if the sequence cannot matter.
    pub(super) fn new(csi: Csi<'a>) -> Option<Self> {
        let last = csi.last();
        let is_tracked = TRACKED_FINALS.contains(&last) && csi.is_well_formed();
        is_tracked.then(|| Self {
            prefix: csi.prefix(),
            intermediate: csi.intermediate(),
            last,
            csi,
        })
    }

    /// Whether the program waits for an answer.
    pub(super) fn is_query(&self) -> bool {
        match (self.prefix, self.intermediate, self.last) {
            // Device attributes and version.
            (0 | b'>' | b'=', 0, b'c') | (b'>', 0, b'q') => self.number(0) == 0,
            // Device status, cursor position.
            (0, 0, b'n') => matches!(self.number(0), 5 | 6),
            // Private status reports, mode requests, the keyboard's flags.
            (b'?', 0, b'n' | b'u') | (0 | b'?', b'$', b'p') => true,
            // Window and cell sizes.
            (0, 0, b't') => matches!(self.number(0), 14 | 16 | 18),
            _ => false,
        }
    }

    /// Applies the modes it switches.
    pub(super) fn switch(&self, modes: &mut TrackedModes) {
        match (self.prefix, self.intermediate, self.last) {
            (b'?', 0, b'h' | b'l') => {
                let modes_given = self.csi.numbers().flatten().map(clamp);
                modes_given.for_each(|mode| modes.set_private(mode, self.last == b'h'));
            }
            (0, 0, b'h' | b'l') if self.csi.has_number(4) => {
                modes.set_insert(self.last == b'h');
            }
            (b'>', 0, b'u') => modes.push_keyboard(self.number(0)),
            (b'<', 0, b'u') => modes.pop_keyboard(self.number(0).max(1)),
            (b'=', 0, b'u') => modes.set_keyboard(self.number(0), self.number(1)),
            (0, b'!', b'p') => modes.reset_softly(),
            _ => {}
        }
    }

    /// Applies what it sets besides modes; returns the new title, if it restored one.
    pub(super) fn set(&self, settings: &mut TerminalSettings) -> Option<String> {
        match (self.prefix, self.intermediate, self.last) {
            (0, 0, b'r') => settings.set_region(self.number(0), self.number(1)),
            (0, b' ', b'q') => settings.set_shape(self.number(0)),
            (0, 0, b's') => settings.save(),
            (0, 0, b'u') => settings.restore(),
            (0, 0, b't') if self.number(0) == 22 => settings.push_title(),
            (0, 0, b't') if self.number(0) == 23 => return settings.pop_title(),
            // Our screens do not implement the older modes 47 and 1047.
            (b'?', 0, b'h' | b'l') if self.csi.has_number(1049) => {
                settings.swap(self.last == b'h');
            }
            // DECCOLM changes the number of columns, which resets the scroll region.
            (b'?', 0, b'h' | b'l') if self.csi.has_number(3) => settings.resized(),
            (0, b'!', b'p') => settings.reset_softly(),
            _ => {}
        }
        None
    }

    /// Whether it begins (`true`) or ends (`false`) a synchronized update.
    pub(super) fn updates(&self) -> Option<bool> {
        let is_it =
            (self.prefix, self.intermediate) == (b'?', 0) && matches!(self.last, b'h' | b'l');
        (is_it && self.csi.has_number(2026)).then_some(self.last == b'h')
    }

    /// A parameter; 0 if it is missing.
    fn number(&self, index: usize) -> u16 {
        clamp(self.csi.number(index))
    }
}

/// Numbers have 16 bits in terminals: too large is the largest.
fn clamp(number: u32) -> u16 {
    number.try_into().unwrap_or(u16::MAX)
}

/// The event of a complete string.
pub(super) fn string(kind: StringKind, content: &[u8]) -> Option<ScanEvent> {
    match (kind, content) {
        (StringKind::Osc, [b'0' | b'2', b';', text @ ..]) => {
            Some(ScanEvent::Title(title::clean(&String::from_utf8_lossy(text))))
        }
        (StringKind::Osc, body) if asks_colour(body) || body == b"7501;?" => Some(ScanEvent::Query),
        (StringKind::Dcs, [b'$' | b'+', b'q', ..]) => Some(ScanEvent::Query),
        _ => None,
    }
}

/// `4;1;?`, `10;?`, `11;?`, `12;?`.
fn asks_colour(body: &[u8]) -> bool {
    let mut fields = body.split(|&byte| byte == b';');
    matches!(fields.next(), Some(b"4" | b"10" | b"11" | b"12")) && fields.any(|field| field == b"?")
}
