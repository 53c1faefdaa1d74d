//! Splits a line into tokens. Sequences that neither draw nor move in the row are skipped.

use std::iter;

use super::Charsets;
use crate::vt::{Csi, ESC, SI, SO, VtState, VtToken, VtTokenizer};

const VT: u8 = 0x0b;
const FF: u8 = 0x0c;

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
#[derive(Clone, Debug, Default)]
pub(super) struct LineTokenizer {
    tokenizer: VtTokenizer,
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

/// The tokens of a line, each with the number of bytes read up to its end.
pub(super) fn tokens(sets: Charsets, raw: &[u8]) -> impl Iterator<Item = (LineToken<'_>, usize)> {
    let mut tokenizer = LineTokenizer::new(sets);
    let mut rest = raw;
    iter::from_fn(move || {
        let token = tokenizer.next(&mut rest)?;
        Some((token, tokenizer.taken))
    })
}

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
        while let Some(&first) = bytes.first() {
            let before = bytes.len();
            let token = if first != ESC && self.tokenizer.state() == VtState::Ground {
                self.text(first, bytes)
            } else {
                self.sequence(bytes)
            };
            self.taken += before - bytes.len();
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

    /// Reads a control character, or text up to the next one.
    fn text<'a>(&mut self, first: u8, bytes: &mut &'a [u8]) -> Option<LineToken<'a>> {
        let is_text = 0x20 <= first;
        let end = bytes.iter().position(|byte| *byte < 0x20).unwrap_or(bytes.len());
        let (text, rest) = bytes.split_at(if is_text { end } else { 1 });
        *bytes = rest;
        Some(match first {
            0x20.. if self.charsets.is_line_drawing() => LineToken::PrintLineDrawing(text),
            0x20.. => LineToken::Print(text),
            b'\r' => LineToken::Column(0),
            b'\t' => LineToken::Tabs(1),
            0x08 => LineToken::Left(1),
            VT | FF => LineToken::OtherRow(None),
            SO | SI => {
                self.charsets.shift(first == SO);
                return None;
            }
            ..0x20 => return None,
        })
    }

    /// Reads a sequence. One with control characters inside has no effect here, nor have they.
    fn sequence(&mut self, bytes: &mut &[u8]) -> Option<LineToken<'static>> {
        match self.tokenizer.next(bytes)? {
            VtToken::Escape(sequence) => escape(sequence.raw, &mut self.charsets),
            VtToken::Csi(csi) if csi.sequence().is_plain() => meaning(csi, self.row_jump),
            VtToken::Csi(_)
            | VtToken::Text(_)
            | VtToken::Incomplete(_)
            | VtToken::Overlong(_)
            | VtToken::StringStart(..)
            | VtToken::StringBody(_)
            | VtToken::StringEnd(_) => None,
        }
    }
}

/// The meaning of an escape sequence.
fn escape(sequence: &[u8], charsets: &mut Charsets) -> Option<LineToken<'static>> {
    match *sequence {
        [ESC, b'7'] => return Some(LineToken::Save),
        [ESC, b'8'] => return Some(LineToken::Restore),
        [ESC, b'D' | b'E' | b'M'] => return Some(LineToken::OtherRow(None)),
        [ESC, b'c'] => *charsets = Charsets::default(),
        [ESC, set, kind] => charsets.designate(set, kind),
        _ => {}
    }
    None
}

/// The meaning of a control sequence, given the last row jump.
fn meaning(csi: Csi<'_>, row_jump: Option<RowJump>) -> Option<LineToken<'static>> {
    // Lazy, because most sequences are colours, whose parameters are not needed.
    let numbers = || {
        let is_private = csi.body().iter().any(|byte| !matches!(byte, b'0'..=b';'));
        let number = |index| csi.number(index).min(u16::MAX.into()) as usize;
        (!is_private).then(|| [number(0), number(1)])
    };
    let number = || numbers().map(|[number, _]| number);
    let count = || number().map(|number| number.max(1));
    Some(match csi.last() {
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
