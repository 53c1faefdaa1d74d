//! A cheap scanner of a pane's output that reports events without keeping a grid.
//!
//! Text is skipped at the speed of `memchr`; only escape sequences are read byte by byte. The
//! scanner never answers a query, never draws, and buffers at most [`MAX_SEQUENCE`] bytes.

mod modes;
mod sequence;
mod settings;
mod sgr_pen;
#[cfg(test)]
mod tests;

use memchr::{memchr, memchr2, memrchr2};

use crate::vt::{self, BEL, ESC, SI, SO, StringBuffer, StringKind};
use crate::vt::{Csi, VtSequence, VtState, VtToken, VtTokenizer};
use modes::TrackedModes;
use sequence::ScannerCsi;
use settings::TerminalSettings;

pub use crate::vt::MAX_SEQUENCE;

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
    tokenizer: VtTokenizer,
    tracker: OutputTracker,
}

/// What the output has set so far.
#[derive(Clone, Debug, Default)]
struct OutputTracker {
    string: ScannedString,
    modes: TrackedModes,
    settings: TerminalSettings,
    /// How many synchronized updates have begun.
    updates: u64,
    is_updating: bool,
    /// How often modes or settings may have changed.
    changes: u64,
}

/// The last string.
#[derive(Clone, Debug, Default)]
struct ScannedString {
    buffer: StringBuffer,
    /// How many bytes it has so far, with its introducer.
    length: usize,
}

impl ScannedString {
    fn start(&mut self, kind: StringKind, introducer: &[u8]) {
        self.buffer.start(kind);
        let is_whole = introducer.first() == Some(&ESC);
        self.length = if is_whole { introducer.len() } else { MAX_SEQUENCE };
    }

    fn push(&mut self, part: &[u8]) {
        self.length = self.length.saturating_add(part.len());
        if !self.is_skipped() {
            self.buffer.push(part);
        }
    }

    /// Whether it grew too long to be of interest.
    fn is_skipped(&self) -> bool {
        MAX_SEQUENCE <= self.length
    }
}

/// The SGR sequences among the bytes being read. Most are replaced before a caller could ask for
/// them, so they are applied at the end, starting at the last one that resets everything.
#[derive(Default)]
struct PendingSgr {
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
        while !rest.is_empty() {
            if self.tokenizer.state() == VtState::Ground {
                let at = bytes.len() - rest.len();
                rest = &bytes[self.tracker.ground(bytes, at, &mut sgr, &mut found)..];
            }
            if let Some(token) = self.tokenizer.next(&mut rest) {
                self.tracker.observe(token, &mut found);
            }
        }
        self.tracker.apply_pending_sgr(bytes, &mut sgr, bytes.len());
    }

    /// How many of the last bytes belong to an unfinished sequence; at most [`MAX_SEQUENCE`].
    ///
    /// A fresh scanner (or terminal) that is fed [`OutputScanner::preamble`] and then the output
    /// from that many bytes back continues exactly as this one.
    #[must_use]
    pub fn pending(&self) -> usize {
        let string = match self.tokenizer.state() {
            VtState::String(_) | VtState::StringEscape(_) => &self.tracker.string,
            VtState::Ground | VtState::Escape | VtState::Intermediate | VtState::Csi => {
                return self.tokenizer.held();
            }
        };
        self.tokenizer.held() + if string.is_skipped() { 0 } else { string.length }
    }

    /// The escape bytes that set the program's modes, and nothing else.
    #[must_use]
    pub fn modes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.tracker.modes.write(&mut out);
        out
    }

    /// The escape bytes that bring a fresh terminal into this state, except for the content of its
    /// screen: title, modes, scroll region, cursor shape, and the style of the next character.
    #[must_use]
    pub fn setup(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.tracker.settings.write_titles(&mut out);
        self.tracker.modes.write(&mut out);
        self.tracker.settings.write(&mut out);
        out
    }

    /// Increases whenever [`OutputScanner::setup`] may have changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.tracker.changes
    }

    /// Gives up the synchronized update that has not ended, because its partial drawing was already
    /// shown. Another one may begin.
    pub fn abandon_update(&mut self) {
        self.tracker.is_updating = false;
    }

    /// The number of the synchronized update that has begun and not ended.
    #[must_use]
    pub fn open_update(&self) -> Option<u64> {
        self.tracker.is_updating.then_some(self.tracker.updates)
    }

    /// The terminal was resized after everything read so far.
    pub fn resized(&mut self) {
        self.tracker.settings.resized();
        self.tracker.changes += 1;
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
        match self.tokenizer.state() {
            VtState::String(_) if !self.tracker.string.is_skipped() => b"",
            // An unassigned number, so that the rest is not taken for a command.
            VtState::String(StringKind::Osc) => b"\x1b]99999;",
            VtState::String(_) => b"\x1bX",
            VtState::Ground
            | VtState::Escape
            | VtState::Intermediate
            | VtState::Csi
            | VtState::StringEscape(_) => b"",
        }
    }
}

