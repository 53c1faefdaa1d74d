//! A line that comes in pieces.

use super::row::Row;
use super::steps::{Reader, Step};
use super::{Charsets, Line};

/// A line that is drawn piece by piece, in memory that does not grow with it. Where the pieces are cut, within
/// characters and sequences too, makes no difference: it reads as [`clean`](super::clean) reads all of them in one.
#[derive(Clone, Debug)]
pub struct Drawing {
    reader: Reader,
    row: Row,
    /// The beginning of a character whose end has not come yet.
    held: Vec<u8>,
    max_chars: usize,
}

impl Drawing {
    /// A line, of which no more than so many characters will be looked at.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self::in_sets(Charsets::default(), max_chars)
    }

    /// The same of a line that begins in these character sets.
    #[must_use]
    pub fn in_sets(sets: Charsets, max_chars: usize) -> Self {
        let (reader, row) = (Reader::new(sets), Row::new(max_chars));
        Self { reader, row, held: Vec::new(), max_chars }
    }

    /// Takes the next piece, which holds no `\n`.
    pub fn feed(&mut self, piece: &[u8]) {
        self.feed_watched(piece, |_| {});
    }

    /// The same, with a look at the line whenever it is about to be moved in or erased: that is what it said until then.
    pub fn feed_watched(&mut self, piece: &[u8], mut watch: impl FnMut(&Self)) {
        let mut rest = piece;
        self.complete(&mut rest);
        while let Some(step) = self.reader.next(&mut rest) {
            let taken = self.reader.taken();
            let (Step::Print(text) | Step::Draw(text)) = step else {
                watch(self);
                self.row.take(step, taken);
                continue;
            };
            let unfinished = if rest.is_empty() { unfinished(text) } else { 0 };
            let (text, held) = text.split_at(text.len() - unfinished);
            let step =
                if matches!(step, Step::Draw(_)) { Step::Draw(text) } else { Step::Print(text) };
            self.row.take(step, taken - unfinished);
            self.held.extend_from_slice(held);
        }
    }

    /// The line so far, as if it ended here.
    #[must_use]
    pub fn line(&self) -> Line<'static> {
        self.clone().finish()
    }

    /// The line, which ends here.
    #[must_use]
    pub fn finish(mut self) -> Line<'static> {
        self.print_held();
        self.row.finish().cut_at(self.max_chars)
    }

    /// Ends the character that the last piece began, or gives it up.
    fn complete(&mut self, rest: &mut &[u8]) {
        while !self.held.is_empty()
            && let Some((&next, after)) = rest.split_first()
        {
            self.held.push(next);
            let is_over = match str::from_utf8(&self.held) {
                Ok(_) => true,
                Err(error) if error.error_len().is_none() => false,
                Err(_) => {
                    self.held.pop();
                    return self.print_held();
                }
            };
            *rest = after;
            self.reader.skip(1);
            if is_over {
                self.print_held();
            }
        }
    }

    fn print_held(&mut self) {
        self.row.take(Step::Print(&self.held), self.reader.taken());
        self.held.clear();
    }
}

/// How many bytes at the end are the beginning of a character whose end may still come.
#[must_use]
pub fn unfinished(text: &[u8]) -> usize {
    let is_begun = |&count: &usize| {
        let Some(at) = text.len().checked_sub(count) else { return false };
        let error = str::from_utf8(&text[at..]).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=3).find(is_begun).unwrap_or(0)
}
