//! A cheap reader of a pane's output that reports facts without keeping a grid.
//!
//! Text is skipped at the speed of `memchr`; only escape sequences are looked at byte by byte. It never
//! answers a query, never draws, and holds at most [`MAX_SEQUENCE`] bytes.

mod modes;
mod sequence;
mod sgr_pen;
mod terminal_state;
#[cfg(test)]
mod tests;

use memchr::{memchr, memchr2, memchr3, memrchr2};

use modes::TrackedModes;
use sequence::ScannerCsi;
use terminal_state::TerminalState;

/// The longest escape sequence that is understood; longer ones are skipped.
pub const MAX_SEQUENCE: usize = 4096;

const BEL: u8 = 0x07;
const SO: u8 = 0x0e;
const SI: u8 = 0x0f;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// A fact read from a pane's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanEvent {
    /// The program named its window: OSC 0 or OSC 2, without control characters.
    Title(String),
    /// The bell rang.
    Bell,
    /// The program asked the terminal something and waits for the answer.
    Query,
}

/// The reader. Feed it every byte in order; how the bytes are cut does not matter.
#[derive(Clone, Debug, Default)]
pub struct OutputScanner {
    state: ScannerState,
    /// The unfinished sequence, from its ESC on; empty in [`ScannerState::Ground`] and [`ScannerState::Skip`].
    held: Vec<u8>,
    modes: TrackedModes,
    terminal_state: TerminalState,
    /// How many synchronized updates have begun.
    updates: u64,
    is_updating: bool,
    /// How often modes or setting may have changed.
    changes: u64,
}

/// Where in the grammar the next byte stands.
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

/// The looks among the bytes that are being read. Most are taken off before anybody could ask for them, so they are read
/// in the end, from the last one on that takes everything off.
#[derive(Default)]
struct PendingSgr {
    /// Where we are.
    at: usize,
    /// Where the first of them is that counts.
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

/// What stood between ESC and the last byte of a sequence without parameters.
#[derive(Clone, Copy)]
enum ScannerIntermediate {
    None,
    One(u8),
    /// More than that, or it was no such sequence.
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
    /// A reader at the very beginning of a pane's output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes and reports what they say, in order.
    pub fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(ScanEvent)) {
        let (mut rest, mut worn) = (bytes, PendingSgr::default());
        while let Some(&first) = rest.first() {
            worn.at = bytes.len() - rest.len();
            let used = match self.state {
                ScannerState::Ground => self.ground(bytes, &mut worn, &mut found),
                ScannerState::Escape => self.escape(first, &mut found),
                ScannerState::Csi => self.csi(rest, &mut found),
                ScannerState::String(kind) => self.string(kind, rest, &mut found),
                ScannerState::StringEscape => self.string_escape(first, &mut found),
                ScannerState::Skip(kind) => self.skip(kind, rest),
            };
            rest = &rest[used..];
        }
        self.apply_pending_sgr(bytes, &mut worn, bytes.len());
    }

