//! One row of cells, for lines that print over what they printed.
//!
//! Wide characters and marks do what they do on [`Screen`](crate::Screen). Time stays within a multiple of the
//! line's length, and memory within one of what is asked for too, whatever the line says: what would cost more
//! is left out, and the line is called cut. How much that is depends on what was read before, and not on what
//! follows, so that a line can come in pieces.

use std::mem;

use alacritty_terminal::vte::ansi::StandardCharset;
use unicode_width::UnicodeWidthChar;

use super::steps::{Erase, Step, back_by_tabs};
use super::{Line, effort, widest};

/// However little is looked at, this many columns are kept, because what is deleted pulls others in.
const MIN_COLS: usize = 4096;

const LETTERS: StandardCharset = StandardCharset::Ascii;
const LINES: StandardCharset = StandardCharset::SpecialCharacterAndLineDrawing;

/// Where the marks of a cell without marks are.
const NO_MARKS: usize = 0;

/// A row that is being drawn.
#[derive(Clone, Debug)]
pub(super) struct Row {
    cells: Vec<Cell>,
    /// The marks of cells that have some, from 1 on; [`NO_MARKS`] stays empty.
    marks: Vec<String>,
    /// How many bytes of marks there are, those of cells that are gone included.
    marked: usize,
    /// How many bytes of the line were read when the marks of cells that are gone went.
    swept: usize,
    col: usize,
    saved: usize,
    /// The last character that was printed, wherever it is now.
    last: Option<char>,
    /// How many columns are kept at most, however long the line is.
    most: usize,
    /// The column from which on nothing is kept. Grows with the line until something stands there.
    edge: usize,
    /// The column after the last thing that stands there; 0 if nothing does.
    beyond: usize,
    /// Whether some of that should stand before it by now, or a mark is missing.
    has_lost: bool,
    /// How many bytes of the line were read.
    read: usize,
    /// How many cells were filled or moved.
    spent: usize,
    is_exhausted: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    kind: Kind,
    /// Which marks are on it.
    marks: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// A row of which only so many characters will be looked at.
    pub(super) fn new(max_chars: usize) -> Self {
        Self {
            cells: Vec::new(),
            marks: vec![String::new()],
            marked: 0,
            swept: 0,
            col: 0,
            saved: 0,
            last: None,
            // A character takes two columns at most.
            most: max_chars.saturating_mul(2).max(MIN_COLS),
            edge: 0,
            beyond: 0,
            has_lost: false,
            read: 0,
            spent: 0,
            is_exhausted: false,
        }
    }

    /// Takes a step that ends after so many bytes of the line.
    pub(super) fn take(&mut self, step: Step<'_>, end: usize) {
        match step {
            Step::Print(bytes) => return self.print(bytes, end, LETTERS),
            Step::Draw(bytes) => return self.print(bytes, end, LINES),
            _ => {}
        }
        self.read = end;
        self.divide(&step);
        match step {
            Step::Print(_) | Step::Draw(_) => {}
            Step::Tabs(count) => self.col = (self.col / 8 + count) * 8,
            Step::BackTabs(count) => self.col = back_by_tabs(self.col, count),
            Step::Repeat(count) => self.repeat(count, LETTERS),
            Step::RepeatDrawn(count) => self.repeat(count, LINES),
            Step::Home => self.leave(Some(0)),
            Step::Away(to) => self.leave(to),
            Step::Clear(col) => {
                self.clear();
                self.col = col;
            }
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
            Some(1) => self.put(Kind::Narrow(c)),
            Some(_) => {
                self.put(Kind::Wide(c));
                self.put(Kind::Spacer);
            }
        }
    }

    fn repeat(&mut self, count: usize, set: StandardCharset) {
        let Some(last) = self.last else { return };
        if self.affords(count) {
            (0..count).for_each(|_| self.print_char(last, set));
        } else {
            self.col += count * last.width().unwrap_or(0);
        }
    }

    /// What follows stands apart from what is here. Where nothing is, no column is known to keep.
    fn leave(&mut self, to: Option<usize>) {
        if self.cells.is_empty() && self.beyond == 0 {
            self.col = 0;
            return;
        }
        if to == Some(self.col) {
            return;
        }
        let follows = match self.col.checked_sub(1).map(|before| self.cells.get(before)) {
            Some(Some(cell)) => cell.kind != Kind::Blank,
            Some(None) => self.beyond == self.col,
            None => false,
        };
        self.col += usize::from(follows);
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

    /// Whether another mark can be kept, once those of cells that are gone have gone too.
    fn has_room_for_marks(&mut self) -> bool {
        let most = self.most.saturating_mul(8).min(widest(self.read));
        if self.marked < most {
            return true;
        }
        // Not before half as much was read again, so that it costs little per byte.
        if self.read - self.swept < most / 2 {
            return false;
        }
        self.swept = self.read;
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
                // It costs what it costs to erase them one by one.
                self.spent += self.cells.len();
                self.clear();
            }
            Erase::Left => self.fill(0, self.col + 1),
            Erase::Cells(count) => self.fill(self.col, self.col + count),
        }
    }

    /// Nothing is left, and nothing is missed.
    fn clear(&mut self) {
        self.cells.clear();
        self.marks.truncate(1);
        (self.marked, self.beyond) = (0, 0);
        (self.has_lost, self.is_exhausted) = (false, false);
    }

    fn fill(&mut self, from: usize, to: usize) {
        let to = to.min(self.cells.len());
        if from < to && self.affords(to - from) {
            self.cells[from..to].fill(Cell::default());
        }
    }

    fn delete(&mut self, count: usize) {
        let (from, len) = (self.col, self.cells.len());
        self.has_lost |= 0 < self.beyond && from < self.edge;
        if from < len && self.affords(len - from) {
            self.cells.drain(from..len.min(from + count));
        }
    }

    fn insert(&mut self, count: usize) {
        self.stretch();
        let (from, len) = (self.col, self.cells.len());
        let count = count.min(self.edge - from.min(self.edge));
        if from < len && self.affords(len - from + count) {
            self.cells.splice(from..from, std::iter::repeat_n(Cell::default(), count));
            if self.edge < self.cells.len() {
                self.beyond = self.beyond.max(self.cells.len());
                self.cells.truncate(self.edge);
            }
        }
    }

    /// Makes sure that there is a cell at a column. Answers whether there is.
    fn reach(&mut self, col: usize) -> bool {
        if col < self.cells.len() {
            return true;
        }
        self.stretch();
        if self.edge <= col {
            self.beyond = self.beyond.max(col + 1);
            return false;
        }
        let missing = col + 1 - self.cells.len();
        if !self.affords(missing) {
            return false;
        }
        self.cells.resize(col + 1, Cell::default());
        true
    }

    /// Keeps as many columns as the line is long enough for by now. Not once something is beyond them: where
    /// that stands must not look blank.
    fn stretch(&mut self) {
        if self.beyond == 0 {
            self.edge = widest(self.read).min(self.most);
        }
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
        let affords = self.spent + cells <= effort(self.read);
        self.is_exhausted |= !affords;
        self.spent += if affords { cells } else { 0 };
        affords
    }

    pub(super) fn finish(mut self) -> Line<'static> {
        if 0 < self.beyond {
            // Something stands after these blanks.
            self.cells.resize(self.edge, Cell { kind: Kind::Narrow(' '), marks: NO_MARKS });
        }
        let cut = 0 < self.beyond || self.has_lost || self.is_exhausted;
        Line { text: self.text().into(), cut }
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
