//! A cheap scanner of a pane's output that reports events without keeping a grid.
//!
//! Text is skipped at the speed of `memchr`; only escape sequences are read byte by byte. The
//! scanner never answers a query, never draws, and buffers at most [`MAX_SEQUENCE`] bytes.

mod modes;
mod sequence;
mod sgr_pen;
mod settings;
#[cfg(test)]
mod tests;

use memchr::{memchr, memchr2, memchr3, memrchr2};

use modes::TrackedModes;
use sequence::ScannerCsi;
use settings::TerminalSettings;

/// The longest escape sequence that is understood; longer ones are skipped.
pub const MAX_SEQUENCE: usize = 4096;

const BEL: u8 = 0x07;
const SO: u8 = 0x0e;
const SI: u8 = 0x0f;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// An event in a pane's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanEvent {
    /// The program set its window title: OSC 0 or OSC 2, without control characters.
    Title(String),
    /// The bell rang.
    Bell,
    /// The program sent a query and waits for the answer.
    Query,
}

/// The scanner. Feed it every byte in order; how the bytes are cut does not matter.
#[derive(Clone, Debug, Default)]
pub struct OutputScanner {
    state: ScannerState,
    /// The unfinished sequence, from its ESC on; empty in [`ScannerState::Ground`] and
    /// [`ScannerState::Skip`].
    held: Vec<u8>,
    modes: TrackedModes,
    settings: TerminalSettings,
    /// How many synchronized updates have begun.
    updates: u64,
    is_updating: bool,
    /// How often modes or terminal state may have changed.
    changes: u64,
}

/// The position in the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScannerState {
    #[default]
    Ground,
    /// After ESC and any intermediate bytes.
    Escape,
    Csi,
    String(ScannerStringKind),
    /// After an ESC inside a string: a `\` ends the string, anything else abandons it.
    StringEscape,
    /// Inside a string that grew too long to be of interest.
    Skip(ScannerStringKind),
}

/// The SGR sequences among the bytes being read. Most are replaced before a caller could ask for
/// them, so they are applied at the end, starting at the last one that resets everything.
#[derive(Default)]
struct PendingSgr {
    /// The current position.
    at: usize,
    /// The position of the first one that counts.
    from: Option<usize>,
}

impl PendingSgr {
    #[inline]
    fn note_sgr(&mut self, at: usize, params: &[u8]) {
        match params {
            [] | [b'0'] | [b'0', b';', ..] => self.from = Some(at),
            _ => self.from = self.from.or(Some(at)),
        }
    }
}

/// The intermediate bytes of a sequence without parameters.
#[derive(Clone, Copy)]
enum ScannerIntermediate {
    None,
    One(u8),
    /// More than one, or it was another kind of sequence.
    Other,
}

/// The two kinds of strings, which differ in what ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScannerStringKind {
    /// Ended by BEL or ST.
    Osc,
    /// DCS, SOS, PM and APC: ended by ST only.
    Other,
}

