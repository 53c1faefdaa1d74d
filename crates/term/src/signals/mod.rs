//! A cheap reader of a pane's output that reports facts without keeping a grid.
//!
//! Text is skipped at the speed of `memchr`; only escape sequences are looked at byte by byte. It never
//! answers a query, never draws, and holds at most [`MAX_SEQUENCE`] bytes.

mod modes;
mod sequence;
#[cfg(test)]
mod tests;

use memchr::{memchr, memchr2, memchr3};

use modes::Modes;
use sequence::Csi;

/// The longest escape sequence that is understood; longer ones are skipped.
pub const MAX_SEQUENCE: usize = 4096;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// A fact read from a pane's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The program named its window: OSC 0 or OSC 2, without control characters.
    Title(String),
    /// The bell rang.
    Bell,
    /// The program asked the terminal something and waits for the answer.
    Query,
}

/// The reader. Feed it every byte in order; how the bytes are cut does not matter.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    state: State,
    /// The unfinished sequence, from its ESC on; empty in [`State::Ground`] and [`State::Skip`].
    held: Vec<u8>,
    modes: Modes,
}

/// Where in the grammar the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC and any intermediate bytes.
    Escape,
    Csi,
    String(Kind),
    /// After an ESC inside a string: a `\` ends the string, anything else abandons it.
    StringEscape,
    /// Inside a string that grew too long to be of interest.
    Skip(Kind),
}

/// The two kinds of strings, which differ in what ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Ended by BEL or ST.
    Osc,
    /// DCS, SOS, PM and APC: ended by ST only.
    Other,
}

impl Signals {
    /// A reader at the very beginning of a pane's output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes and reports what they say, in order.
    pub fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(Signal)) {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let used = match self.state {
                State::Ground => self.ground(rest, &mut found),
                State::Escape => self.escape(first, &mut found),
                State::Csi => self.csi(rest, &mut found),
                State::String(kind) => self.string(kind, rest, &mut found),
                State::StringEscape => self.string_escape(first, &mut found),
                State::Skip(kind) => self.skip(kind, rest),
            };
            rest = &rest[used..];
        }
    }

    /// How many of the last bytes belong to an unfinished sequence; at most [`MAX_SEQUENCE`].
    ///
    /// A fresh reader (or terminal) that is fed [`Signals::preamble`] and then started that many bytes back
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

    /// The escape bytes that put a fresh terminal into the modes the program has switched on so far.
    ///
    /// Inside a string too long to be held they end by opening such a string, so that its rest is no text.
    #[must_use]
    pub fn preamble(&self) -> Vec<u8> {
        let mut out = self.modes();
        match self.state {
            // A number that means nothing to anyone, so that the rest is not taken for a command.
            State::Skip(Kind::Osc) => out.extend(b"\x1b]99999;"),
            State::Skip(Kind::Other) => out.extend(b"\x1bX"),
            State::Ground | State::Escape | State::Csi | State::String(_) | State::StringEscape => {
            }
        }
        out
    }

    fn ground(&mut self, bytes: &[u8], found: &mut impl FnMut(Signal)) -> usize {
        let Some(at) = memchr2(ESC, BEL, bytes) else {
            return bytes.len();
        };
        if bytes[at] == BEL {
            found(Signal::Bell);
            return at + 1;
        }
        if let Some(dull) = sequence::dull(&bytes[at + 1..]) {
            return at + 1 + dull;
        }
        self.begin();
        at + 1
    }

    fn escape(&mut self, byte: u8, found: &mut impl FnMut(Signal)) -> usize {
        let is_bare = self.held.len() == 1;
        match byte {
            b'[' if is_bare => self.go_on(State::Csi, byte),
            b']' if is_bare => self.go_on(State::String(Kind::Osc), byte),
            b'P' | b'X' | b'^' | b'_' if is_bare => self.go_on(State::String(Kind::Other), byte),
            0x20..=0x2f if self.held.len() < MAX_SEQUENCE => self.go_on(State::Escape, byte),
            _ => {
                self.end();
                return self.single(byte, is_bare, found);
            }
        }
        1
    }

    /// The last byte of a sequence without parameters. Controls do here what they do in text.
    fn single(&mut self, byte: u8, is_bare: bool, found: &mut impl FnMut(Signal)) -> usize {
        match byte {
            ESC => self.begin(),
            BEL => found(Signal::Bell),
            b'c' if is_bare => self.modes = Modes::default(),
            b'=' if is_bare => self.modes.set_keypad(true),
            b'>' if is_bare => self.modes.set_keypad(false),
            b'Z' if is_bare => found(Signal::Query),
            _ => {}
        }
        1
    }

    fn csi(&mut self, bytes: &[u8], found: &mut impl FnMut(Signal)) -> usize {
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
                self.obey(byte, found);
                self.end();
            }
            ESC | BEL | CAN | SUB => {
                self.end();
                self.single(byte, false, found);
            }
            _ => self.held.push(byte),
        }
        run + 1
    }

    fn string(&mut self, kind: Kind, bytes: &[u8], found: &mut impl FnMut(Signal)) -> usize {
        let run = string_run(kind, bytes);
        if MAX_SEQUENCE <= self.held.len() + run {
            self.held.clear();
            self.state = State::Skip(kind);
            return run;
        }
        self.held.extend_from_slice(&bytes[..run]);
        match bytes.get(run) {
            None => return run,
            Some(&ESC) => self.go_on(State::StringEscape, ESC),
            Some(&BEL) => {
                sequence::string(&self.held, found);
                self.end();
            }
            Some(_) => self.end(),
        }
        run + 1
    }

    fn string_escape(&mut self, byte: u8, found: &mut impl FnMut(Signal)) -> usize {
        if byte != b'\\' {
            self.begin();
            return 0;
        }
        self.held.pop();
        sequence::string(&self.held, found);
        self.end();
        1
    }

    fn skip(&mut self, kind: Kind, bytes: &[u8]) -> usize {
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
    fn obey(&mut self, last: u8, found: &mut impl FnMut(Signal)) {
        let Some(csi) = Csi::parse(&self.held[2..], last) else {
            return;
        };
        if csi.is_query() {
            found(Signal::Query);
        } else {
            csi.switch(&mut self.modes);
        }
    }

    fn begin(&mut self) {
        self.held.clear();
        self.go_on(State::Escape, ESC);
    }

    fn go_on(&mut self, state: State, byte: u8) {
        self.state = state;
        self.held.push(byte);
    }

    fn end(&mut self) {
        self.held.clear();
        self.state = State::Ground;
    }
}

/// How many bytes still belong to the string: up to ESC, CAN, SUB and, in an OSC, BEL.
fn string_run(kind: Kind, bytes: &[u8]) -> usize {
    let end = match kind {
        Kind::Osc => memchr3(ESC, BEL, CAN, bytes),
        Kind::Other => memchr2(ESC, CAN, bytes),
    };
    let run = end.unwrap_or(bytes.len());
    memchr(SUB, &bytes[..run]).unwrap_or(run)
}
