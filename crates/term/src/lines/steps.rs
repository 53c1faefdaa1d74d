//! What a line does, step by step. Sequences that draw nothing and move nothing in the row are no steps.

use std::iter;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// One thing that happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// Text, if need be with broken characters and such as draw nothing, but none below U+0020.
    Print(&'a [u8]),
    /// To the next eighth column.
    Tab,
    Left(usize),
    Right(usize),
    /// To a column, from 0.
    To(usize),
    Erase(Erase),
    /// Take cells out; those on the right move here.
    Delete(usize),
    /// Put blanks in; what stands here moves right.
    Insert(usize),
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

/// The steps of a line.
pub(super) fn steps(raw: &[u8]) -> impl Iterator<Item = Step<'_>> {
    let mut rest = raw;
    iter::from_fn(move || {
        loop {
            let (step, tail) = read(rest)?;
            rest = tail;
            if step.is_some() {
                return step;
            }
        }
    })
}

/// A step that was read, if it was one, and the bytes after it.
type Read<'a> = (Option<Step<'a>>, &'a [u8]);

fn read(bytes: &[u8]) -> Option<Read<'_>> {
    let (&first, rest) = bytes.split_first()?;
    Some(match first {
        ESC => escape(rest),
        b'\r' => (Some(Step::To(0)), rest),
        b'\t' => (Some(Step::Tab), rest),
        0x08 => (Some(Step::Left(1)), rest),
        ..0x20 => (None, rest),
        0x20.. => {
            let end = find(bytes, |byte| byte < 0x20);
            (Some(Step::Print(&bytes[..end])), &bytes[end..])
        }
    })
}

/// What follows an ESC. One that is cut short by another control is over.
fn escape(rest: &[u8]) -> Read<'_> {
    match rest {
        [b'[', body @ ..] => csi(body),
        [b']', body @ ..] => string(body, true),
        // `k` is a title, as programs in screen and tmux write it.
        [b'P' | b'X' | b'^' | b'_' | b'k', body @ ..] => string(body, false),
        [b'7', tail @ ..] => (Some(Step::Save), tail),
        [b'8', tail @ ..] => (Some(Step::Restore), tail),
        _ => {
            let end = find(rest, |byte| !(0x20..0x30).contains(&byte));
            let has_last = matches!(rest.get(end), Some(0x30..0x7f));
            (None, &rest[end + usize::from(has_last)..])
        }
    }
}

fn csi(body: &[u8]) -> Read<'_> {
    let end = find(body, |byte| matches!(byte, 0x40..0x7f | CAN | SUB | ESC));
    match body.get(end) {
        Some(&ESC) | None => (None, &body[end..]),
        Some(&last) => (meaning(&body[..end], last), &body[end + 1..]),
    }
}

fn meaning(params: &[u8], last: u8) -> Option<Step<'static>> {
    // Most sequences are colours, whose parameters nobody reads.
    let count = || number(params).map(|number| number.max(1));
    Some(match last {
        b'C' | b'a' => Step::Right(count()?),
        b'D' => Step::Left(count()?),
        b'G' | b'`' => Step::To(count()? - 1),
        // To the row, erasing the screen is what erasing the line is.
        b'K' | b'J' => Step::Erase(erased(number(params)?)?),
        b'X' => Step::Erase(Erase::Cells(count()?)),
        b'P' => Step::Delete(count()?),
        b'@' => Step::Insert(count()?),
        b's' => number(params).map(|_| Step::Save)?,
        b'u' => number(params).map(|_| Step::Restore)?,
        _ => return None,
    })
}

fn erased(number: usize) -> Option<Erase> {
    [Erase::Right, Erase::Left, Erase::All].get(number).copied()
}

/// The first parameter; nothing if these are the parameters of some private sequence.
fn number(params: &[u8]) -> Option<usize> {
    if params.iter().any(|byte| !matches!(byte, b'0'..=b';')) {
        return None;
    }
    let digits = params.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits
        .fold(0, |sum: u16, digit| sum.saturating_mul(10).saturating_add(u16::from(digit - b'0')));
    Some(number.into())
}

/// Skips a string. The ESC that ends it, and perhaps the `\` after that, is read as a sequence of its own.
fn string(body: &[u8], is_osc: bool) -> Read<'_> {
    let end = find(body, |byte| matches!(byte, ESC | CAN | SUB) || is_osc && byte == BEL);
    let has_last = body.get(end).is_some_and(|&byte| byte != ESC);
    (None, &body[end + usize::from(has_last)..])
}

/// Where the first such byte is, or the end.
fn find(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| is_it(byte)).unwrap_or(bytes.len())
}
