//! A line that comes in pieces.

use super::row::CellRow;
use super::tokens::{LineToken, LineTokenizer};
use super::{Charsets, TextLine};

/// A line that is drawn piece by piece, in memory that does not grow with it. Where the pieces are cut, within
/// characters and sequences too, makes no difference: it reads as [`clean`](super::clean) reads all of them in one.
#[derive(Clone, Debug)]
pub struct IncrementalLine {
    tokenizer: LineTokenizer,
    row: CellRow,
    /// The beginning of a character whose end has not come yet.
    partial_char: Vec<u8>,
    max_chars: usize,
}

impl IncrementalLine {
    /// A line, of which no more than so many characters will be looked at.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self::with_charsets(Charsets::default(), max_chars)
    }

    /// The same of a line that begins in these character sets.
    #[must_use]
    pub fn with_charsets(sets: Charsets, max_chars: usize) -> Self {
        let (tokenizer, row) = (LineTokenizer::new(sets), CellRow::new(max_chars));
        Self { tokenizer, row, partial_char: Vec::new(), max_chars }
    }

    /// Takes the next piece, which holds no `\n`.
    pub fn feed(&mut self, piece: &[u8]) {
        self.feed_watched(piece, |_| {});
    }

    /// The same, with a look at the line whenever it is about to be moved in or erased: that is what it said until then.
    pub fn feed_watched(&mut self, piece: &[u8], mut watch: impl FnMut(&Self)) {
        let mut rest = piece;
        self.complete_char(&mut rest);
        while let Some(step) = self.tokenizer.next(&mut rest) {
            let taken = self.tokenizer.taken();
            let (LineToken::Print(text) | LineToken::PrintLineDrawing(text)) = step else {
                watch(self);
                self.row.take(step, taken);
                continue;
            };
            let unfinished = if rest.is_empty() { incomplete_suffix(text) } else { 0 };
            let (text, held) = text.split_at(text.len() - unfinished);
            let step = if matches!(step, LineToken::PrintLineDrawing(_)) {
                LineToken::PrintLineDrawing(text)
            } else {
                LineToken::Print(text)
            };
            self.row.take(step, taken - unfinished);
            self.partial_char.extend_from_slice(held);
        }
    }

    /// The line so far, as if it ended here.
    #[must_use]
    pub fn line(&self) -> TextLine<'static> {
        self.clone().finish()
    }

    /// The line, which ends here.
    #[must_use]
    pub fn finish(mut self) -> TextLine<'static> {
        self.print_partial_char();
        self.row.finish().cut_at(self.max_chars)
    }

    /// Ends the character that the last piece began, or gives it up.
    fn complete_char(&mut self, rest: &mut &[u8]) {
        while !self.partial_char.is_empty()
            && let Some((&next, after)) = rest.split_first()
        {
            self.partial_char.push(next);
            let is_over = match str::from_utf8(&self.partial_char) {
                Ok(_) => true,
                Err(error) if error.error_len().is_none() => false,
                Err(_) => {
                    self.partial_char.pop();
                    return self.print_partial_char();
                }
            };
            *rest = after;
            self.tokenizer.skip(1);
            if is_over {
                self.print_partial_char();
            }
        }
    }

    fn print_partial_char(&mut self) {
        self.row.take(LineToken::Print(&self.partial_char), self.tokenizer.taken());
        self.partial_char.clear();
    }
}

/// How many bytes at the end are the beginning of a character whose end may still come.
#[must_use]
pub fn incomplete_suffix(text: &[u8]) -> usize {
    let is_begun = |&count: &usize| {
        let Some(at) = text.len().checked_sub(count) else { return false };
        let error = str::from_utf8(&text[at..]).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=3).find(is_begun).unwrap_or(0)
}
