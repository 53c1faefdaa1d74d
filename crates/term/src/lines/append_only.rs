//! Lines that never print over what they printed: all text in a row, whatever is between.
//!
//! Much cheaper than a [`Row`](super::row::Row), and it gives up at the first step that needs one.

use unicode_width::UnicodeWidthChar;

use super::tokens::{self, Erase, LineToken, back_by_tabs};
use super::{Charsets, byte_kinds, cell_budget, max_cols, plain};

/// The text so far.
#[derive(Default)]
struct AppendOnlyLine {
    /// Whole characters only.
    text: Vec<u8>,
    /// The column after the text.
    end: usize,
    /// Where the next character goes.
    col: usize,
    saved: usize,
    /// How many cells a row would have filled so far, if not less.
    spent: usize,
}

/// What is left to read of a line; nothing if that takes a row of cells to know.
pub(super) fn draw(sets: Charsets, raw: &[u8]) -> Option<String> {
    let text = Vec::with_capacity(raw.len());
    let mut flow = AppendOnlyLine { text, ..AppendOnlyLine::default() };
    tokens::tokens(sets, raw).try_for_each(|(step, end)| flow.take(step, end))?;
    String::from_utf8(flow.text).ok()
}

impl AppendOnlyLine {
    fn take(&mut self, step: LineToken<'_>, end: usize) -> Option<()> {
        match step {
            LineToken::Print(bytes) => return self.print(bytes, end - bytes.len()),
            LineToken::Tabs(count) => self.col = (self.col / 8 + count) * 8,
            LineToken::BackTabs(count) => self.col = back_by_tabs(self.col, count),
            LineToken::Left(cols) => self.col = self.col.saturating_sub(cols),
            LineToken::Right(cols) => self.col += cols,
            LineToken::Column(col) => self.col = col,
            LineToken::Erase(Erase::All) => self.clear(),
            LineToken::Clear(col) => {
                self.clear();
                self.col = col;
            }
            LineToken::Erase(Erase::Right) if self.col == 0 => self.clear(),
            LineToken::Erase(Erase::Left) if self.end <= self.col + 1 => self.clear(),
            LineToken::Erase(Erase::Left) => return None,
            // Right of the text there is nothing to change.
            LineToken::Erase(Erase::Right | Erase::Cells(_))
            | LineToken::Delete(_)
            | LineToken::Insert(_) => {
                return (self.end <= self.col).then_some(());
            }
            LineToken::PrintLineDrawing(_)
            | LineToken::Repeat(_)
            | LineToken::RepeatLineDrawing(_) => return None,
            LineToken::Home => return self.jump_row(Some(0)),
            LineToken::OtherRow(to) => return self.jump_row(to),
            LineToken::Save => self.saved = self.col,
            LineToken::Restore => self.col = self.saved,
        }
        Some(())
    }

    /// Goes to another row, as [`Row`](super::row::Row) does.
    fn jump_row(&mut self, to: Option<usize>) -> Option<()> {
        if self.end == 0 {
            self.col = 0;
        } else if to != Some(self.col) {
            self.col += usize::from(self.col.checked_sub(self.end)? == 0);
        }
        Some(())
    }

    /// Prints what begins after so many bytes. What would be too much for a row is left to it to cut.
    fn print(&mut self, bytes: &[u8], start: usize) -> Option<()> {
        let gap = self.col.checked_sub(self.end).filter(|_| self.col < max_cols(start))?;
        self.spent += gap;
        if cell_budget(start) < self.spent + 2 {
            return None;
        }
        self.text.resize(self.text.len() + gap, b' ');
        self.text.extend_from_slice(bytes);
        let cols = cols(bytes)?;
        self.spent += cols;
        self.col += cols;
        self.end = self.col;
        Some(())
    }

    fn clear(&mut self) {
        self.spent += self.end;
        self.text.clear();
        self.end = 0;
    }
}

/// How wide plain text is: each character counts for itself, as on a screen.
fn cols(bytes: &[u8]) -> Option<usize> {
    if byte_kinds(bytes) == 0 {
        return Some(bytes.len());
    }
    Some(plain(bytes)?.chars().filter_map(UnicodeWidthChar::width).sum())
}
