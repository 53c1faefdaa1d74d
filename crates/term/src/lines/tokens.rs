//! Splits a line into tokens. Sequences that neither draw nor move in the row are skipped.

use std::iter;

use super::Charsets;

const BEL: u8 = 0x07;
const VT: u8 = 0x0b;
const FF: u8 = 0x0c;
const SO: u8 = 0x0e;
const SI: u8 = 0x0f;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// One operation on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineToken<'a> {
    /// Text, possibly with invalid UTF-8 or zero-width characters, but no bytes below U+0020.
    Print(&'a [u8]),
    /// Text whose letters are drawn as lines and corners.
    PrintLineDrawing(&'a [u8]),
    /// Move this many tab stops right; every eighth column is one.
    Tabs(usize),
    /// Move this many tab stops left.
    BackTabs(usize),
    /// Repeat the last character this many times.
    Repeat(usize),
    /// Repeat it, drawn as a line or corner if it is a letter.
    RepeatLineDrawing(usize),
    Left(usize),
    Right(usize),
    /// Move to a column, from 0.
    Column(usize),
    Erase(Erase),
    /// Delete cells; those on the right move here.
    Delete(usize),
    /// Insert blanks; the cells here move right.
    Insert(usize),
    /// Move to another row, as far as is known: what follows does not belong to the text here,
    /// unless it goes to the cursor's own column, from 0, because programs also send the position
    /// they are at.
    OtherRow(Option<usize>),
    /// Move to the top left of the screen.
    Home,
    /// Clear everything; the cursor goes to this column, from 0.
    Clear(usize),
    /// Save the column.
    Save,
    /// Restore the saved column.
    Restore,
}

/// The erased cells, relative to the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Erase {
    /// The cell here and everything right of it.
    Right,
    /// The cell here and everything left of it.
    Left,
    All,
    /// The cell here and the next ones, this many together.
    Cells(usize),
}

/// Tokenizes a line that arrives in pieces, wherever they are cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineTokenizer {
    state: LineTokenizerState,
    /// How many bytes were read.
    taken: usize,
    charsets: Charsets,
    /// The target of the last token, if that moved to another row.
    row_jump: Option<RowJump>,
}

/// A position in another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowJump {
    Home,
    /// In this column, from 0.
    Col(usize),
}

/// The state at the end of the last piece.
#[derive(Clone, Copy, Debug, Default)]
enum LineTokenizerState {
    #[default]
    Text,
    /// After an ESC.
    Escape,
    /// After an ESC and possibly intermediate bytes.
    Intermediate(LineIntermediate),
    Csi(Params),
    Osc,
    /// A string that is ended only by ESC, CAN or SUB.
    Other,
}

/// The intermediate bytes between an ESC and the final byte.
#[derive(Clone, Copy, Debug)]
enum LineIntermediate {
    None,
    One(u8),
    More,
}

/// The parameters of a sequence, as far as they are needed.
#[derive(Clone, Copy, Debug, Default)]
struct Params {
    /// The first two.
    numbers: [u16; 2],
    /// The index of the current one.
    at: usize,
    /// Whether the sequence is a private one.
    is_private: bool,
}

/// The tokens of a line, each with the number of bytes read up to its end.
pub(super) fn tokens(sets: Charsets, raw: &[u8]) -> impl Iterator<Item = (LineToken<'_>, usize)> {
    let mut tokenizer = LineTokenizer::new(sets);
    let mut rest = raw;
    iter::from_fn(move || {
        let token = tokenizer.next(&mut rest)?;
        Some((token, tokenizer.taken))
    })
}

/// A token, if there was one, and the bytes after it.
type ReadToken<'a> = (Option<LineToken<'a>>, &'a [u8]);

impl LineTokenizer {
    /// A tokenizer for a line that begins in these character sets.
    pub(super) fn new(charsets: Charsets) -> Self {
        Self { charsets, ..Self::default() }
    }

    /// The character sets after the bytes read so far.
    pub(super) fn charsets(&self) -> Charsets {
        self.charsets
    }

    /// How many bytes were read so far.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Counts bytes that the caller has read itself.
    pub(super) fn skip(&mut self, count: usize) {
        self.taken += count;
    }

