//! Splits a stream into text and escape sequences, as terminals do. Pure: knows the grammar and no
//! meanings.

use memchr::memchr3;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// Begins every sequence.
pub const ESC: u8 = 0x1b;
/// A control character that is a query by itself: the terminal answers with a configured text.
pub const ENQ: u8 = 0x05;
/// The first byte of the C1 controls in UTF-8; some terminals accept them in this form.
const C1_LEAD: u8 = 0xc2;
/// The longest sequence that is buffered until it is complete. The beginning of a longer one is
/// enough to classify it.
const LONGEST: usize = 4096;
/// A string for the terminal outside of tmux: each ESC in it is doubled.
const TMUX_PASSTHROUGH: &[u8] = b"\x1bPtmux;";

/// A part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtToken<'a> {
    /// Text, and single-byte control characters.
    Text(&'a [u8]),
    /// [`ENQ`], wherever it occurs.
    Enquiry,
    /// A sequence from its ESC to its end, or to where another one cuts it off, without control
    /// characters that terminals skip.
    Sequence(&'a [u8]),
    /// The beginning of a string that is too long to be buffered.
    LongStart(&'a [u8]),
    /// A further byte of that string.
    LongByte(u8),
}

/// Splits a stream. How it is cut into pieces does not matter.
#[derive(Clone, Debug, Default)]
pub struct SequenceSplitter {
    state: SplitterState,
    /// The unfinished sequence, from its ESC on.
    held: Vec<u8>,
}

/// The position in the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SplitterState {
    #[default]
    Text,
    /// After the lead byte of a C1 control.
    C1Lead,
    /// After ESC and any intermediate bytes.
    Escape,
    Csi,
    String(VtStringKind),
    /// After an ESC inside a string.
    StringEscape(VtStringKind),
    /// Inside a string that is too long to be buffered.
    Long(VtStringKind),
}

/// The two kinds of strings, which differ in what ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VtStringKind {
    /// Ended by BEL or ST.
    Osc,
    /// DCS, SOS, PM and APC: ended by ST only.
    Other,
}

