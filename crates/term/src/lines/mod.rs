//! Cleans lines of raw output into the text that a user would read.
//!
//! Each line is cleaned on its own: state from earlier lines (an open string, a mode, the cursor in
//! another row) is not known here, except the character sets, which the caller passes in. Every
//! line is one row of unlimited width; a move to another row becomes a blank between the two texts.

mod append_only;
mod charsets;
mod coloured;
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
pub use coloured::{TextColours, clean_with_colours};
pub use incremental::{IncrementalLine, incomplete_suffix};
pub use plain_lines::are_plain;

/// A bit of [`byte_kinds`]: control characters.
const CONTROL: u8 = 1;
/// A bit of [`byte_kinds`]: bytes beyond ASCII.
const BEYOND_ASCII: u8 = 0x80;

/// One line of text, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine<'a> {
    /// The text that is visible after the whole line was printed.
    pub text: Cow<'a, str>,
    /// Whether the text was cut.
    pub cut: bool,
}

impl TextLine<'_> {
    /// Cuts the line at this many characters.
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
            // Copied, so that a short text does not keep the memory of a long one.
            Cow::Owned(text) => text[..end].to_owned().into(),
        };
        Self { text, cut: true }
    }
}

/// Cleans one line of raw output (without its `\n`) and cuts it at this many characters.
///
/// Plain text is not copied. Printed blanks stay; trailing cells that were only skipped or erased
/// are dropped.
#[must_use]
pub fn clean(raw: &[u8], max_chars: usize) -> TextLine<'_> {
    clean_with_charsets(Charsets::default(), raw, max_chars)
}

/// Like [`clean`], for a line that begins in these character sets.
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
    let mut line = IncrementalLine::with_charsets(sets, max_chars);
    line.feed(raw);
    line.finish()
}

/// The lines of some output, without their `\n`. Text after the last `\n` is a line too.
pub fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    iter::from_fn(move || {
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).filter(|_| !rest.is_empty())?;
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line)
    })
}

/// Strips trailing `\r`s: terminals end a line with `\r\n`, and programs that do so themselves end
/// up with `\r\r\n`.
fn without_returns(raw: &[u8]) -> &[u8] {
    let returns = raw.iter().rev().take_while(|&&byte| byte == b'\r').count();
    &raw[..raw.len() - returns]
}

/// The bytes as text, if there is nothing in them to interpret.
fn plain(raw: &[u8]) -> Option<&str> {
    let kinds = byte_kinds(raw);
    if kinds & CONTROL != 0 {
        return None;
    }
    let text = str::from_utf8(raw).ok()?;
    let is_plain = kinds & BEYOND_ASCII == 0 || !has_c1(raw) && !starts_with_mark(text);
    is_plain.then_some(text)
}

/// The kinds of bytes besides printable ASCII.
fn byte_kinds(raw: &[u8]) -> u8 {
    // No early exit, so that the loop can be vectorized.
    raw.iter().fold(0, |kinds, &byte| {
        kinds | u8::from(byte < 0x20) | u8::from(byte == 0x7f) | byte & BEYOND_ASCII
    })
}

/// Whether text holds a C1 control character, U+0080 to U+009F.
fn has_c1(text: &[u8]) -> bool {
    memchr_iter(0xc2, text).any(|at| text.get(at + 1).is_some_and(|&byte| byte < 0xa0))
}

/// Whether the first character combines with the one before it.
fn starts_with_mark(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.width() == Some(0))
}

/// The most columns that a line may use after this many bytes: enough for a tab in every byte, and
/// more than any terminal has. A line that goes beyond it was made to be expensive, and is cut.
fn max_cols(read: usize) -> usize {
    8 * read + 1024
}

/// How many cells may be filled or moved in a line after this many bytes.
fn cell_budget(read: usize) -> usize {
    32 * max_cols(read)
}
