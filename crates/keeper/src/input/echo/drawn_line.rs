//! One line of output as a terminal of a certain width draws it, its wrapped rows joined.
//!
//! Only what line editors use to draw a line: printing, returns, backspaces, moves within the row,
//! and erasing. Other escape sequences change no text and are skipped.

use std::str;

/// The longest line that is drawn, in characters.
const MAX_CELLS: usize = 64 << 10;
/// How many cells one piece of output may move; after that nothing is inserted or deleted.
const MAX_MOVED_CELLS: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct DrawnLine {
    cells: Vec<char>,
    /// Where the next character goes.
    cursor: usize,
    /// Where the row of the cursor begins.
    row: usize,
    cols: usize,
    /// Whether the cursor has left the line upwards: what follows is not drawn.
    moved_up: bool,
    state: ParserState,
    /// The beginning of a character.
    partial: Vec<u8>,
    /// How many cells the last bytes have moved.
    moved_cells: usize,
}

#[derive(Debug, Default)]
enum ParserState {
    #[default]
    Text,
    Escape,
    /// Parameters so far.
    Csi(String),
    /// A title or the like, until BEL or ST.
    String,
    /// The same, after an Esc.
    StringEscape,
    /// One more byte follows.
    Charset,
}

impl DrawnLine {
    pub(super) fn new(cols: usize) -> Self {
        Self { cols, ..Self::default() }
    }

    pub(super) fn set_cols(&mut self, cols: usize) {
        self.cols = cols;
    }

    pub(super) fn text(&self) -> &[char] {
        &self.cells
    }

    pub(super) fn before_cursor(&self) -> &[char] {
        &self.cells[..self.cursor.min(self.cells.len())]
    }

    /// Draws this. Answers how much work that was, in characters.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> usize {
        self.moved_cells = 0;
        self.draw(bytes);
        bytes.len() + self.moved_cells
    }

    fn draw(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.partial);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(text) => {
                    text.chars().for_each(|c| self.step(c));
                    return;
                }
                Err(error) => {
                    let (text, after) = rest.split_at(error.valid_up_to());
                    let text = str::from_utf8(text).unwrap_or_default();
                    text.chars().for_each(|c| self.step(c));
                    let Some(length) = error.error_len() else {
                        self.partial = after.to_vec();
                        return;
                    };
                    self.step(char::REPLACEMENT_CHARACTER);
                    rest = &after[length..];
                }
            }
        }
    }

    /// Whether the cursor has left the line upwards.
    pub(super) fn moved_up(&self) -> bool {
        self.moved_up
    }

    /// Whether the line has text in rows below that of the cursor: a newline leads there.
    pub(super) fn goes_on_below(&self) -> bool {
        0 < self.cols && self.row + self.cols < self.cells.len()
    }

    fn step(&mut self, c: char) {
        self.state = match (std::mem::take(&mut self.state), c) {
            (ParserState::Text | ParserState::Escape | ParserState::Csi(_), '\x1b') => {
                ParserState::Escape
            }
            (ParserState::Text, c) => {
                self.print(c);
                ParserState::Text
            }
            (ParserState::Escape, '[') => ParserState::Csi(String::default()),
            (ParserState::Escape, ']' | 'P' | '_' | '^' | 'X') => ParserState::String,
            (ParserState::Escape, '(' | ')' | '*' | '+' | '#' | '%' | ' ') => ParserState::Charset,
            (ParserState::Escape | ParserState::Charset, _) => ParserState::Text,
            (ParserState::Csi(parameters), '\x40'..='\x7e') => {
                self.control(&parameters, c);
                ParserState::Text
            }
            (ParserState::Csi(mut parameters), c) => {
                if parameters.len() < 32 {
                    parameters.push(c);
                }
                ParserState::Csi(parameters)
            }
            (ParserState::String, '\x07') => ParserState::Text,
            (ParserState::String, '\x1b') => ParserState::StringEscape,
            (ParserState::StringEscape, '\\') => ParserState::Text,
            (ParserState::String | ParserState::StringEscape, _) => ParserState::String,
        };
    }

    fn print(&mut self, c: char) {
        match c {
            _ if self.moved_up => {}
            '\r' => self.cursor = self.row,
            '\x08' => self.cursor = self.cursor.saturating_sub(1).max(self.row),
            '\t' => self.put('\t'),
            c if c.is_control() => {}
            c => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        // A full row continues in the next one.
        if 0 < self.cols && self.row + self.cols <= self.cursor {
            self.row += self.cols;
        }
        if MAX_CELLS <= self.cursor {
            return;
        }
        if self.cells.len() <= self.cursor {
            self.cells.resize(self.cursor + 1, ' ');
        }
        self.cells[self.cursor] = c;
        self.cursor += 1;
    }

    fn control(&mut self, parameters: &str, last: char) {
        if self.moved_up {
            return;
        }
        let first = parameters.split(';').next().and_then(|first| first.parse::<usize>().ok());
        let count = first.unwrap_or(1).clamp(1, MAX_CELLS);
        let end = self.cells.len();
        match last {
            'C' => self.cursor = (self.cursor + count).min(MAX_CELLS),
            'D' => self.cursor = self.cursor.saturating_sub(count).max(self.row),
            'G' | '`' => self.cursor = (self.row + count - 1).min(MAX_CELLS),
            'A' => self.up(count),
            'K' | 'J' => self.erase(first.unwrap_or(0)),
            'P' if self.cursor < end && self.moved_cells < MAX_MOVED_CELLS => {
                self.moved_cells += end - self.cursor;
                self.cells.drain(self.cursor..(self.cursor + count).min(end));
            }
            '@' if self.cursor < end && self.moved_cells < MAX_MOVED_CELLS => {
                self.moved_cells += end - self.cursor;
                let blanks = std::iter::repeat_n(' ', count.min(MAX_CELLS - end.min(MAX_CELLS)));
                self.cells.splice(self.cursor..self.cursor, blanks);
            }
            _ => {}
        }
    }

    /// Up, by rows of the same line as far as there are.
    fn up(&mut self, rows: usize) {
        let by = rows.saturating_mul(self.cols);
        self.moved_up |= self.row < by;
        let by = by.min(self.row);
        self.row -= by;
        self.cursor -= by;
    }

    fn erase(&mut self, which: usize) {
        match which {
            0 => self.cells.truncate(self.cursor),
            2 => self.cells.truncate(self.row),
            _ => {}
        }
    }
}
