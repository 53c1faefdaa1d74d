//! A fast path for lines that never overwrite what they printed: all text in a row, whatever is
//! between.
//!
//! Much cheaper than a [`CellRow`](super::row::CellRow). It gives up at the first token that needs
//! one.

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
    /// An upper bound of the cells that a row would have filled so far.
    spent: usize,
}

/// The visible text of a line; `None` if only a row of cells can determine it.
pub(super) fn draw(sets: Charsets, raw: &[u8]) -> Option<String> {
    let text = Vec::with_capacity(raw.len());
    let mut line = AppendOnlyLine { text, ..AppendOnlyLine::default() };
    tokens::tokens(sets, raw).try_for_each(|(token, end)| line.take(token, end))?;
    String::from_utf8(line.text).ok()
}

impl AppendOnlyLine {
    fn take(&mut self, token: LineToken<'_>, end: usize) -> Option<()> {
        match token {
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
            // There is nothing to change right of the text.
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

    /// Moves to another row, as [`CellRow`](super::row::CellRow) does.
    fn jump_row(&mut self, to: Option<usize>) -> Option<()> {
        if self.end == 0 {
            self.col = 0;
        } else if to != Some(self.col) {
            self.col += usize::from(self.col.checked_sub(self.end)? == 0);
        }
        Some(())
    }

    /// Prints text that starts at this byte of the line. Gives up near the row's limits, so that
    /// the row does the cutting.
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

/// The width of plain text: the sum of its characters' widths, as on a screen.
fn cols(bytes: &[u8]) -> Option<usize> {
    if byte_kinds(bytes) == 0 {
        return Some(bytes.len());
    }
    Some(plain(bytes)?.chars().filter_map(UnicodeWidthChar::width).sum())
}