impl SequenceSplitter {
    /// Splits the next bytes and reports complete tokens, in order.
    pub fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(VtToken<'_>)) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == SplitterState::Text {
                let text = memchr3(ESC, ENQ, C1_LEAD, rest).unwrap_or(rest.len());
                if 0 < text {
                    found(VtToken::Text(&rest[..text]));
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
                ENQ => found(VtToken::Enquiry),
                _ => self.sequence(byte, &mut found),
            }
        }
    }

    /// A byte that ends text.
    fn begin(&mut self, byte: u8, found: &mut impl FnMut(VtToken<'_>)) {
        self.state = match byte {
            ESC => SplitterState::Escape,
            C1_LEAD => SplitterState::C1Lead,
            _ => return found(VtToken::Enquiry),
        };
        self.held.push(byte);
    }

    /// The next byte of a sequence.
    fn sequence(&mut self, byte: u8, found: &mut impl FnMut(VtToken<'_>)) {
        match (self.state, byte) {
            (SplitterState::StringEscape(_), b'\\') => self.end_with(byte, found),
            (SplitterState::StringEscape(kind), ESC) if self.held.starts_with(TMUX_PASSTHROUGH) => {
                self.state = SplitterState::String(kind);
            }
            (SplitterState::StringEscape(_), _) => {
                self.held.pop();
                self.end(found);
                self.begin(ESC, found);
                self.sequence(byte, found);
            }
            (SplitterState::String(kind), ESC) => {
                self.held.push(byte);
                self.state = SplitterState::StringEscape(kind);
            }
            (SplitterState::C1Lead, _) => self.wide(byte, found),
            (SplitterState::Long(_), ESC) => {
                // Whether a `\` or another sequence follows, this string is over.
                self.state = SplitterState::Text;
                self.begin(ESC, found);
            }
            (SplitterState::Long(kind), _) => {
                found(VtToken::LongByte(byte));
                if matches!(byte, CAN | SUB) || kind == VtStringKind::Osc && byte == BEL {
                    self.state = SplitterState::Text;
                }
            }
            (_, ESC) => {
                self.end(found);
                self.begin(ESC, found);
            }
            (_, CAN | SUB) | (SplitterState::String(VtStringKind::Osc), BEL) => {
                self.end_with(byte, found)
            }
            // Terminals skip other control characters inside a string, so they are removed before
            // the string is classified.
            (SplitterState::String(_), 0..0x20)
            | (SplitterState::Escape | SplitterState::Csi | SplitterState::String(_), 0x7f) => {}
            (SplitterState::String(_), 0x80..=0x9f) if self.held.ends_with(&[C1_LEAD]) => {
                self.held.pop();
            }
            // Other control characters act at once as in text, and the sequence continues.
            (SplitterState::Escape | SplitterState::Csi, 0..0x20) => found(VtToken::Text(&[byte])),
            (SplitterState::Escape, _) => self.escape(byte, found),
            (SplitterState::Csi, 0x40..=0x7e) => self.end_with(byte, found),
            (SplitterState::Csi | SplitterState::String(_) | SplitterState::Text, _) => {
                self.hold(byte, found)
            }
        }
    }

    fn escape(&mut self, byte: u8, found: &mut impl FnMut(VtToken<'_>)) {
        self.held.push(byte);
        self.state = match (self.held.len(), byte) {
            (2, b'[') => SplitterState::Csi,
            (2, b']') => SplitterState::String(VtStringKind::Osc),
            (2, b'P' | b'X' | b'^' | b'_') => SplitterState::String(VtStringKind::Other),
            (..=LONGEST, 0x20..=0x2f) => SplitterState::Escape,
            _ => return self.end(found),
        };
    }

    /// The byte after the lead byte of a C1 control; nearly always the two are a letter.
    fn wide(&mut self, byte: u8, found: &mut impl FnMut(VtToken<'_>)) {
        self.held.clear();
        self.state = SplitterState::Text;
        match byte {
            0x80..=0x9f => {
                self.begin(ESC, found);
                self.escape(byte - 0x40, found);
            }
            ESC | C1_LEAD => {
                found(VtToken::Text(&[C1_LEAD]));
                self.begin(byte, found);
            }
            _ => found(VtToken::Text(&[C1_LEAD, byte])),
        }
    }

    /// Buffers one more byte of a sequence.
    fn hold(&mut self, byte: u8, found: &mut impl FnMut(VtToken<'_>)) {
        self.held.push(byte);
        if self.held.len() < LONGEST {
            return;
        }
        let SplitterState::String(kind) = self.state else { return self.end(found) };
        found(VtToken::LongStart(&self.held));
        self.held.clear();
        self.state = SplitterState::Long(kind);
    }

    fn end_with(&mut self, byte: u8, found: &mut impl FnMut(VtToken<'_>)) {
        self.held.push(byte);
        self.end(found);
    }

    /// Ends a sequence: complete, or cut off.
    fn end(&mut self, found: &mut impl FnMut(VtToken<'_>)) {
        found(VtToken::Sequence(&self.held));
        self.held.clear();
        self.state = SplitterState::Text;
    }
}

/// A complete CSI sequence, as terminals parse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csi {
    /// `<`, `=`, `>`, `?`, or 0 if there is none.
    pub prefix: u8,
    /// The parameters; `None` for an empty one.
    pub params: Vec<Option<u32>>,
    /// The byte between parameters and final byte, or 0 if there is none.
    pub intermediate: u8,
    /// The final byte.
    pub last: u8,
}

impl Csi {
    /// Parses a sequence; `None` if it is not a CSI sequence.
    #[must_use]
    pub fn read(sequence: &[u8]) -> Option<Self> {
        let [ESC, b'[', body @ .., last] = sequence else { return None };
        // Bytes that terminals skip inside a sequence do not change its meaning.
        let body: Vec<u8> =
            body.iter().copied().filter(|byte| (0x20..0x40).contains(byte)).collect();
        let (prefix, body) = match body.as_slice() {
            [prefix @ b'<'..=b'?', rest @ ..] => (*prefix, rest),
            body => (0, body),
        };
        let intermediate =
            body.iter().copied().find(|byte| (0x20..0x30).contains(byte)).unwrap_or(0);
        let params = body.split(|byte| *byte == b';').map(number).collect();
        Some(Self { prefix, params, intermediate, last: *last })
    }

    /// A parameter; 0 if it is missing.
    #[must_use]
    pub fn param(&self, at: usize) -> u32 {
        self.params.get(at).copied().flatten().unwrap_or(0)
    }

    /// Whether it is this sequence, with one of these final bytes.
    #[must_use]
    pub fn is(&self, prefix: u8, middle: u8, last: &[u8]) -> bool {
        (self.prefix, self.intermediate) == (prefix, middle) && last.contains(&self.last)
    }
}

/// A complete OSC sequence: its number and the text after it.
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

/// The number at the start of a text.
fn number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let add = |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    text.first().filter(|byte| byte.is_ascii_digit()).map(|_| digits.fold(0, add))
}
