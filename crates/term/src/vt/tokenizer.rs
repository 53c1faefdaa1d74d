//! Splits a stream into text, sequences and strings, wherever it is cut.

use std::mem;

use memchr::{memchr, memchr2, memchr3};

use super::csi::complete_csi;
use super::{BEL, C1_LEAD, CAN, Csi, ESC, MAX_SEQUENCE, SUB, StringEnd, StringKind};
use super::{VtSequence, VtState, VtToken};

/// The start of a DCS for the terminal outside of tmux: each ESC in it is doubled.
const TMUX_PASSTHROUGH: &[u8] = b"tmux;";

/// Where terminals differ: whose rules are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VtDialect {
    /// Those of our own [`Screen`](crate::Screen): `ESC k` is a title, C1 controls are text.
    #[default]
    Screen,
    /// Those of any terminal that a user may have: C1 controls in UTF-8 are like the sequences that
    /// they stand for, and a DCS may be for the terminal outside of tmux.
    AnyTerminal,
}

/// Splits a stream into tokens. It keeps unfinished escape and control sequences, up to
/// [`MAX_SEQUENCE`] bytes, and nothing of strings.
#[derive(Clone, Debug, Default)]
pub struct VtTokenizer {
    dialect: VtDialect,
    state: VtState,
    /// The unfinished sequence, or the first byte of a C1 control.
    held: Vec<u8>,
    /// Whether the last token was a view of `held`.
    is_returned: bool,
    /// Whether the sequence holds bytes that terminals skip or execute, or begins with a C1
    /// control.
    has_others: bool,
    /// The sequence without those.
    plain: Vec<u8>,
    /// Whether the sequence is too long to be held. Then it is read byte by byte, so that its
    /// tokens do not depend on how it is cut.
    is_overlong: bool,
    /// How many bytes of [`TMUX_PASSTHROUGH`] the string began with.
    tmux_bytes: usize,
}

