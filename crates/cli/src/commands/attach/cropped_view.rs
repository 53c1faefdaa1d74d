//! A pane's grid on a terminal of another size: redrawn when it changes, cropped where it does not
//! fit. Pure.

use std::io;

use paned_backend::{Output, OutputGap, ReplayedScreen};
use paned_model::Size;
use paned_term::render;
use paned_term::screen::UPDATE_TIMEOUT;
use paned_term::screen::styled_screen::StyledCell;
use paned_term::screen::view::ScreenModes;
use tokio::time::Instant;

/// A synchronized update, so that no half-drawn frame is shown; without wrapping, so that a long
/// row does not become two.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[0m";
const END: &str = "\x1b[?2026l";

/// A pane's grid, and the terminal it is drawn on.
pub(super) struct CroppedView {
    pane: ReplayedScreen,
    terminal: Size,
    /// What was drawn last.
    drawn: Option<u64>,
    /// Since when a synchronized update of the pane is held back.
    held_since: Option<Instant>,
}

impl CroppedView {
    /// This screen on a terminal of this size.
    pub(super) fn new(pane: ReplayedScreen, terminal: Size) -> Self {
        Self { pane, terminal, drawn: None, held_since: None }
    }

    /// The tape was read up to this offset.
    pub(super) fn at(&self) -> u64 {
        self.pane.at()
    }

    /// Replays new output and new sizes from the tape, up to this offset.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn follow(
        &mut self,
        tape: &dyn Output,
        end: u64,
        now: Instant,
    ) -> io::Result<Result<(), OutputGap>> {
        let followed = self.pane.catch_up(tape, end)?;
        let is_held = self.pane.screen().is_update_held();
        self.held_since = is_held.then(|| self.held_since.unwrap_or(now));
        Ok(followed)
    }

    /// When an update that the pane has not ended must be drawn.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.held_since.map(|since| since + UPDATE_TIMEOUT)
    }

    /// Ends an update that the pane has not ended.
    pub(super) fn end_update(&mut self) {
        self.held_since = None;
        self.pane.screen_mut().flush_update();
    }

    /// Sets the terminal's size.
    pub(super) fn fit(&mut self, terminal: Size) {
        if self.terminal != terminal {
            self.terminal = terminal;
            self.drawn = None;
        }
    }

    /// The bytes that draw the grid, if it is not drawn yet: the rows around the cursor, the
    /// columns from the left.
    pub(super) fn draw(&mut self) -> Option<Vec<u8>> {
        let revision = Some(self.pane.screen().revision());
        if std::mem::replace(&mut self.drawn, revision) == revision {
            return None;
        }
        let view = self.pane.screen().view();
        let top = (view.cursor.row + 1).saturating_sub(self.terminal.rows);
        let mut out = BEGIN.to_owned();
        self.rows(&mut out, top);
        keys(&mut out, &view.modes);
        let row = view.cursor.row - top + 1;
        let col = view.cursor.col.min(self.terminal.cols - 1) + 1;
        out += &format!("\x1b[{row};{col}H");
        if view.cursor.visible {
            out += "\x1b[?25h";
        }
        Some((out + END).into_bytes())
    }

    fn rows(&self, out: &mut String, top: u16) {
        let styled = self.pane.screen().styled();
        let text = render::ansi(self.pane.screen());
        let rows = styled.rows.iter().zip(text.split('\n')).skip(top.into());
        for ((cells, line), row) in rows.zip(1..=self.terminal.rows) {
            *out += &format!("\x1b[{row};1H\x1b[2K{}\x1b[0m", cut(cells, line, self.terminal.cols));
        }
        let below = styled.size.rows - top + 1;
        if below <= self.terminal.rows {
            *out += &format!("\x1b[{below};1H\x1b[J");
        }
    }
}

/// The longest prefix of a row that fits into `cols` columns. A row is its cells, with style
/// sequences between them.
fn cut<'a>(cells: &[StyledCell], line: &'a str, cols: u16) -> &'a str {
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