    /// The next token; `None` at the end of the piece.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<LineToken<'a>> {
        while !bytes.is_empty() {
            let (token, rest) = self.read(bytes);
            self.taken += bytes.len() - rest.len();
            *bytes = rest;
            if let Some(token) = token {
                return Some(self.resolve(token));
            }
        }
        None
    }

    /// Resolves a token by what came before it.
    fn resolve<'a>(&mut self, token: LineToken<'a>) -> LineToken<'a> {
        self.row_jump = match token {
            LineToken::Home => Some(RowJump::Home),
            LineToken::OtherRow(to) => to.map(RowJump::Col),
            _ => None,
        };
        match token {
            LineToken::Save => self.charsets.save(),
            LineToken::Restore => self.charsets.restore(),
            LineToken::Repeat(count) if self.charsets.is_line_drawing() => {
                return LineToken::RepeatLineDrawing(count);
            }
            _ => {}
        }
        token
    }

    fn read<'a>(&mut self, bytes: &'a [u8]) -> ReadToken<'a> {
        match self.state {
            LineTokenizerState::Text => self.text(bytes),
            LineTokenizerState::Escape => self.escape(bytes),
            LineTokenizerState::Intermediate(middle) => self.intermediate(middle, bytes),
            LineTokenizerState::Csi(params) => self.csi(params, bytes),
            LineTokenizerState::Osc => self.string(bytes, true),
            LineTokenizerState::Other => self.string(bytes, false),
        }
    }

    fn text<'a>(&mut self, bytes: &'a [u8]) -> ReadToken<'a> {
        let Some((&first, rest)) = bytes.split_first() else { return (None, bytes) };
        match first {
            ESC => self.escape(rest),
            b'\r' => (Some(LineToken::Column(0)), rest),
            b'\t' => (Some(LineToken::Tabs(1)), rest),
            0x08 => (Some(LineToken::Left(1)), rest),
            VT | FF => (Some(LineToken::OtherRow(None)), rest),
            SO | SI => {
                self.charsets.shift(first == SO);
                (None, rest)
            }
            ..0x20 => (None, rest),
            0x20.. => {
                let (text, rest) = bytes.split_at(find(bytes, |byte| byte < 0x20));
                let token = if self.charsets.is_line_drawing() {
                    LineToken::PrintLineDrawing(text)
                } else {
                    LineToken::Print(text)
                };
                (Some(token), rest)
            }
        }
    }

    /// Reads after an ESC. Another control character ends the sequence.
    fn escape<'a>(&mut self, bytes: &'a [u8]) -> ReadToken<'a> {
        self.state = LineTokenizerState::Text;
        match bytes {
            [] => {
                self.state = LineTokenizerState::Escape;
                (None, bytes)
            }
            [b'[', body @ ..] => self.csi(Params::default(), body),
            [b']', body @ ..] => self.string(body, true),
            // `k` is a title in screen and tmux.
            [b'P' | b'X' | b'^' | b'_' | b'k', body @ ..] => self.string(body, false),
            [b'7', tail @ ..] => (Some(LineToken::Save), tail),
            [b'8', tail @ ..] => (Some(LineToken::Restore), tail),
            [b'D' | b'E' | b'M', tail @ ..] => (Some(LineToken::OtherRow(None)), tail),
            _ => self.intermediate(LineIntermediate::None, bytes),
        }
    }

    fn intermediate<'a>(&mut self, before: LineIntermediate, bytes: &'a [u8]) -> ReadToken<'a> {
        let (more, rest) = bytes.split_at(find(bytes, |byte| !(0x20..0x30).contains(&byte)));
        let middle = before.and(more);
        self.state = if rest.is_empty() {
            LineTokenizerState::Intermediate(middle)
        } else {
            LineTokenizerState::Text
        };
        let Some((&last @ 0x30..0x7f, rest)) = rest.split_first() else { return (None, rest) };
        match (middle, last) {
            (LineIntermediate::None, b'c') => self.charsets = Charsets::default(),
            (LineIntermediate::One(set), kind) => self.charsets.designate(set, kind),
            (LineIntermediate::None | LineIntermediate::More, _) => {}
        }
        (None, rest)
    }

    fn csi<'a>(&mut self, params: Params, body: &'a [u8]) -> ReadToken<'a> {
        let end = find(body, |byte| matches!(byte, 0x40..0x7f | CAN | SUB | ESC));
        self.state = LineTokenizerState::Text;
        match body.get(end) {
            None => {
                self.state = LineTokenizerState::Csi(params.and(body));
                (None, &body[end..])
            }
            Some(&ESC) => (None, &body[end..]),
            Some(&last) => (meaning(params, &body[..end], last, self.row_jump), &body[end + 1..]),
        }
    }

    /// Skips a string. The ESC that ends it, and a `\` after that, are read as a sequence of their
    /// own.
    fn string<'a>(&mut self, body: &'a [u8], is_osc: bool) -> ReadToken<'a> {
        let end = find(body, |byte| matches!(byte, ESC | CAN | SUB) || is_osc && byte == BEL);
        self.state = match body.get(end) {
            Some(_) => LineTokenizerState::Text,
            None if is_osc => LineTokenizerState::Osc,
            None => LineTokenizerState::Other,
        };
        let has_last = body.get(end).is_some_and(|&byte| byte != ESC);
        (None, &body[end + usize::from(has_last)..])
    }
}