/// A token before it borrows from the tokenizer; a sequence without bytes is the one that is held.
enum FoundToken<'a> {
    Token(VtToken<'a>),
    Sequence(SequenceEnd, Option<&'a [u8]>),
}

/// How an escape or control sequence ended.
#[derive(Clone, Copy)]
enum SequenceEnd {
    Escape,
    Csi,
    Incomplete,
    Overlong,
    String(StringKind),
}

impl VtTokenizer {
    /// A tokenizer for a stream that begins with text.
    #[must_use]
    pub fn new(dialect: VtDialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    /// The position in the grammar.
    #[must_use]
    pub fn state(&self) -> VtState {
        self.state
    }

    /// How many of the last bytes belong to no token yet.
    #[must_use]
    pub fn held(&self) -> usize {
        if self.is_returned { 0 } else { self.held.len() }
    }

    /// The next token, which is removed from the bytes; `None` when all of them are read.
    pub fn next<'t, 'a: 't>(&'t mut self, bytes: &mut &'a [u8]) -> Option<VtToken<'t>> {
        if mem::take(&mut self.is_returned) {
            self.held.clear();
        }
        // Most sequences need no state: they are complete, and control sequences.
        if self.state == VtState::Ground
            && self.held.is_empty()
            && let Some(length) = complete_csi(bytes).filter(|length| *length <= MAX_SEQUENCE)
        {
            let raw = take(bytes, length);
            return Some(VtToken::Csi(Csi::new(VtSequence { raw, plain: raw })));
        }
        while !bytes.is_empty() {
            if let Some(found) = self.step(bytes) {
                return Some(self.token(found));
            }
        }
        None
    }

    fn step<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<FoundToken<'a>> {
        match self.state {
            VtState::Ground => self.ground(bytes),
            VtState::Escape | VtState::Intermediate | VtState::Csi => self.sequence(bytes, 0),
            VtState::String(kind) => self.string(kind, bytes),
            VtState::StringEscape(kind) => Some(self.string_escape(kind, bytes)),
        }
    }

    fn ground<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<FoundToken<'a>> {
        if !self.held.is_empty() {
            return self.c1(bytes);
        }
        let text = self.text_len(bytes);
        if 0 < text {
            return Some(FoundToken::Token(VtToken::Text(take(bytes, text))));
        }
        self.has_others = false;
        if bytes[0] == C1_LEAD {
            self.held.push(C1_LEAD);
            *bytes = &bytes[1..];
            return None;
        }
        self.state = VtState::Escape;
        self.sequence(bytes, 1)
    }

    /// How many bytes are text.
    fn text_len(&self, bytes: &[u8]) -> usize {
        if self.dialect == VtDialect::Screen {
            return memchr(ESC, bytes).unwrap_or(bytes.len());
        }
        let mut from = 0;
        while let Some(at) = memchr2(ESC, C1_LEAD, &bytes[from..]).map(|at| from + at) {
            let is_text = bytes[at] == C1_LEAD
                && bytes.get(at + 1).is_some_and(|next| !(0x80..=0x9f).contains(next));
            if !is_text {
                return at;
            }
            from = at + 1;
        }
        bytes.len()
    }

    /// The byte after the first byte of a C1 control.
    fn c1<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<FoundToken<'a>> {
        let second = bytes[0];
        if !(0x80..=0x9f).contains(&second) {
            self.held.clear();
            return Some(FoundToken::Token(VtToken::Text(&[C1_LEAD])));
        }
        self.state = VtState::Escape;
        self.has_others = true;
        let end = self.advance(second - 0x40);
        let second = take(bytes, 1);
        self.held.extend_from_slice(second);
        let end = end?;
        self.write_plain(&[], false);
        Some(FoundToken::Sequence(end, None))
    }

    /// Reads an escape or control sequence, of which this many bytes were read already.
    fn sequence<'a>(&mut self, bytes: &mut &'a [u8], read: usize) -> Option<FoundToken<'a>> {
        let was_overlong = self.is_overlong;
        let room = if was_overlong { 1 } else { MAX_SEQUENCE - self.held.len() };
        let mut used = read;
        let mut end = None;
        while end.is_none() && used < bytes.len().min(room) {
            if bytes[used] == ESC {
                end = Some(SequenceEnd::Incomplete);
                self.state = VtState::Ground;
                break;
            }
            end = self.advance(bytes[used]);
            used += 1;
        }
        let raw = take(bytes, used);
        self.is_overlong = end.is_none() && used == room;
        if end.is_none() && !self.is_overlong {
            self.held.extend_from_slice(raw);
            return None;
        }
        self.write_plain(raw, was_overlong);
        let end = match end {
            Some(SequenceEnd::String(kind)) => SequenceEnd::String(kind),
            Some(end) if !was_overlong || self.plain.len() <= MAX_SEQUENCE => end,
            Some(_) | None => SequenceEnd::Overlong,
        };
        if self.held.is_empty() {
            return Some(FoundToken::Sequence(end, Some(raw)));
        }
        self.held.extend_from_slice(raw);
        Some(FoundToken::Sequence(end, None))
    }

    /// Writes the sequence that is held and its last bytes without what terminals skip or execute,
    /// and from ESC on, if that differs from them. Of one that is too long, the beginning was
    /// written before.
    fn write_plain(&mut self, last: &[u8], was_overlong: bool) {
        self.has_others |= self.is_overlong || was_overlong;
        if !self.has_others {
            return;
        }
        if !was_overlong {
            self.plain.clear();
        }
        let held = match &self.held[..] {
            [C1_LEAD, second, rest @ ..] => {
                self.plain.extend([ESC, second - 0x40]);
                rest
            }
            held => held,
        };
        let plain = held.iter().chain(last).copied().filter(|byte| !is_other(*byte));
        // One byte more than the limit, to know that it is exceeded.
        let room = (MAX_SEQUENCE + 1).saturating_sub(self.plain.len());
        self.plain.extend(plain.take(room));
    }

    /// Takes the next byte of an escape or control sequence; returns how it ends, if it does.
    fn advance(&mut self, byte: u8) -> Option<SequenceEnd> {
        if is_other(byte) {
            self.has_others = true;
            return None;
        }
        let before = self.state;
        self.state = match (self.dialect, before, byte) {
            (VtDialect::Screen, VtState::Escape, b'k') => VtState::String(StringKind::Title),
            _ => before.after(byte),
        };
        match self.state {
            VtState::Ground if matches!(byte, CAN | SUB) => Some(SequenceEnd::Incomplete),
            VtState::Ground if before == VtState::Csi => Some(SequenceEnd::Csi),
            VtState::Ground => Some(SequenceEnd::Escape),
            VtState::String(kind) => {
                self.tmux_bytes = 0;
                Some(SequenceEnd::String(kind))
            }
            VtState::Escape | VtState::Intermediate | VtState::Csi | VtState::StringEscape(_) => {
                None
            }
        }
    }

    fn string<'a>(&mut self, kind: StringKind, bytes: &mut &'a [u8]) -> Option<FoundToken<'a>> {
        let length = string_len(kind, bytes);
        if 0 < length {
            let body = take(bytes, length);
            self.match_tmux(kind, body);
            return Some(FoundToken::Token(VtToken::StringBody(body)));
        }
        let last = bytes[0];
        self.state = self.state.after(last);
        *bytes = &bytes[1..];
        let end = match last {
            ESC => {
                self.held.push(ESC);
                return None;
            }
            CAN => StringEnd::Can,
            SUB => StringEnd::Sub,
            _ => StringEnd::Bel,
        };
        Some(FoundToken::Token(VtToken::StringEnd(end)))
    }

    /// The byte after an ESC in a string.
    fn string_escape<'a>(&mut self, kind: StringKind, bytes: &mut &'a [u8]) -> FoundToken<'a> {
        let is_tmux = self.tmux_bytes == TMUX_PASSTHROUGH.len();
        let token = match bytes[0] {
            b'\\' => {
                self.state = VtState::Ground;
                VtToken::StringEnd(StringEnd::St)
            }
            ESC if is_tmux => {
                self.state = VtState::String(kind);
                VtToken::StringBody(&[ESC, ESC])
            }
            _ => {
                self.has_others = false;
                self.state = VtState::Escape;
                return FoundToken::Token(VtToken::StringEnd(StringEnd::Cut));
            }
        };
        self.held.clear();
        *bytes = &bytes[1..];
        FoundToken::Token(token)
    }

    /// Counts how far a DCS agrees with [`TMUX_PASSTHROUGH`].
    fn match_tmux(&mut self, kind: StringKind, body: &[u8]) {
        if kind != StringKind::Dcs || self.dialect == VtDialect::Screen {
            return;
        }
        for byte in body.iter().filter(|byte| !is_other(**byte)) {
            match TMUX_PASSTHROUGH.get(self.tmux_bytes) {
                Some(expected) if expected == byte => self.tmux_bytes += 1,
                // Beyond the length, so that nothing matches any more.
                Some(_) => self.tmux_bytes = usize::MAX,
                None => return,
            }
        }
    }

    fn token<'t, 'a: 't>(&'t mut self, found: FoundToken<'a>) -> VtToken<'t> {
        let (end, raw) = match found {
            FoundToken::Token(token) => return token,
            FoundToken::Sequence(end, raw) => (end, raw),
        };
        self.is_returned = raw.is_none();
        let raw = raw.unwrap_or(&self.held);
        let plain = if self.has_others { &self.plain } else { raw };
        let sequence = VtSequence { raw, plain };
        match end {
            SequenceEnd::Escape => VtToken::Escape(sequence),
            SequenceEnd::Csi => VtToken::Csi(Csi::new(sequence)),
            SequenceEnd::Incomplete => VtToken::Incomplete(sequence),
            SequenceEnd::Overlong => VtToken::Overlong(raw),
            SequenceEnd::String(kind) => VtToken::StringStart(kind, raw),
        }
    }
}

/// Calls `found` with each run of text in some output, without the sequences between them. One that
/// is unfinished at the end is none of it.
pub fn each_text(dialect: VtDialect, output: &[u8], mut found: impl FnMut(&[u8])) {
    let mut tokenizer = VtTokenizer::new(dialect);
    let mut rest = output;
    while let Some(token) = tokenizer.next(&mut rest) {
        if let VtToken::Text(text) = token {
            found(text);
        }
    }
}

/// Whether terminals skip or execute this byte inside an escape or control sequence.
fn is_other(byte: u8) -> bool {
    matches!(byte, 0..0x20 | 0x7f..) && !matches!(byte, CAN | SUB | ESC)
}

/// How many bytes belong to the string: up to ESC, CAN, SUB and, in an OSC, BEL.
fn string_len(kind: StringKind, bytes: &[u8]) -> usize {
    let end = if kind == StringKind::Osc {
        memchr3(ESC, BEL, CAN, bytes)
    } else {
        memchr2(ESC, CAN, bytes)
    };
    let length = end.unwrap_or(bytes.len());
    memchr(SUB, &bytes[..length]).unwrap_or(length)
}

/// Removes this many bytes from the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (front, rest) = bytes.split_at(count);
    *bytes = rest;
    front
}