/// Sets the modes of keys and pastes that the program asked for, so that it gets them as it
/// expects.
fn keys(out: &mut String, modes: &ScreenModes) {
    let switch = |is_on: bool| if is_on { 'h' } else { 'l' };
    *out += &format!("\x1b[?1{}", switch(modes.application_cursor));
    *out += &format!("\x1b[?2004{}", switch(modes.bracketed_paste));
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::{TapeReader, TapeWriter};
    use paned_model::Time;
    use paned_term::Screen;
    use tempfile::TempDir;

    use super::*;

    /// A pane of 12 columns and 4 rows, and its mirror.
    struct CroppedViewCase {
        _folder: TempDir,
        writer: TapeWriter,
        tape: TapeReader,
        mirror: CroppedView,
    }

    impl CroppedViewCase {
        fn new(printed: &str, terminal: Size) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("tape");
            let mut writer = TapeWriter::create(&path, 1 << 20, Time(0)).unwrap();
            writer.set_size(Size { cols: 12, rows: 4 });
            let tape = TapeReader::open(&path).unwrap();
            let mirror = CroppedView::new(ReplayedScreen::new(&tape, 0, b""), terminal);
            let mut case = Self { _folder: folder, writer, tape, mirror };
            case.print(printed);
            case
        }

        fn print(&mut self, printed: &str) {
            self.writer.append(printed.as_bytes(), Time(0)).unwrap();
            self.mirror.follow(&self.tape, self.tape.end(), Instant::now()).unwrap().unwrap();
        }

        /// What a fresh terminal shows of it.
        fn seen(&mut self) -> Vec<String> {
            let mut seen = Screen::new(self.mirror.terminal);
            seen.feed(&self.mirror.draw().unwrap());
            seen.view().rows.into_iter().filter(|row| !row.is_empty()).collect()
        }
    }

    /// What a terminal of another size shows of a pane of 12 columns and 4 rows.
    #[track_caller]
    fn check(printed: &str, terminal: Size, expect: &[&str]) {
        assert_eq!(CroppedViewCase::new(printed, terminal).seen(), expect);
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
        let mut case = CroppedViewCase::new("a", Size { cols: 5, rows: 2 });
        assert!(case.mirror.draw().is_some());
        assert_eq!(case.mirror.draw(), None);
        case.print("b");
        assert!(case.mirror.draw().is_some());
        case.mirror.fit(Size { cols: 6, rows: 2 });
        assert!(case.mirror.draw().is_some());
        case.mirror.fit(Size { cols: 6, rows: 2 });
        assert_eq!(case.mirror.draw(), None);
    }

    #[test]
    fn an_update_that_does_not_end_is_drawn_when_its_time_is_over() {
        let mut case = CroppedViewCase::new("a", Size { cols: 5, rows: 2 });
        assert_eq!((case.seen(), case.mirror.deadline()), (vec!["a".to_owned()], None));
        case.print("\x1b[?2026hb");
        assert_eq!(case.mirror.draw(), None);
        let deadline = case.mirror.deadline().unwrap();
        case.print("c");
        assert_eq!((case.mirror.draw(), case.mirror.deadline()), (None, Some(deadline)));
        case.mirror.end_update();
        assert_eq!((case.seen(), case.mirror.deadline()), (vec!["abc".to_owned()], None));
    }

    /// What is printed for another size is drawn in that size, and not before it is read.
    #[test]
    fn the_pane_takes_another_size_where_it_took_it() {
        let mut case =
            CroppedViewCase::new("\x1b[?1049h\x1b[4;1Hlast\r\nmore", Size { cols: 30, rows: 9 });
        case.writer.append(b"\x1b[1;12Hedge", Time(0)).unwrap();
        case.writer.set_size(Size { cols: 20, rows: 6 });
        case.print("\x1b[6;12Hroom for this");
        assert_eq!(case.seen(), ["dge", "last", "more", "           room for", "this"]);
    }
}