impl LineIntermediate {
    /// Appends more bytes.
    fn and(self, more: &[u8]) -> Self {
        match (self, more) {
            (middle, []) => middle,
            (Self::None, [one]) => Self::One(*one),
            (Self::None | Self::One(_) | Self::More, _) => Self::More,
        }
    }
}

impl Params {
    /// Appends more bytes of parameters.
    fn and(mut self, more: &[u8]) -> Self {
        for &byte in more {
            self.is_private |= !matches!(byte, b'0'..=b';');
            if !byte.is_ascii_digit() {
                self.at += 1;
            } else if let Some(number) = self.numbers.get_mut(self.at) {
                *number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
            }
        }
        self
    }
}

/// The meaning of a CSI sequence with this final byte, given the last row jump.
fn meaning(
    params: Params,
    more: &[u8],
    last: u8,
    row_jump: Option<RowJump>,
) -> Option<LineToken<'static>> {
    // Lazy, because most sequences are colours, whose parameters are not needed.
    let numbers = || {
        let params = params.and(more);
        (!params.is_private).then_some(params.numbers.map(usize::from))
    };
    let number = || numbers().map(|[number, _]| number);
    let count = || number().map(|number| number.max(1));
    Some(match last {
        b'C' | b'a' => LineToken::Right(count()?),
        b'D' => LineToken::Left(count()?),
        b'G' | b'`' => LineToken::Column(count()? - 1),
        b'K' => LineToken::Erase(erase_of(number()?)?),
        b'J' => match (erase_of(number()?)?, row_jump) {
            (Erase::All | Erase::Right, Some(RowJump::Home)) => LineToken::Clear(0),
            (Erase::All, Some(RowJump::Col(col))) => LineToken::Clear(col),
            // For a single row, erasing the screen is the same as erasing the line.
            (what, _) => LineToken::Erase(what),
        },
        b'A' | b'B' | b'E' | b'F' | b'd' | b'e' => number().map(|_| LineToken::OtherRow(None))?,
        b'H' | b'f' => match numbers()? {
            [..=1, ..=1] => LineToken::Home,
            [_, col] => LineToken::OtherRow(Some(col.max(1) - 1)),
        },
        b'I' => LineToken::Tabs(count()?),
        b'Z' => LineToken::BackTabs(count()?),
        b'b' => LineToken::Repeat(count()?),
        b'X' => LineToken::Erase(Erase::Cells(count()?)),
        b'P' => LineToken::Delete(count()?),
        b'@' => LineToken::Insert(count()?),
        b's' => number().map(|_| LineToken::Save)?,
        b'u' => number().map(|_| LineToken::Restore)?,
        _ => return None,
    })
}

fn erase_of(number: usize) -> Option<Erase> {
    [Erase::Right, Erase::Left, Erase::All].get(number).copied()
}

/// The column this many tab stops to the left; a partial step counts as one.
pub(super) fn back_by_tabs(col: usize, count: usize) -> usize {
    col.div_ceil(8).saturating_sub(count) * 8
}

/// The index of the first matching byte, or the end.
fn find(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| is_it(byte)).unwrap_or(bytes.len())
}
