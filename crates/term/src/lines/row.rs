//! One row of cells, for lines that print over what they printed.
//!
//! Wide characters and marks do what they do on [`Screen`](crate::Screen). Time and memory stay within a
//! multiple of the line's length, whatever the line says: what would cost more is left out, and the line is
//! called cut.

use unicode_width::UnicodeWidthChar;

use super::steps::{self, Erase, Step};
use super::{Line, widest};

/// How many cells can be filled or moved per column.
const EFFORT: usize = 32;

/// However little is looked at, this many columns are kept, because what is deleted pulls others in.
const MIN_COLS: usize = 4096;

/// Where the marks of a cell without marks are.
const NO_MARKS: usize = 0;

/// A row that is being drawn.
#[derive(Default)]
pub(super) struct Row {
    cells: Vec<Cell>,
    /// The marks of cells that have some, from 1 on; [`NO_MARKS`] stays empty.
    marks: Vec<String>,
    col: usize,
    saved: usize,
    /// The column from which on nothing is kept.
    edge: usize,
    /// Whether something stands there.
    overflows: bool,
    /// Whether some of that should stand before it by now.
    has_lost: bool,
    /// How many more cells can be filled or moved.
    effort: usize,
    is_exhausted: bool,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    kind: Kind,
    /// Which marks are on it.
    marks: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    /// Erased, or never printed on.
    #[default]
    Blank,
    Narrow(char),
    Wide(char),
    /// The right half of a wide character.
    Spacer,
}