impl OutputScanner {
    /// A scanner at the very beginning of a pane's output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes and reports their events, in order.
    pub fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(ScanEvent)) {
        let mut rest = bytes;
        let mut sgr = PendingSgr::default();
        while let Some(&first) = rest.first() {
            sgr.at = bytes.len() - rest.len();
            let used = match self.state {
                ScannerState::Ground => self.ground(bytes, &mut sgr, &mut found),
                ScannerState::Escape => self.escape(first, &mut found),
                ScannerState::Csi => self.csi(rest, &mut found),
                ScannerState::String(kind) => self.string(kind, rest, &mut found),
                ScannerState::StringEscape => self.string_escape(first, &mut found),
                ScannerState::Skip(kind) => self.skip(kind, rest),
            };
            rest = &rest[used..];
        }
        self.apply_pending_sgr(bytes, &mut sgr, bytes.len());
    }

    /// How many of the last bytes belong to an unfinished sequence; at most [`MAX_SEQUENCE`].
    ///
    /// A fresh scanner (or terminal) that is fed [`OutputScanner::preamble`] and then the output
    /// from that many bytes back continues exactly as this one.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.held.len()
    }

    /// The escape bytes that set the program's modes, and nothing else.
    #[must_use]
    pub fn modes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.modes.write(&mut out);
        out
    }

    /// The escape bytes that bring a fresh terminal into this state, except for the content of its
    /// screen: title, modes, scroll region, cursor shape, and the style of the next character.
    #[must_use]
    pub fn setup(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.settings.write_titles(&mut out);
        self.modes.write(&mut out);
        self.settings.write(&mut out);
        out
    }

    /// Increases whenever [`OutputScanner::setup`] may have changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Gives up the synchronized update that has not ended, because its partial drawing was already
    /// shown. Another one may begin.
    pub fn abandon_update(&mut self) {
        self.is_updating = false;
    }

    /// The number of the synchronized update that has begun and not ended.
    #[must_use]
    pub fn open_update(&self) -> Option<u64> {
        self.is_updating.then_some(self.updates)
    }

    /// The terminal was resized after everything read so far.
    pub fn resized(&mut self) {
        self.settings.resized();
        self.changes += 1;
    }

    /// The escape bytes that put a fresh terminal into the modes that the program has switched on
    /// so far.
    ///
    /// Inside a string too long to be buffered, they end by opening such a string, so that the rest
    /// of it is not taken for text.
    #[must_use]
    pub fn preamble(&self) -> Vec<u8> {
        let mut out = self.modes();
        out.extend(self.string_opener());
        out
    }

    /// The bytes that open a string, while inside one that was too long to be buffered.
    #[must_use]
    pub fn string_opener(&self) -> &'static [u8] {
        match self.state {
            // An unassigned number, so that the rest is not taken for a command.
            ScannerState::Skip(ScannerStringKind::Osc) => b"\x1b]99999;",
            ScannerState::Skip(ScannerStringKind::Other) => b"\x1bX",
            ScannerState::Ground
            | ScannerState::Escape
            | ScannerState::Csi
            | ScannerState::String(_)
            | ScannerState::StringEscape => b"",
        }
    }

    fn ground(
        &mut self,
        all: &[u8],
        sgr: &mut PendingSgr,
        found: &mut impl FnMut(ScanEvent),
    ) -> usize {
        let bytes = &all[sgr.at..];
        let at = memchr2(ESC, BEL, bytes).unwrap_or(bytes.len());
        if self.settings.has_lines() {
            self.shift(&bytes[..at]);
        }
        match bytes.get(at) {
            None => return at,
            Some(&BEL) => {
                found(ScanEvent::Bell);
                return at + 1;
            }
            Some(_) => {}
        }
        if let Some(length) = sequence::skippable(&bytes[at + 1..]) {
            let end = at + 1 + length;
            if bytes[end - 1] == b'm' {
                sgr.note_sgr(sgr.at + at, &bytes[at + 2..end - 1]);
            }
            return end;
        }
        // Another sequence may save or restore the style, so apply the pending SGR first.
        self.apply_pending_sgr(all, sgr, sgr.at + at);
        self.begin();
        at + 1
    }

    /// Applies the deferred SGR sequences up to here.
    fn apply_pending_sgr(&mut self, bytes: &[u8], sgr: &mut PendingSgr, end: usize) {
        let Some(from) = sgr.from.take() else { return };
        self.changes += 1;
        let mut rest = &bytes[from..end];
        while let Some(at) = memchr(ESC, rest) {
            rest = &rest[at + 1..];
            let length = sequence::skippable(rest).unwrap_or(0);
            if let [b'[', params @ .., b'm'] = &rest[..length] {
                self.settings.pen().apply(params);
            }
            rest = &rest[length..];
        }
    }

    fn escape(&mut self, byte: u8, found: &mut impl FnMut(ScanEvent)) -> usize {
        let is_bare = self.held.len() == 1;
        match byte {
            b'[' if is_bare => self.push_byte(ScannerState::Csi, byte),
            b']' if is_bare => self.push_byte(ScannerState::String(ScannerStringKind::Osc), byte),
            b'P' | b'X' | b'^' | b'_' if is_bare => {
                self.push_byte(ScannerState::String(ScannerStringKind::Other), byte)
            }
            0x20..=0x2f if self.held.len() < MAX_SEQUENCE => {
                self.push_byte(ScannerState::Escape, byte)
            }
            _ => {
                let middle = match self.held[1..] {
                    [] => ScannerIntermediate::None,
                    [one] => ScannerIntermediate::One(one),
                    _ => ScannerIntermediate::Other,
                };
                self.end();
                return self.single(byte, middle, found);
            }
        }
        1
    }

    /// The final byte of a sequence without parameters. Control characters act as they do in text.
    fn single(
        &mut self,
        byte: u8,
        middle: ScannerIntermediate,
        found: &mut impl FnMut(ScanEvent),
    ) -> usize {
        self.changes += 1;
        match (middle, byte) {
            (_, ESC) => self.begin(),
            (_, BEL) => found(ScanEvent::Bell),
            (ScannerIntermediate::None, b'c') => {
                self.modes = TrackedModes::default();
                self.settings = TerminalSettings::default();
            }
            (ScannerIntermediate::None, b'=') => self.modes.set_keypad(true),
            (ScannerIntermediate::None, b'>') => self.modes.set_keypad(false),
            (ScannerIntermediate::None, b'7') => self.settings.save(),
            (ScannerIntermediate::None, b'8') => self.settings.restore(),
            (ScannerIntermediate::None, b'Z') => found(ScanEvent::Query),
            (ScannerIntermediate::One(set), kind) => self.settings.designate(set, kind),
            (ScannerIntermediate::None | ScannerIntermediate::Other, _) => {}
        }
        1
    }

    /// Tracks which character set is active after the text.
    fn shift(&mut self, text: &[u8]) {
        if let Some(at) = memrchr2(SO, SI, text) {
            self.settings.shift(text[at] == SO);
            self.changes += 1;
        }
    }

    fn csi(&mut self, bytes: &[u8], found: &mut impl FnMut(ScanEvent)) -> usize {
        let run = bytes.iter().position(|byte| !(0x20..0x40).contains(byte)).unwrap_or(bytes.len());
        if MAX_SEQUENCE <= self.held.len() + run {
            self.end();
            return run;
        }
        self.held.extend_from_slice(&bytes[..run]);
        let Some(&byte) = bytes.get(run) else {
            return run;
        };
        match byte {
            0x40..=0x7e => {
                self.handle_csi(byte, found);
                self.end();
            }
            ESC | BEL | CAN | SUB => {
                self.end();
                self.single(byte, ScannerIntermediate::Other, found);
            }
            _ => self.held.push(byte),
        }
        run + 1
    }

    fn string(
        &mut self,
        kind: ScannerStringKind,
        bytes: &[u8],
        found: &mut impl FnMut(ScanEvent),
    ) -> usize {
        let run = string_run(kind, bytes);
        if MAX_SEQUENCE <= self.held.len() + run {
            self.held.clear();
            self.state = ScannerState::Skip(kind);
            return run;
        }
        self.held.extend_from_slice(&bytes[..run]);
        match bytes.get(run) {
            None => return run,
            Some(&ESC) => self.push_byte(ScannerState::StringEscape, ESC),
            Some(&BEL) => {
                self.handle_string(found);
                self.end();
            }
            Some(_) => self.end(),
        }
        run + 1
    }

    fn string_escape(&mut self, byte: u8, found: &mut impl FnMut(ScanEvent)) -> usize {
        if byte != b'\\' {
            self.begin();
            return 0;
        }
        self.held.pop();
        self.handle_string(found);
        self.end();
        1
    }

    fn skip(&mut self, kind: ScannerStringKind, bytes: &[u8]) -> usize {
        let run = string_run(kind, bytes);
        match bytes.get(run) {
            None => return run,
            // Whether a `\` or another sequence follows, this string is over.
            Some(&ESC) => self.begin(),
            Some(_) => self.end(),
        }
        run + 1
    }

    /// Handles a complete CSI sequence.
    fn handle_csi(&mut self, last: u8, found: &mut impl FnMut(ScanEvent)) {
        self.changes += 1;
        if last == b'm' {
            return self.settings.pen().apply(&self.held[2..]);
        }
        let Some(csi) = ScannerCsi::parse(&self.held[2..], last) else {
            return;
        };
        if csi.is_query() {
            return found(ScanEvent::Query);
        }
        csi.switch(&mut self.modes);
        if let Some(title) = csi.set(&mut self.settings) {
            found(ScanEvent::Title(title));
        }
        if let Some(is_updating) = csi.updates() {
            self.updates += u64::from(is_updating && !self.is_updating);
            self.is_updating = is_updating;
        }
    }

    /// Handles a complete string.
    fn handle_string(&mut self, found: &mut impl FnMut(ScanEvent)) {
        let Some(event) = sequence::string(&self.held) else { return };
        if let ScanEvent::Title(title) = &event {
            self.settings.set_title(title);
            self.changes += 1;
        }
        found(event);
    }

    fn begin(&mut self) {
        self.held.clear();
        self.push_byte(ScannerState::Escape, ESC);
    }

    fn push_byte(&mut self, state: ScannerState, byte: u8) {
        self.state = state;
        self.held.push(byte);
    }

    fn end(&mut self) {
        self.held.clear();
        self.state = ScannerState::Ground;
    }
}

/// How many bytes belong to the string: up to ESC, CAN, SUB and, in an OSC, BEL.
fn string_run(kind: ScannerStringKind, bytes: &[u8]) -> usize {
    let end = match kind {
        ScannerStringKind::Osc => memchr3(ESC, BEL, CAN, bytes),
        ScannerStringKind::Other => memchr2(ESC, CAN, bytes),
    };
    let run = end.unwrap_or(bytes.len());
    memchr(SUB, &bytes[..run]).unwrap_or(run)
}
