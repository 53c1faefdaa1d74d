//! A line that arrives in pieces.

use super::row::CellRow;
use super::tokens::{LineToken, LineTokenizer};
use super::{Charsets, TextLine};

/// A line that is drawn piece by piece, in memory that does not grow with it. Pieces may be cut
/// anywhere, even within characters and sequences: the result is the same as that of
/// [`clean`](super::clean) for the whole line.
#[derive(Clone, Debug)]
pub struct IncrementalLine {
    tokenizer: LineTokenizer,
    row: CellRow,
    /// The first bytes of a character that is not complete yet.
    partial_char: Vec<u8>,
    max_chars: usize,
}

impl IncrementalLine {
    /// A line that is cut at this many characters.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self::with_charsets(Charsets::default(), max_chars)
    }

    /// Like [`Self::new`], for a line that begins in these character sets.
    #[must_use]
    pub fn with_charsets(sets: Charsets, max_chars: usize) -> Self {
        Self {
            tokenizer: LineTokenizer::new(sets),
            row: CellRow::new(max_chars),
            partial_char: Vec::new(),
            max_chars,
        }
    }

    /// Feeds the next piece, which must not contain `\n`.
    pub fn feed(&mut self, piece: &[u8]) {
        self.feed_watched(piece, |_| {});
    }

    /// Like [`Self::feed`], but calls `watch` before every token that moves the cursor or erases,
    /// while the text drawn so far is still there.
    pub fn feed_watched(&mut self, piece: &[u8], mut watch: impl FnMut(&Self)) {
        let mut rest = piece;
        self.complete_char(&mut rest);
        while let Some(token) = self.tokenizer.next(&mut rest) {
            let taken = self.tokenizer.taken();
            let (LineToken::Print(text) | LineToken::PrintLineDrawing(text)) = token else {
                watch(self);
                self.row.take(token, taken);
                continue;
            };
            let unfinished = if rest.is_empty() { incomplete_suffix(text) } else { 0 };
            let (text, partial) = text.split_at(text.len() - unfinished);
            let token = if matches!(token, LineToken::PrintLineDrawing(_)) {
                LineToken::PrintLineDrawing(text)
            } else {
                LineToken::Print(text)
            };
            self.row.take(token, taken - unfinished);
            self.partial_char.extend_from_slice(partial);
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

    /// Completes the character that the last piece began, or gives it up.
    fn complete_char(&mut self, rest: &mut &[u8]) {
        while !self.partial_char.is_empty()
            && let Some((&next, after)) = rest.split_first()
        {
            self.partial_char.push(next);
            let is_complete = match str::from_utf8(&self.partial_char) {
                Ok(_) => true,
                Err(error) if error.error_len().is_none() => false,
                Err(_) => {
                    self.partial_char.pop();
                    return self.print_partial_char();
                }
            };
            *rest = after;
            self.tokenizer.skip(1);
            if is_complete {
                self.print_partial_char();
            }
        }
    }

    fn print_partial_char(&mut self) {
        self.row.take(LineToken::Print(&self.partial_char), self.tokenizer.taken());
        self.partial_char.clear();
    }
}

/// How many bytes at the end are the start of a character that may still be completed.
#[must_use]
pub fn incomplete_suffix(text: &[u8]) -> usize {
    let is_begun = |&count: &usize| {
        let Some(at) = text.len().checked_sub(count) else { return false };
        let error = str::from_utf8(&text[at..]).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=3).find(is_begun).unwrap_or(0)
}
