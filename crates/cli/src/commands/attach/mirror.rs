//! A pane's grid on a terminal of another size: drawn anew when it changes, cut where it does not fit. Pure.

use paned_model::Size;
use paned_term::screen::picture::Cell;
use paned_term::screen::view::Modes;
use paned_term::{Screen, render};

/// Nothing is seen half drawn, and a row that is too long does not become two.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[0m";
const END: &str = "\x1b[?2026l";

/// A pane's grid, and the terminal it is drawn on.
pub(super) struct Mirror {
    screen: Screen,
    pane: Size,
    terminal: Size,
    /// What was drawn last.
    drawn: Option<u64>,
}

impl Mirror {
    /// This screen of this size on a terminal of that size.
    pub(super) fn new(screen: Screen, pane: Size, terminal: Size) -> Self {
        Self { screen, pane, terminal, drawn: None }
    }

    /// The pane printed this.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.screen.feed(bytes);
    }

    /// The pane or the terminal may have another size.
    pub(super) fn fit(&mut self, pane: Size, terminal: Size) {
        if (self.pane, self.terminal) != (pane, terminal) {
            (self.pane, self.terminal, self.drawn) = (pane, terminal, None);
            self.screen.resize(pane);
        }
    }

    /// What draws the grid, if it is not drawn yet: the rows around the cursor, the columns from the left.
    pub(super) fn draw(&mut self) -> Option<Vec<u8>> {
        let revision = Some(self.screen.revision());
        if std::mem::replace(&mut self.drawn, revision) == revision {
            return None;
        }
        let view = self.screen.view();
        let top = (view.cursor.row + 1).saturating_sub(self.terminal.rows);
        let mut out = BEGIN.to_owned();
        self.rows(&mut out, top);
        keys(&mut out, &view.modes);
        let (row, col) =
            (view.cursor.row - top + 1, view.cursor.col.min(self.terminal.cols - 1) + 1);
        out += &format!("\x1b[{row};{col}H");
        if view.cursor.visible {
            out += "\x1b[?25h";
        }
        Some((out + END).into_bytes())
    }

    fn rows(&self, out: &mut String, top: u16) {
        let (picture, text) = (self.screen.picture(), render::ansi(&self.screen));
        let rows = picture.rows.iter().zip(text.split('\n')).skip(top.into());
        for ((cells, line), row) in rows.zip(1..=self.terminal.rows) {
            *out += &format!("\x1b[{row};1H\x1b[2K{}\x1b[0m", cut(cells, line, self.terminal.cols));
        }
        let below = self.pane.rows - top + 1;
        if below <= self.terminal.rows {
            *out += &format!("\x1b[{below};1H\x1b[J");
        }
    }
}

/// The beginning of a row that fits into so many columns. A row is its cells, with looks between them.
fn cut<'a>(cells: &[Cell], line: &'a str, cols: u16) -> &'a str {
    let mut rest = line;
    for cell in cells.iter().take_while(|cell| cell.col + cell.cols <= cols) {
        if rest.starts_with('\x1b') {
            rest = rest.split_once('m').map_or("", |(_, rest)| rest);
        }
        let length =
            cell.c.len_utf8() + cell.marks.iter().map(|mark| mark.len_utf8()).sum::<usize>();
        rest = rest.get(length..).unwrap_or("");
    }
    &line[..line.len() - rest.len()]
}

/// Whoever types needs keys and pastes to be what the program asked for.
fn keys(out: &mut String, modes: &Modes) {
    let switch = |is_on: bool| if is_on { 'h' } else { 'l' };
    *out += &format!("\x1b[?1{}", switch(modes.application_cursor));
    *out += &format!("\x1b[?2004{}", switch(modes.bracketed_paste));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(printed: &str, terminal: Size) -> Mirror {
        let mut screen = Screen::new(Size { cols: 12, rows: 4 });
        screen.feed(printed.as_bytes());
        Mirror::new(screen, Size { cols: 12, rows: 4 }, terminal)
    }

    /// What a terminal of another size shows of a pane of 12 columns and 4 rows.
    #[track_caller]
    fn check(printed: &str, terminal: Size, expect: &[&str]) {
        let mut seen = Screen::new(terminal);
        seen.feed(&mirror(printed, terminal).draw().unwrap());
        let rows: Vec<_> = seen.view().rows.into_iter().filter(|row| !row.is_empty()).collect();
        assert_eq!(rows, expect);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let printed = "\x1b[31mone two three\x1b[0m\r\n漢字漢字\r\nthird";
        check(printed, Size { cols: 7, rows: 9 }, &["one two", "e", "漢字漢", "third"]);
        check(printed, Size { cols: 20, rows: 9 }, &["one two thre", "e", "漢字漢字", "third"]);
    }

    #[test]
    fn a_low_terminal_shows_the_rows_around_the_cursor() {
        check("a\r\nb\r\nc\r\nd", Size { cols: 12, rows: 2 }, &["c", "d"]);
        check("a\r\nb\r\nc\r\nd\x1b[1;1H", Size { cols: 12, rows: 2 }, &["a", "b"]);
    }

    #[test]
    fn only_what_has_changed_is_drawn() {
        let mut mirror = mirror("a", Size { cols: 5, rows: 2 });
        assert!(mirror.draw().is_some());
        assert_eq!(mirror.draw(), None);
        mirror.feed(b"b");
        assert!(mirror.draw().is_some());
        mirror.fit(Size { cols: 12, rows: 4 }, Size { cols: 6, rows: 2 });
        assert!(mirror.draw().is_some());
    }
}