    /// How many of the last bytes belong to an unfinished sequence; at most [`MAX_SEQUENCE`].
    ///
    /// A fresh reader (or terminal) that is fed [`OutputScanner::preamble`] and then started that many bytes back
    /// goes on as this one does.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.held.len()
    }

    /// The escape bytes that put a terminal into those modes, and nothing else.
    #[must_use]
    pub fn modes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.modes.write(&mut out);
        out
    }

    /// The escape bytes that make a fresh terminal what this one has become, but for what it shows: title, modes, the
    /// rows that scroll, the cursor's shape, and how the next character is drawn.
    #[must_use]
    pub fn setup(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.terminal_state.write_titles(&mut out);
        self.modes.write(&mut out);
        self.terminal_state.write(&mut out);
        out
    }

    /// Rises whenever [`OutputScanner::setup`] may have changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The synchronized update that has not ended is given up: whoever looks has seen what it drew. Another one may begin.
    pub fn abandon_update(&mut self) {
        self.is_updating = false;
    }

    /// The number of the synchronized update that has begun and not ended.
    #[must_use]
    pub fn open_update(&self) -> Option<u64> {
        self.is_updating.then_some(self.updates)
    }

    /// The terminal has another size, after all that was read so far.
    pub fn resized(&mut self) {
        self.terminal_state.resized();
        self.changes += 1;
    }

    /// The escape bytes that put a fresh terminal into the modes the program has switched on so far.
    ///
    /// Inside a string too long to be held they end by opening such a string, so that its rest is no text.
    #[must_use]
    pub fn preamble(&self) -> Vec<u8> {
        let mut out = self.modes();
        out.extend(self.string_opener());
        out
    }

    /// What opens a string, inside one that was too long to be held.
    #[must_use]
    pub fn string_opener(&self) -> &'static [u8] {
        match self.state {
            // A number that means nothing to anyone, so that the rest is not taken for a command.
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
        worn: &mut PendingSgr,
        found: &mut impl FnMut(ScanEvent),
    ) -> usize {
        let bytes = &all[worn.at..];
        let at = memchr2(ESC, BEL, bytes).unwrap_or(bytes.len());
        if self.terminal_state.has_lines() {
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
        if let Some(dull) = sequence::skippable(&bytes[at + 1..]) {
            let end = at + 1 + dull;
            if bytes[end - 1] == b'm' {
                worn.note_sgr(worn.at + at, &bytes[at + 2..end - 1]);
            }
            return end;
        }
        // What is no look may take it for another, or put one back.
        self.apply_pending_sgr(all, worn, worn.at + at);
        self.begin();
        at + 1
    }

    /// Reads the looks that were put off up to here.
    fn apply_pending_sgr(&mut self, bytes: &[u8], worn: &mut PendingSgr, end: usize) {
        let Some(from) = worn.from.take() else { return };
        self.changes += 1;
        let mut rest = &bytes[from..end];
        while let Some(at) = memchr(ESC, rest) {
            rest = &rest[at + 1..];
            let length = sequence::skippable(rest).unwrap_or(0);
            if let [b'[', params @ .., b'm'] = &rest[..length] {
                self.terminal_state.pen().apply(params);
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

    /// The last byte of a sequence without parameters. Controls do here what they do in text.
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
                (self.modes, self.terminal_state) = Default::default()
            }
            (ScannerIntermediate::None, b'=') => self.modes.set_keypad(true),
            (ScannerIntermediate::None, b'>') => self.modes.set_keypad(false),
            (ScannerIntermediate::None, b'7') => self.terminal_state.save(),
            (ScannerIntermediate::None, b'8') => self.terminal_state.restore(),
            (ScannerIntermediate::None, b'Z') => found(ScanEvent::Query),
            (ScannerIntermediate::One(set), kind) => self.terminal_state.designate(set, kind),
            (ScannerIntermediate::None | ScannerIntermediate::Other, _) => {}
        }
        1
    }

    /// Notes which character set the text leaves in use.
    fn shift(&mut self, text: &[u8]) {
        if let Some(at) = memrchr2(SO, SI, text) {
            self.terminal_state.shift(text[at] == SO);
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
            // Whether a `\` or another sequence follows, this one is over.
            Some(&ESC) => self.begin(),
            Some(_) => self.end(),
        }
        run + 1
    }

    /// Does what a whole CSI sequence says.
    fn handle_csi(&mut self, last: u8, found: &mut impl FnMut(ScanEvent)) {
        self.changes += 1;
        if last == b'm' {
            return self.terminal_state.pen().apply(&self.held[2..]);
        }
        let Some(csi) = ScannerCsi::parse(&self.held[2..], last) else {
            return;
        };
        if csi.is_query() {
            return found(ScanEvent::Query);
        }
        csi.switch(&mut self.modes);
        if let Some(title) = csi.set(&mut self.terminal_state) {
            found(ScanEvent::Title(title));
        }
        if let Some(is_updating) = csi.updates() {
            self.updates += u64::from(is_updating && !self.is_updating);
            self.is_updating = is_updating;
        }
    }

    /// Says what a whole string says.
    fn handle_string(&mut self, found: &mut impl FnMut(ScanEvent)) {
        let Some(signal) = sequence::string(&self.held) else { return };
        if let ScanEvent::Title(title) = &signal {
            self.terminal_state.set_title(title);
            self.changes += 1;
        }
        found(signal);
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

/// How many bytes still belong to the string: up to ESC, CAN, SUB and, in an OSC, BEL.
fn string_run(kind: ScannerStringKind, bytes: &[u8]) -> usize {
    let end = match kind {
        ScannerStringKind::Osc => memchr3(ESC, BEL, CAN, bytes),
        ScannerStringKind::Other => memchr2(ESC, CAN, bytes),
    };
    let run = end.unwrap_or(bytes.len());
    memchr(SUB, &bytes[..run]).unwrap_or(run)
}
