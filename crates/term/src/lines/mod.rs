//! Lines of raw output as a person would read them.
//!
//! A line stands alone: what an earlier one left behind (an open string, a mode, a cursor in another row)
//! is not known here, but for the character sets, which whoever knows them says. Rows are not told apart, so every line is one row of unlimited width; what a move to another
//! row separates is kept apart by a blank.

mod append_only;
mod charsets;
mod incremental;
mod plain_lines;
mod row;
#[cfg(test)]
mod tests;
mod tokens;

use std::borrow::Cow;
use std::iter;

use memchr::{memchr, memchr_iter};
use unicode_width::UnicodeWidthChar;

pub use charsets::{Charsets, may_switch_charset};
pub use incremental::{IncrementalLine, incomplete_suffix};
pub use plain_lines::are_plain;

/// What [`byte_kinds`] finds: control characters.
const CONTROL: u8 = 1;
/// What [`byte_kinds`] finds: parts of characters beyond ASCII.
const BEYOND_ASCII: u8 = 0x80;

/// One line of text, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine<'a> {
    /// What is left to read when the whole line has been printed.
    pub text: Cow<'a, str>,
    /// Whether there was more than the text shows.
    pub cut: bool,
}

impl TextLine<'_> {
    /// The same, cut at so many characters.
    #[must_use]
    pub fn cut_at(self, max_chars: usize) -> Self {
        if self.text.len() <= max_chars {
            return self;
        }
        let Some((end, _)) = self.text.char_indices().nth(max_chars) else {
            return self;
        };
        let text = match self.text {
            Cow::Borrowed(text) => text[..end].into(),
            // Copied, so that a short text does not hold on to the memory of a long one.
            Cow::Owned(text) => text[..end].to_owned().into(),
        };
        Self { text, cut: true }
    }
}

/// One line of raw output (without its `\n`) as a person would read it, cut at so many characters.
///
/// Plain text is not copied. Printed blanks stay; those that were only moved over or erased go from the end.
#[must_use]
pub fn clean(raw: &[u8], max_chars: usize) -> TextLine<'_> {
    clean_with_charsets(Charsets::default(), raw, max_chars)
}

/// The same of a line that begins in these character sets.
#[must_use]
pub fn clean_with_charsets(sets: Charsets, raw: &[u8], max_chars: usize) -> TextLine<'_> {
    let raw = without_returns(raw);
    let whole = |text| TextLine { text, cut: false };
    let text = if sets.is_line_drawing() { None } else { plain(raw) };
    let line = text
        .map(|text| whole(text.into()))
        .or_else(|| append_only::draw(sets, raw).map(|text| whole(text.into())))
        .unwrap_or_else(|| draw(sets, raw, max_chars));
    line.cut_at(max_chars)
}

fn draw(sets: Charsets, raw: &[u8], max_chars: usize) -> TextLine<'static> {
    let mut drawing = IncrementalLine::with_charsets(sets, max_chars);
    drawing.feed(raw);
    drawing.finish()
}

/// The lines of some output, without their `\n`. What follows the last one is a line too, if there is any.
pub fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    iter::from_fn(move || {
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).filter(|_| !rest.is_empty())?;
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line)
    })
}

/// Terminals end a line with `\r\n`, and programs that do so themselves end up with `\r\r\n`.
fn without_returns(raw: &[u8]) -> &[u8] {
    let returns = raw.iter().rev().take_while(|&&byte| byte == b'\r').count();
    &raw[..raw.len() - returns]
}

/// The bytes as text, if they mean no more than they say.
fn plain(raw: &[u8]) -> Option<&str> {
    let kinds = byte_kinds(raw);
    if kinds & CONTROL != 0 {
        return None;
    }
    let text = str::from_utf8(raw).ok()?;
    let is_plain = kinds & BEYOND_ASCII == 0 || !has_c1(raw) && !starts_with_mark(text);
    is_plain.then_some(text)
}

/// Which kinds of bytes there are beside printable ASCII.
fn byte_kinds(raw: &[u8]) -> u8 {
    // Without a way out in its middle the loop takes many bytes at a time.
    raw.iter().fold(0, |kinds, &byte| {
        kinds | u8::from(byte < 0x20) | u8::from(byte == 0x7f) | byte & BEYOND_ASCII
    })
}

/// Whether text holds a control character of those beyond ASCII, U+0080 to U+009F.
fn has_c1(text: &[u8]) -> bool {
    memchr_iter(0xc2, text).any(|at| text.get(at + 1).is_some_and(|&byte| byte < 0xa0))
}

/// Whether the first character belongs to the one before it.
fn starts_with_mark(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.width() == Some(0))
}

/// How many columns a line can take after so many bytes: tabs at every eighth, and more than any terminal
/// has. Beyond that it is out to cost much, and is cut.
fn max_cols(read: usize) -> usize {
    8 * read + 1024
}

/// How many cells can be filled or moved in a line after so many bytes.
fn cell_budget(read: usize) -> usize {
    32 * max_cols(read)
}