impl Row {
    /// Draws a line, of which only so many characters will be looked at.
    pub(super) fn draw(raw: &[u8], max_chars: usize) -> Line<'static> {
        // A character takes two columns at most.
        let asked = max_chars.saturating_mul(2).max(MIN_COLS);
        let mut row = Self {
            edge: asked.min(widest(raw)),
            effort: EFFORT * widest(raw),
            marks: vec![String::new()],
            ..Self::default()
        };
        steps::steps(raw).for_each(|step| row.take(step));
        row.finish()
    }

    fn take(&mut self, step: Step<'_>) {
        self.divide(&step);
        match step {
            Step::Print(bytes) => self.print(bytes),
            Step::Tab => self.col = (self.col / 8 + 1) * 8,
            Step::Left(cols) => self.col = self.col.saturating_sub(cols),
            Step::Right(cols) => self.col += cols,
            Step::To(col) => self.col = col,
            Step::Erase(what) => self.erase(what),
            Step::Delete(count) => self.delete(count),
            Step::Insert(count) => self.insert(count),
            Step::Save => self.saved = self.col,
            Step::Restore => self.col = self.saved,
        }
    }

    fn print(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            chunk.valid().chars().for_each(|c| self.print_char(c));
            if !chunk.invalid().is_empty() {
                self.print_char(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    fn print_char(&mut self, c: char) {
        match c.width() {
            None => {}
            Some(0) => self.mark(c),
            Some(1) => self.put(Kind::Narrow(c)),
            Some(_) => {
                self.put(Kind::Wide(c));
                self.put(Kind::Spacer);
            }
        }
    }

    /// Puts something into the cell here, and goes to the next. Half a wide character does not remain.
    fn put(&mut self, kind: Kind) {
        let col = self.col;
        self.col += 1;
        if !self.reach(col) {
            return;
        }
        match self.cells[col].kind {
            Kind::Wide(_) => self.blank(col + 1, |kind| kind == Kind::Spacer),
            Kind::Spacer => self.blank(col.saturating_sub(1), |kind| kind != Kind::Spacer),
            Kind::Blank | Kind::Narrow(_) => {}
        }
        self.cells[col] = Cell { kind, marks: NO_MARKS };
    }

    fn blank(&mut self, col: usize, applies: impl Fn(Kind) -> bool) {
        if let Some(cell) = self.cells.get_mut(col).filter(|cell| applies(cell.kind)) {
            *cell = Cell::default();
        }
    }

    /// Adds a mark to the character before the cursor.
    fn mark(&mut self, mark: char) {
        let mut col = self.col.saturating_sub(1);
        if !self.reach(col) {
            return;
        }
        if self.cells[col].kind == Kind::Spacer {
            col = col.saturating_sub(1);
        }
        let cell = &mut self.cells[col];
        if cell.kind == Kind::Blank {
            cell.kind = Kind::Narrow(' ');
        }
        if cell.marks == NO_MARKS {
            cell.marks = self.marks.len();
            self.marks.push(String::new());
        }
        self.marks[cell.marks].push(mark);
    }

    fn erase(&mut self, what: Erase) {
        match what {
            Erase::Right => {
                self.cells.truncate(self.col);
                self.overflows &= self.edge < self.col;
            }
            Erase::Left => self.fill(0, self.col + 1),
            Erase::All => {
                self.cells.clear();
                (self.overflows, self.has_lost) = (false, false);
            }
            Erase::Cells(count) => self.fill(self.col, self.col + count),
        }
    }

    fn fill(&mut self, from: usize, to: usize) {
        let to = to.min(self.cells.len());
        if from < to && self.affords(to - from) {
            self.cells[from..to].fill(Cell::default());
        }
    }

    fn delete(&mut self, count: usize) {
        let (from, len) = (self.col, self.cells.len());
        self.has_lost |= self.overflows && from < self.edge;
        if from < len && self.affords(len - from) {
            self.cells.drain(from..len.min(from + count));
        }
    }

    fn insert(&mut self, count: usize) {
        let (from, len) = (self.col, self.cells.len());
        let count = count.min(self.edge - from.min(self.edge));
        if from < len && self.affords(len - from + count) {
            self.cells.splice(from..from, std::iter::repeat_n(Cell::default(), count));
            self.overflows |= self.edge < self.cells.len();
            self.cells.truncate(self.edge);
        }
    }

    /// Makes sure that there is a cell at a column. Answers whether there is.
    fn reach(&mut self, col: usize) -> bool {
        if self.edge <= col {
            self.overflows = true;
            return false;
        }
        let missing = (col + 1).saturating_sub(self.cells.len());
        if 0 < missing && !self.affords(missing) {
            return false;
        }
        self.cells.resize(self.cells.len() + missing, Cell::default());
        true
    }

    /// What edits the row divides it where that begins and ends. Half a wide character does not remain there, either.
    fn divide(&mut self, step: &Step<'_>) {
        let (begin, end) = match step {
            Step::Erase(Erase::Right) | Step::Insert(_) => (self.col, self.col),
            Step::Erase(Erase::Left) => (self.col + 1, self.col + 1),
            Step::Erase(Erase::Cells(count)) | Step::Delete(count) => {
                (self.col, self.col.saturating_add(*count))
            }
            _ => return,
        };
        for col in [begin, end] {
            if self.cells.get(col).is_some_and(|cell| cell.kind == Kind::Spacer) {
                self.cells[col.saturating_sub(1)] = Cell::default();
                self.cells[col] = Cell::default();
            }
        }
    }

    fn affords(&mut self, cells: usize) -> bool {
        let left = self.effort.checked_sub(cells);
        self.is_exhausted |= left.is_none();
        self.effort = left.unwrap_or(self.effort);
        left.is_some()
    }

    fn finish(mut self) -> Line<'static> {
        if self.overflows {
            // Something stands after these blanks.
            self.cells.resize(self.edge, Cell { kind: Kind::Narrow(' '), marks: NO_MARKS });
        }
        Line { text: self.text().into(), cut: self.overflows || self.has_lost || self.is_exhausted }
    }

    fn text(&self) -> String {
        let blanks = self.cells.iter().rev().take_while(|cell| cell.kind == Kind::Blank).count();
        let mut text = String::with_capacity(self.cells.len());
        for cell in &self.cells[..self.cells.len() - blanks] {
            match cell.kind {
                Kind::Blank => text.push(' '),
                Kind::Narrow(c) | Kind::Wide(c) => text.push(c),
                Kind::Spacer => continue,
            }
            text.push_str(&self.marks[cell.marks]);
        }
        text
    }
}
