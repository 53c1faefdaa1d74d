//! A stream cut into text and escape sequences, as terminals cut it. Pure: it knows the grammar and no meanings.

use memchr::memchr3;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// What begins every sequence.
pub const ESC: u8 = 0x1b;
/// A control that asks by itself for what its owner has the terminal answer.
pub const ENQ: u8 = 0x05;
/// What the controls of eight bits begin with as UTF-8; some terminals know them so.
const WIDE: u8 = 0xc2;
/// The longest sequence that is held until it is whole. The beginning of a longer one says what it is.
const LONGEST: usize = 4096;
/// A string for a terminal behind the one that is shown it: there each ESC is written twice.
const PASSED_THROUGH: &[u8] = b"\x1bPtmux;";

/// A piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text, and controls of one byte.
    Text(&'a [u8]),
    /// [`ENQ`], wherever it stands.
    Enquiry,
    /// A sequence from its ESC to its end, or to where another has cut it off, without controls that terminals skip.
    Whole(&'a [u8]),
    /// The beginning of a string that is too long to be held.
    Beginning(&'a [u8]),
    /// What follows that.
    Rest(u8),
}

/// Cuts a stream. How it comes never matters.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    state: State,
    /// The sequence whose end has not come, from its ESC on.
    held: Vec<u8>,
}

/// Where in the grammar the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After what may begin a control of eight bits.
    Wide,
    /// After ESC and any intermediate bytes.
    Escape,
    Csi,
    String(Kind),
    /// After an ESC inside a string.
    StringEscape(Kind),
    /// Inside a string that is too long to be held.
    Long(Kind),
}

/// The two kinds of strings, which differ in what ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Ended by BEL or ST.
    Osc,
    /// DCS, SOS, PM and APC: ended by ST only.
    Other,
}

