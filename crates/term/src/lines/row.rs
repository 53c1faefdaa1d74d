//! One row of cells, for lines that overwrite what they printed.
//!
//! Wide characters and combining marks behave as on [`Screen`](crate::Screen). Time is bounded by a
//! multiple of the line's length, and memory also by a multiple of the requested size, whatever the
//! line contains: what would cost more is left out, and the line is marked as cut. The bounds
//! depend only on what was read before, not on what follows, so that a line can arrive in pieces.

use std::mem;

use alacritty_terminal::vte::ansi::StandardCharset;
use unicode_width::UnicodeWidthChar;

use super::tokens::{Erase, LineToken, back_by_tabs};
use super::{TextLine, cell_budget, max_cols};

/// At least this many columns are kept, because deleted cells pull others in from the right.
const MIN_COLS: usize = 4096;

const ASCII: StandardCharset = StandardCharset::Ascii;
const LINE_DRAWING: StandardCharset = StandardCharset::SpecialCharacterAndLineDrawing;

/// The index of a cell without marks.
const NO_MARKS: usize = 0;

/// A row that is being drawn.
#[derive(Clone, Debug)]
pub(super) struct CellRow {
    cells: Vec<RowCell>,
    /// The combining marks of cells that have some, from 1 on; [`NO_MARKS`] stays empty.
    marks: Vec<String>,
    /// How many bytes of marks there are, including those of cells that are gone.
    marked: usize,
    /// How many bytes of the line were read when the marks of removed cells were last swept.
    marks_swept_at: usize,
    col: usize,
    saved: usize,
    /// The last printed character, wherever the cursor is now.
    last: Option<char>,
    /// The maximum number of columns to keep, however long the line is.
    max_cols: usize,
    /// The column from which on nothing is kept. Grows with the line until something is printed
    /// beyond it.
    edge: usize,
    /// The column after the last thing printed beyond the edge; 0 if there is none.
    beyond: usize,
    /// Whether something from beyond the edge was pulled in, or a mark is missing.
    has_lost: bool,
    /// How many bytes of the line were read.
    read: usize,
    /// How many cells were filled or moved.
    cells_touched: usize,
    is_exhausted: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct RowCell {
    kind: RowCellKind,
    /// The index of its marks.
    marks: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowCellKind {
    /// Erased, or never printed on.
    #[default]
    Blank,
    Narrow(char),
    Wide(char),
    /// The right half of a wide character.
    Spacer,
}

impl CellRow {
    /// A row that is cut at this many characters.
    pub(super) fn new(max_chars: usize) -> Self {
        Self {
            cells: Vec::new(),
            marks: vec![String::new()],
            marked: 0,
            marks_swept_at: 0,
            col: 0,
            saved: 0,
            last: None,
            // A character takes two columns at most.
            max_cols: max_chars.saturating_mul(2).max(MIN_COLS),
            edge: 0,
            beyond: 0,
            has_lost: false,
            read: 0,
            cells_touched: 0,
            is_exhausted: false,
        }
    }

    /// Applies a token that ends at this byte of the line.
    pub(super) fn take(&mut self, token: LineToken<'_>, end: usize) {
        match token {
            LineToken::Print(bytes) => return self.print(bytes, end, ASCII),
            LineToken::PrintLineDrawing(bytes) => return self.print(bytes, end, LINE_DRAWING),
            _ => {}
        }
        self.read = end;
        self.split_wide_chars(&token);
        match token {
            LineToken::Print(_) | LineToken::PrintLineDrawing(_) => {}
            LineToken::Tabs(count) => self.col = (self.col / 8 + count) * 8,
            LineToken::BackTabs(count) => self.col = back_by_tabs(self.col, count),
            LineToken::Repeat(count) => self.repeat(count, ASCII),
            LineToken::RepeatLineDrawing(count) => self.repeat(count, LINE_DRAWING),
            LineToken::Home => self.jump_row(Some(0)),
            LineToken::OtherRow(to) => self.jump_row(to),
            LineToken::Clear(col) => {
                self.clear();
                self.col = col;
            }
            LineToken::Left(cols) => self.col = self.col.saturating_sub(cols),
            LineToken::Right(cols) => self.col += cols,
            LineToken::Column(col) => self.col = col,
            LineToken::Erase(what) => self.erase(what),
            LineToken::Delete(count) => self.delete(count),
            LineToken::Insert(count) => self.insert(count),
            LineToken::Save => self.saved = self.col,
            LineToken::Restore => self.col = self.saved,
        }
    }

    fn print(&mut self, bytes: &[u8], end: usize, set: StandardCharset) {
        self.read = end - bytes.len();
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                self.read += c.len_utf8();
                self.print_char(c, set);
            }
            if !chunk.invalid().is_empty() {
                self.read += chunk.invalid().len();
                self.print_char(char::REPLACEMENT_CHARACTER, set);
            }
        }
    }