impl OutputTracker {
    /// Reads text and what can be skipped of the sequences in it, from this position on; returns
    /// the position of the first sequence that matters, or the end.
    fn ground(
        &mut self,
        bytes: &[u8],
        from: usize,
        sgr: &mut PendingSgr,
        found: &mut impl FnMut(ScanEvent),
    ) -> usize {
        let mut at = from;
        loop {
            let text = &bytes[at..];
            let text = &text[..memchr2(ESC, BEL, text).unwrap_or(text.len())];
            if self.settings.has_lines() {
                self.shift(text);
            }
            at += text.len();
            match bytes.get(at) {
                None => return at,
                Some(&BEL) => {
                    found(ScanEvent::Bell);
                    at += 1;
                    continue;
                }
                Some(_) => {}
            }
            let Some(length) = sequence::skippable(&bytes[at..]) else {
                // Another sequence may save or restore the style, so apply the pending SGR first.
                self.apply_pending_sgr(bytes, sgr, at);
                return at;
            };
            let end = at + length;
            if bytes[end - 1] == b'm' {
                sgr.note_sgr(at, &bytes[at + 2..end - 1]);
            }
            at = end;
        }
    }

    /// Applies the deferred SGR sequences up to here.
    fn apply_pending_sgr(&mut self, bytes: &[u8], sgr: &mut PendingSgr, end: usize) {
        let Some(from) = sgr.from.take() else { return };
        self.changes += 1;
        let mut rest = &bytes[from..end];
        while let Some(at) = memchr(ESC, rest) {
            rest = &rest[at..];
            let length = sequence::skippable(rest).unwrap_or(1);
            if let [_, b'[', params @ .., b'm'] = &rest[..length] {
                self.settings.pen().apply(params);
            }
            rest = &rest[length..];
        }
    }

    fn observe(&mut self, token: VtToken<'_>, found: &mut impl FnMut(ScanEvent)) {
        match token {
            VtToken::Text(_) => {}
            VtToken::Escape(sequence) => self.escape(sequence, found),
            VtToken::Csi(csi) => self.csi(csi, found),
            VtToken::Incomplete(sequence) => self.execute(sequence.controls(), found),
            VtToken::Overlong(part) => self.execute(vt::controls(part), found),
            VtToken::StringStart(kind, introducer) => self.string.start(kind, introducer),
            VtToken::StringBody(part) => self.string.push(part),
            VtToken::StringEnd(end) if end.is_complete() => self.end_string(found),
            VtToken::StringEnd(_) => {}
        }
    }

    /// Control characters inside a sequence act as they do in text.
    fn execute(&mut self, controls: impl Iterator<Item = u8>, found: &mut impl FnMut(ScanEvent)) {
        for control in controls {
            match control {
                BEL => found(ScanEvent::Bell),
                SO | SI if self.settings.has_lines() => self.shift(&[control]),
                _ => {}
            }
        }
    }

    fn escape(&mut self, sequence: VtSequence<'_>, found: &mut impl FnMut(ScanEvent)) {
        self.changes += 1;
        self.execute(sequence.controls(), found);
        // A reader that starts here does not know what it began with.
        if sequence.is_overlong() {
            return;
        }
        match sequence.plain[1..] {
            [b'c'] => {
                self.modes = TrackedModes::default();
                self.settings = TerminalSettings::default();
            }
            [b'='] => self.modes.set_keypad(true),
            [b'>'] => self.modes.set_keypad(false),
            [b'7'] => self.settings.save(),
            [b'8'] => self.settings.restore(),
            [b'Z'] => found(ScanEvent::Query),
            [set, kind] => self.settings.designate(set, kind),
            _ => {}
        }
    }

    /// Tracks which character set is active after the text.
    fn shift(&mut self, text: &[u8]) {
        if let Some(at) = memrchr2(SO, SI, text) {
            self.settings.shift(text[at] == SO);
            self.changes += 1;
        }
    }

    fn csi(&mut self, csi: Csi<'_>, found: &mut impl FnMut(ScanEvent)) {
        self.changes += 1;
        self.execute(csi.sequence().controls(), found);
        if csi.sequence().is_overlong() {
            return;
        }
        if csi.last() == b'm' {
            return self.settings.pen().apply(csi.body());
        }
        let Some(csi) = ScannerCsi::new(csi) else {
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
    fn end_string(&mut self, found: &mut impl FnMut(ScanEvent)) {
        let string = self.string.buffer.whole_string().filter(|_| !self.string.is_skipped());
        let Some(event) = string.and_then(|(kind, content)| sequence::string(kind, content)) else {
            return;
        };
        if let ScanEvent::Title(title) = &event {
            self.settings.set_title(title);
            self.changes += 1;
        }
        found(event);
    }
}