impl Sequences {
    /// Cuts the next bytes; what is whole is found, in order.
    pub fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(Part<'_>)) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Text {
                let text = memchr3(ESC, ENQ, WIDE, rest).unwrap_or(rest.len());
                if 0 < text {
                    found(Part::Text(&rest[..text]));
                }
                rest = &rest[text..];
                if let Some((&byte, after)) = rest.split_first() {
                    self.begin(byte, &mut found);
                    rest = after;
                }
                continue;
            }
            rest = after;
            match byte {
                ENQ => found(Part::Enquiry),
                _ => self.sequence(byte, &mut found),
            }
        }
    }

    /// A byte that ends text.
    fn begin(&mut self, byte: u8, found: &mut impl FnMut(Part<'_>)) {
        self.state = match byte {
            ESC => State::Escape,
            WIDE => State::Wide,
            _ => return found(Part::Enquiry),
        };
        self.held.push(byte);
    }

    /// The next byte of a sequence.
    fn sequence(&mut self, byte: u8, found: &mut impl FnMut(Part<'_>)) {
        match (self.state, byte) {
            (State::StringEscape(_), b'\\') => self.end_with(byte, found),
            (State::StringEscape(kind), ESC) if self.held.starts_with(PASSED_THROUGH) => {
                self.state = State::String(kind);
            }
            (State::StringEscape(_), _) => {
                self.held.pop();
                self.end(found);
                self.begin(ESC, found);
                self.sequence(byte, found);
            }
            (State::String(kind), ESC) => {
                self.held.push(byte);
                self.state = State::StringEscape(kind);
            }
            (State::Wide, _) => self.wide(byte, found),
            (State::Long(_), ESC) => {
                // Whether a `\` or another sequence follows, this one is over.
                self.state = State::Text;
                self.begin(ESC, found);
            }
            (State::Long(kind), _) => {
                found(Part::Rest(byte));
                if matches!(byte, CAN | SUB) || kind == Kind::Osc && byte == BEL {
                    self.state = State::Text;
                }
            }
            (_, ESC) => {
                self.end(found);
                self.begin(ESC, found);
            }
            (_, CAN | SUB) | (State::String(Kind::Osc), BEL) => self.end_with(byte, found),
            // Terminals skip other controls inside a string, and so does whoever judges it: what is found is without them.
            (State::String(_), 0..0x20) | (State::Escape | State::Csi | State::String(_), 0x7f) => {
            }
            (State::String(_), 0x80..=0x9f) if self.held.ends_with(&[WIDE]) => {
                self.held.pop();
            }
            // Other controls do at once what they do in text, and the sequence goes on.
            (State::Escape | State::Csi, 0..0x20) => found(Part::Text(&[byte])),
            (State::Escape, _) => self.escape(byte, found),
            (State::Csi, 0x40..=0x7e) => self.end_with(byte, found),
            (State::Csi | State::String(_) | State::Text, _) => self.hold(byte, found),
        }
    }

    fn escape(&mut self, byte: u8, found: &mut impl FnMut(Part<'_>)) {
        self.held.push(byte);
        self.state = match (self.held.len(), byte) {
            (2, b'[') => State::Csi,
            (2, b']') => State::String(Kind::Osc),
            (2, b'P' | b'X' | b'^' | b'_') => State::String(Kind::Other),
            (..=LONGEST, 0x20..=0x2f) => State::Escape,
            _ => return self.end(found),
        };
    }

    /// What follows the first byte of a control of eight bits: nearly always it is a letter.
    fn wide(&mut self, byte: u8, found: &mut impl FnMut(Part<'_>)) {
        self.held.clear();
        self.state = State::Text;
        match byte {
            0x80..=0x9f => {
                self.begin(ESC, found);
                self.escape(byte - 0x40, found);
            }
            ESC | WIDE => {
                found(Part::Text(&[WIDE]));
                self.begin(byte, found);
            }
            _ => found(Part::Text(&[WIDE, byte])),
        }
    }

    /// One more byte of a sequence that goes on.
    fn hold(&mut self, byte: u8, found: &mut impl FnMut(Part<'_>)) {
        self.held.push(byte);
        if self.held.len() < LONGEST {
            return;
        }
        let State::String(kind) = self.state else { return self.end(found) };
        found(Part::Beginning(&self.held));
        self.held.clear();
        self.state = State::Long(kind);
    }

    fn end_with(&mut self, byte: u8, found: &mut impl FnMut(Part<'_>)) {
        self.held.push(byte);
        self.end(found);
    }

    /// A sequence is over: whole, or cut off.
    fn end(&mut self, found: &mut impl FnMut(Part<'_>)) {
        found(Part::Whole(&self.held));
        self.held.clear();
        self.state = State::Text;
    }
}

/// A whole CSI sequence, as terminals read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csi {
    /// `<`, `=`, `>`, `?` or, where none is written, 0.
    pub prefix: u8,
    /// What is missing is nothing.
    pub params: Vec<Option<u32>>,
    /// The byte between parameters and last byte or, where none is written, 0.
    pub middle: u8,
    /// The byte that ends it.
    pub last: u8,
}

impl Csi {
    /// Reads a sequence, if it is one.
    #[must_use]
    pub fn read(sequence: &[u8]) -> Option<Self> {
        let [ESC, b'[', body @ .., last] = sequence else { return None };
        // What terminals skip inside a sequence does not make it another one.
        let body: Vec<u8> =
            body.iter().copied().filter(|byte| (0x20..0x40).contains(byte)).collect();
        let (prefix, body) = match body.as_slice() {
            [prefix @ b'<'..=b'?', rest @ ..] => (*prefix, rest),
            body => (0, body),
        };
        let middle = body.iter().copied().find(|byte| (0x20..0x30).contains(byte)).unwrap_or(0);
        let params = body.split(|byte| *byte == b';').map(number).collect();
        Some(Self { prefix, params, middle, last: *last })
    }

    /// A parameter; 0 where it is missing.
    #[must_use]
    pub fn param(&self, at: usize) -> u32 {
        self.params.get(at).copied().flatten().unwrap_or(0)
    }

    /// Whether it is this sequence, with one of these last bytes.
    #[must_use]
    pub fn is(&self, prefix: u8, middle: u8, last: &[u8]) -> bool {
        (self.prefix, self.middle) == (prefix, middle) && last.contains(&self.last)
    }
}

/// A whole OSC sequence: its number and what stands behind that.
#[must_use]
pub fn osc(sequence: &[u8]) -> Option<(u32, String)> {
    let [ESC, b']', body @ ..] = sequence else { return None };
    let body = match body {
        [body @ .., ESC, b'\\'] | [body @ .., BEL | CAN | SUB] => body,
        body => body,
    };
    let rest = body.iter().position(|byte| *byte == b';').map_or(&[][..], |at| &body[at + 1..]);
    number(body).map(|number| (number, String::from_utf8_lossy(rest).into_owned()))
}

/// The number that some text begins with.
fn number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let add = |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    text.first().filter(|byte| byte.is_ascii_digit()).map(|_| digits.fold(0, add))
}