    fn print_char(&mut self, c: char, set: StandardCharset) {
        self.last = Some(c);
        let c = set.map(c);
        match c.width() {
            None => {}
            Some(0) => self.mark(c),
            Some(1) => self.put(RowCellKind::Narrow(c)),
            Some(_) => {
                self.put(RowCellKind::Wide(c));
                self.put(RowCellKind::Spacer);
            }
        }
    }

    fn repeat(&mut self, count: usize, set: StandardCharset) {
        let Some(last) = self.last else { return };
        if self.spend_budget(count) {
            (0..count).for_each(|_| self.print_char(last, set));
        } else {
            self.col += count * last.width().unwrap_or(0);
        }
    }

    /// Moves to another row: the following text is separated from the text here by a blank. In an
    /// empty row there is no column to keep.
    fn jump_row(&mut self, to: Option<usize>) {
        if self.cells.is_empty() && self.beyond == 0 {
            self.col = 0;
            return;
        }
        if to == Some(self.col) {
            return;
        }
        let follows = match self.col.checked_sub(1).map(|before| self.cells.get(before)) {
            Some(Some(cell)) => cell.kind != RowCellKind::Blank,
            Some(None) => self.beyond == self.col,
            None => false,
        };
        self.col += usize::from(follows);
    }

    /// Writes the cell at the cursor and advances. The other half of an overwritten wide character
    /// is blanked.
    fn put(&mut self, kind: RowCellKind) {
        let col = self.col;
        self.col += 1;
        if !self.ensure_cell(col) {
            return;
        }
        match self.cells[col].kind {
            RowCellKind::Wide(_) => self.blank(col + 1, |kind| kind == RowCellKind::Spacer),
            RowCellKind::Spacer => {
                self.blank(col.saturating_sub(1), |kind| kind != RowCellKind::Spacer)
            }
            RowCellKind::Blank | RowCellKind::Narrow(_) => {}
        }
        self.cells[col] = RowCell { kind, marks: NO_MARKS };
    }

    fn blank(&mut self, col: usize, applies: impl Fn(RowCellKind) -> bool) {
        if let Some(cell) = self.cells.get_mut(col).filter(|cell| applies(cell.kind)) {
            *cell = RowCell::default();
        }
    }

    /// Adds a mark to the character before the cursor.
    fn mark(&mut self, mark: char) {
        let mut col = self.col.saturating_sub(1);
        if !self.ensure_cell(col) {
            return;
        }
        if self.cells[col].kind == RowCellKind::Spacer {
            col = col.saturating_sub(1);
        }
        let cell = &mut self.cells[col];
        if cell.kind == RowCellKind::Blank {
            cell.kind = RowCellKind::Narrow(' ');
        }
        if !self.has_room_for_marks() {
            self.has_lost = true;
            return;
        }
        let cell = &mut self.cells[col];
        if cell.marks == NO_MARKS {
            cell.marks = self.marks.len();
            self.marks.push(String::new());
        }
        self.marks[cell.marks].push(mark);
        self.marked += mark.len_utf8();
    }

    /// Whether another mark can be kept, after sweeping the marks of removed cells.
    fn has_room_for_marks(&mut self) -> bool {
        let most = self.max_cols.saturating_mul(8).min(max_cols(self.read));
        if self.marked < most {
            return true;
        }
        // Sweeps only after half as much was read again, so that the cost per byte stays low.
        if self.read - self.marks_swept_at < most / 2 {
            return false;
        }
        self.marks_swept_at = self.read;
        let mut marks = vec![String::new()];
        for cell in self.cells.iter_mut().filter(|cell| cell.marks != NO_MARKS) {
            marks.push(mem::take(&mut self.marks[cell.marks]));
            cell.marks = marks.len() - 1;
        }
        self.marked = marks.iter().map(String::len).sum();
        self.marks = marks;
        self.marked < most
    }

