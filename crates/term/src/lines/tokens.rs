//! What a line does, step by step. Sequences that draw nothing and move nothing in the row are no steps.

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

/// One thing that happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineToken<'a> {
    /// Text, if need be with broken characters and such as draw nothing, but none below U+0020.
    Print(&'a [u8]),
    /// The same, but the letters among it are lines and corners.
    PrintLineDrawing(&'a [u8]),
    /// So many times to the next eighth column.
    Tabs(usize),
    /// So many times to the eighth column before.
    BackTabs(usize),
    /// The last character so many times again.
    Repeat(usize),
    /// The same, and it is a line or a corner if it is a letter.
    RepeatLineDrawing(usize),
    Left(usize),
    Right(usize),
    /// To a column, from 0.
    Column(usize),
    Erase(Erase),
    /// Take cells out; those on the right move here.
    Delete(usize),
    /// Put blanks in; what stands here moves right.
    Insert(usize),
    /// To another row, as far as can be told: what follows does not belong to what is here, unless it goes to
    /// this column, from 0. Programs say where they are already.
    OtherRow(Option<usize>),
    /// The same to where the screen begins.
    Home,
    /// Nothing is left anywhere, and what follows goes to this column, from 0.
    Clear(usize),
    /// Remember the column.
    Save,
    /// Back to the column remembered.
    Restore,
}

/// What is erased, as seen from the cursor.
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

/// Reads steps from a line that comes in pieces, wherever they are cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineTokenizer {
    state: LineTokenizerState,
    /// How many bytes were read.
    taken: usize,
    charsets: Charsets,
    /// Where the last step went, if that was to another row.
    row_jump: Option<RowJump>,
}

/// A place in another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowJump {
    Home,
    /// Somewhere in this column, from 0.
    Col(usize),
}

/// What the last piece was in the middle of.
#[derive(Clone, Copy, Debug, Default)]
enum LineTokenizerState {
    #[default]
    Text,
    /// After an ESC.
    Escape,
    /// After an ESC and bytes that say of which kind the last one is.
    Intermediate(LineIntermediate),
    Csi(Params),
    Osc,
    /// A string that only ESC, CAN and SUB end.
    Other,
}

/// What stood between an ESC and the last byte.
#[derive(Clone, Copy, Debug)]
enum LineIntermediate {
    None,
    One(u8),
    More,
}

/// What is known of the parameters of a sequence.
#[derive(Clone, Copy, Debug, Default)]
struct Params {
    /// The first two.
    numbers: [u16; 2],
    /// Which one comes next.
    at: usize,
    /// Whether they are those of some private sequence.
    is_private: bool,
}

/// The steps of a line, each with how many bytes were read then.
pub(super) fn tokens(sets: Charsets, raw: &[u8]) -> impl Iterator<Item = (LineToken<'_>, usize)> {
    let (mut reader, mut rest) = (LineTokenizer::new(sets), raw);
    iter::from_fn(move || {
        let step = reader.next(&mut rest)?;
        Some((step, reader.taken))
    })
}

/// A step that was read, if it was one, and the bytes after it.
type ReadToken<'a> = (Option<LineToken<'a>>, &'a [u8]);

impl LineTokenizer {
    /// One of a line that begins in these character sets.
    pub(super) fn new(charsets: Charsets) -> Self {
        Self { charsets, ..Self::default() }
    }

    /// The character sets after what was read.
    pub(super) fn charsets(&self) -> Charsets {
        self.charsets
    }

    /// How many bytes were read so far.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Goes past bytes that somebody else has read.
    pub(super) fn skip(&mut self, count: usize) {
        self.taken += count;
    }

    /// The next step; nothing when the piece has no more.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<LineToken<'a>> {
        while !bytes.is_empty() {
            let (step, rest) = self.read(bytes);
            self.taken += bytes.len() - rest.len();
            *bytes = rest;
            if let Some(step) = step {
                return Some(self.resolve(step));
            }
        }
        None
    }

    /// What a step means after those before it.
    fn resolve<'a>(&mut self, step: LineToken<'a>) -> LineToken<'a> {
        self.row_jump = match step {
            LineToken::Home => Some(RowJump::Home),
            LineToken::OtherRow(to) => to.map(RowJump::Col),
            _ => None,
        };
        match step {
            LineToken::Save => self.charsets.save(),
            LineToken::Restore => self.charsets.restore(),
            LineToken::Repeat(count) if self.charsets.is_line_drawing() => {
                return LineToken::RepeatLineDrawing(count);
            }
            _ => {}
        }
        step
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
                let step = if self.charsets.is_line_drawing() {
                    LineToken::PrintLineDrawing(text)
                } else {
                    LineToken::Print(text)
                };
                (Some(step), rest)
            }
        }
    }

    /// What follows an ESC. One that is cut short by another control is over.
    fn escape<'a>(&mut self, bytes: &'a [u8]) -> ReadToken<'a> {
        self.state = LineTokenizerState::Text;
        match bytes {
            [] => {
                self.state = LineTokenizerState::Escape;
                (None, bytes)
            }
            [b'[', body @ ..] => self.csi(Params::default(), body),
            [b']', body @ ..] => self.string(body, true),
            // `k` is a title, as programs in screen and tmux write it.
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

    /// Skips a string. The ESC that ends it, and perhaps the `\` after that, is read as a sequence of its own.
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
    /// This, and some more of it.
    fn and(self, more: &[u8]) -> Self {
        match (self, more) {
            (middle, []) => middle,
            (Self::None, [one]) => Self::One(*one),
            (Self::None | Self::One(_) | Self::More, _) => Self::More,
        }
    }
}

impl Params {
    /// These, and some more of them.
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

/// What a sequence means that ends so, after the last step went there.
fn meaning(
    params: Params,
    more: &[u8],
    last: u8,
    away: Option<RowJump>,
) -> Option<LineToken<'static>> {
    // Most sequences are colours, whose parameters nobody reads.
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
        b'J' => match (erase_of(number()?)?, away) {
            (Erase::All | Erase::Right, Some(RowJump::Home)) => LineToken::Clear(0),
            (Erase::All, Some(RowJump::Col(col))) => LineToken::Clear(col),
            // To the row, erasing the screen is what erasing the line is.
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

/// The column so many eighths before one, which is none itself if it lies between two.
pub(super) fn back_by_tabs(col: usize, count: usize) -> usize {
    col.div_ceil(8).saturating_sub(count) * 8
}

/// Where the first such byte is, or the end.
fn find(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| is_it(byte)).unwrap_or(bytes.len())
}