    fn erase(&mut self, what: Erase) {
        match what {
            Erase::All => self.clear(),
            Erase::Right if self.col == 0 => self.clear(),
            Erase::Right => {
                self.cells.truncate(self.col);
                self.beyond = if self.edge < self.col { self.beyond.min(self.col) } else { 0 };
            }
            Erase::Left if self.cells.len().max(self.beyond) <= self.col + 1 => {
                // Costs the same as erasing them one by one.
                self.cells_touched += self.cells.len();
                self.clear();
            }
            Erase::Left => self.fill(0, self.col + 1),
            Erase::Cells(count) => self.fill(self.col, self.col + count),
        }
    }

    /// Clears the row, including the record of what was cut.
    fn clear(&mut self) {
        self.cells.clear();
        self.marks.truncate(1);
        self.marked = 0;
        self.beyond = 0;
        self.has_lost = false;
        self.is_exhausted = false;
    }

    fn fill(&mut self, from: usize, to: usize) {
        let to = to.min(self.cells.len());
        if from < to && self.spend_budget(to - from) {
            self.cells[from..to].fill(RowCell::default());
        }
    }

    fn delete(&mut self, count: usize) {
        let from = self.col;
        let len = self.cells.len();
        self.has_lost |= 0 < self.beyond && from < self.edge;
        if from < len && self.spend_budget(len - from) {
            self.cells.drain(from..len.min(from + count));
        }
    }

    fn insert(&mut self, count: usize) {
        self.grow();
        let from = self.col;
        let len = self.cells.len();
        let count = count.min(self.edge - from.min(self.edge));
        if from < len && self.spend_budget(len - from + count) {
            self.cells.splice(from..from, std::iter::repeat_n(RowCell::default(), count));
            if self.edge < self.cells.len() {
                self.beyond = self.beyond.max(self.cells.len());
                self.cells.truncate(self.edge);
            }
        }
    }

    /// Ensures that there is a cell at a column. Returns whether there is.
    fn ensure_cell(&mut self, col: usize) -> bool {
        if col < self.cells.len() {
            return true;
        }
        self.grow();
        if self.edge <= col {
            self.beyond = self.beyond.max(col + 1);
            return false;
        }
        let missing = col + 1 - self.cells.len();
        if !self.spend_budget(missing) {
            return false;
        }
        self.cells.resize(col + 1, RowCell::default());
        true
    }

    /// Moves the edge to where the line is long enough for by now. Not after something was printed
    /// beyond it: that position must not look blank.
    fn grow(&mut self) {
        if self.beyond == 0 {
            self.edge = max_cols(self.read).min(self.max_cols);
        }
    }

    /// An edit divides the row where it begins and ends. A wide character that is cut there is
    /// blanked.
    fn split_wide_chars(&mut self, token: &LineToken<'_>) {
        let (begin, end) = match token {
            LineToken::Erase(Erase::Right) | LineToken::Insert(_) => (self.col, self.col),
            LineToken::Erase(Erase::Left) => (self.col + 1, self.col + 1),
            LineToken::Erase(Erase::Cells(count)) | LineToken::Delete(count) => {
                (self.col, self.col.saturating_add(*count))
            }
            _ => return,
        };
        for col in [begin, end] {
            if self.cells.get(col).is_some_and(|cell| cell.kind == RowCellKind::Spacer) {
                self.cells[col.saturating_sub(1)] = RowCell::default();
                self.cells[col] = RowCell::default();
            }
        }
    }

    fn spend_budget(&mut self, cells: usize) -> bool {
        let affords = self.cells_touched + cells <= cell_budget(self.read);
        self.is_exhausted |= !affords;
        self.cells_touched += if affords { cells } else { 0 };
        affords
    }

    pub(super) fn finish(mut self) -> TextLine<'static> {
        if 0 < self.beyond {
            // Something was printed after these blanks.
            self.cells
                .resize(self.edge, RowCell { kind: RowCellKind::Narrow(' '), marks: NO_MARKS });
        }
        let cut = 0 < self.beyond || self.has_lost || self.is_exhausted;
        TextLine { text: self.text().into(), cut }
    }

    fn text(&self) -> String {
        let blanks =
            self.cells.iter().rev().take_while(|cell| cell.kind == RowCellKind::Blank).count();
        let mut text = String::with_capacity(self.cells.len());
        for cell in &self.cells[..self.cells.len() - blanks] {
            match cell.kind {
                RowCellKind::Blank => text.push(' '),
                RowCellKind::Narrow(c) | RowCellKind::Wide(c) => text.push(c),
                RowCellKind::Spacer => continue,
            }
            text.push_str(&self.marks[cell.marks]);
        }
        text
    }
}
