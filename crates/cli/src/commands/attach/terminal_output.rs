//! The output queue from a pane's tape to the user's terminal.

use std::io;

use paned_keeper::tape::{OutputGap, TapeReader};
use paned_model::Size;
use tokio::time::Instant;

use super::super::support::exit_status::ProgramExit;
use super::cropped_view::CroppedView;
use super::tape_snapshot::TapeSnapshot;
use super::terminal::UserTerminal;
use paned_term::queries::{QueryFilter, QueryResponder};
use paned_term::screen_switch::ScreenSwitchScanner;

/// How much is queued before other events are handled.
const CHUNK: usize = 64 << 10;
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";
const ENTER_ALTERNATE: &[u8] = b"\x1b[?1049h";
const BELL: u8 = 0x07;

/// The queued output, and the cursor in the tape.
pub(super) struct TerminalOutput {
    tape: TapeReader,
    /// The offset of the next byte.
    at: u64,
    /// Bytes that the terminal has not taken yet.
    pending: Vec<u8>,
    /// Whether `take_new` has not returned them yet.
    is_new: bool,
    /// Removes queries that the terminal must not answer.
    queries: QueryFilter,
    /// Finds where the program switches screens, for a user's window: both screens of the program
    /// are drawn on the alternate screen there, so that the user's text is back afterwards.
    switches: Option<ScreenSwitchScanner>,
    /// The grid, when the terminal has another size than the pane.
    cropped: Option<CroppedView>,
    /// Sets the title of the terminal's window, until the program sets another.
    title: Vec<u8>,
}

impl TerminalOutput {
    /// The output of this tape, on a user's terminal whose window gets this title meanwhile;
    /// without a title on a pane of tmux, which keeps the lines that scroll off the primary
    /// screen.
    pub(super) fn new(tape: TapeReader, title: Option<&str>) -> Self {
        // The title is saved before, and restored with the modes of the terminal.
        let title = title.filter(|_| has_window());
        let title = title.map(|title| format!("\x1b[22;0t\x1b]2;{title}\x07").into_bytes());
        let title = title.unwrap_or_default();
        Self {
            title,
            at: tape.end(),
            tape,
            pending: Vec::new(),
            is_new: false,
            queries: QueryFilter::default(),
            switches: None,
            cropped: None,
        }
    }

    /// How the program ended, once it has.
    pub(super) fn ended(&self) -> Option<ProgramExit> {
        self.tape.ending().map(ProgramExit::from)
    }

    /// Everything before this offset is written or queued.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The bytes to write next.
    pub(super) fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// The same, but only once for each batch.
    pub(super) fn take_new(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_new).then_some(&self.pending[..])
    }

    /// Removes this many bytes, which were written.
    pub(super) fn written(&mut self, count: usize) {
        self.pending.drain(..count);
    }

    /// Rings the bell, because something failed.
    pub(super) fn bell(&mut self) {
        self.pending.push(BELL);
    }

    /// Passes a notification to the terminal, unless the program is in the middle of a sequence.
    pub(super) fn notify(&mut self, sequence: &[u8]) {
        if !self.queries.is_inside_string() {
            self.pending.extend(sequence);
        }
    }

    /// Whether a user's window shows the pane for a while.
    fn is_visit(&self) -> bool {
        !self.title.is_empty()
    }

    /// Draws the screen for the first time. On a terminal without an alternate screen what was
    /// there scrolls up, and is not overwritten.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn begin(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        self.pending.clear();
        if !self.is_visit() {
            let rows = terminal.size().unwrap_or_default().rows;
            self.pending = format!("\x1b[999;1H{}", "\n".repeat(rows.into())).into_bytes();
        }
        self.draw(terminal)
    }

    /// Draws the screen in place of the queued bytes.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn draw_again(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        self.pending.clear();
        self.draw(terminal)
    }

    /// Draws the screen as it is now, and continues from there.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn draw(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        self.is_new = true;
        self.queries = QueryFilter::default();
        self.pending.extend(terminal.reset_sequence());
        self.switches = self.is_visit().then(ScreenSwitchScanner::default);
        if self.is_visit() {
            self.pending.extend(ENTER_ALTERNATE);
        }
        self.pending.extend(&self.title);
        self.pending.extend(CLEAR);
        let snapshot = TapeSnapshot::of(&self.tape)?;
        if let Some(size) = self.other_size(terminal) {
            self.at = snapshot.screen.at();
            self.cropped = Some(CroppedView::new(snapshot.screen, size));
        } else {
            self.at = snapshot.next();
            self.cropped = None;
            let bytes = if self.is_visit() { snapshot.shown_bytes() } else { snapshot.bytes() };
            let drawn = self.queries.filter(&bytes, QueryResponder::Elsewhere);
            self.pending.extend(drawn);
        }
        Ok(())
    }

    /// Compares the sizes again: raw bytes are for a terminal of the pane's size only.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn fit(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        match (self.other_size(terminal), &mut self.cropped) {
            (Some(size), Some(cropped)) => cropped.fit(size),
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => self.draw(terminal)?,
        }
        Ok(())
    }

    /// Queues the next bytes, with queries only if the terminal is to answer them. If nothing is
    /// queued afterwards, everything was written.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn refill(
        &mut self,
        terminal: &UserTerminal,
        answers: QueryResponder,
    ) -> io::Result<()> {
        self.is_new = true;
        let read = match &mut self.cropped {
            None => self.copy(answers)?,
            Some(cropped) => {
                let (read, drawn) = follow_cropped(cropped, &self.tape)?;
                self.at = cropped.at();
                self.pending = drawn;
                read
            }
        };
        match read {
            Ok(()) => Ok(()),
            Err(CopyEnd) => self.draw(terminal),
        }
    }

    /// Queues the raw bytes.
    fn copy(&mut self, answers: QueryResponder) -> io::Result<Result<(), CopyEnd>> {
        loop {
            let mut piece = vec![0; CHUNK];
            match self.tape.read(self.at, &mut piece)? {
                Ok(read) => piece.truncate(read),
                Err(OutputGap { .. }) => return Ok(Err(CopyEnd)),
            }
            if self.switches.as_mut().is_some_and(|switches| switches.feed(&piece)) {
                return Ok(Err(CopyEnd));
            }
            self.at += piece.len() as u64;
            let is_all = piece.is_empty();
            self.pending = self.queries.filter(&piece, answers);
            // The filter may have removed everything, and more may follow.
            if is_all || !self.pending.is_empty() {
                return Ok(Ok(()));
            }
        }
    }

    /// When an update that the pane has not ended must be shown: see
    /// [`TerminalOutput::end_update`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.cropped.as_ref().and_then(CroppedView::deadline)
    }

    /// Shows an update that has timed out.
    pub(super) fn end_update(&mut self) {
        if let Some(cropped) = &mut self.cropped {
            cropped.end_update();
            self.pending.extend(cropped.draw().unwrap_or_default());
        }
    }

    /// The terminal's size, if it is not the pane's.
    fn other_size(&self, terminal: &UserTerminal) -> Option<Size> {
        terminal.size().filter(|size| *size != self.tape.size())
    }
}

/// Bytes that cannot be copied: the ring buffer was faster than the terminal, or the program has
/// switched screens. The current screen is drawn instead.
struct CopyEnd;

/// Whether the terminal is a window, which has a title and an alternate screen: the consoles of
/// systems have neither.
fn has_window() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    !matches!(term.as_str(), "" | "linux" | "dumb")
}

/// Follows the tape until there is something to draw, or nothing left to read; returns the bytes
/// that draw it.
fn follow_cropped(
    cropped: &mut CroppedView,
    tape: &TapeReader,
) -> io::Result<(Result<(), CopyEnd>, Vec<u8>)> {
    let end = tape.end();
    let exit = tape.ending();
    loop {
        let to = end.min(cropped.at() + CHUNK as u64);
        if cropped.follow(tape, to, Instant::now())?.is_err() {
            return Ok((Err(CopyEnd), Vec::new()));
        }
        if to == end && exit.is_some() {
            // The program has exited, and cannot end its last update.
            cropped.end_update();
        }
        match cropped.draw() {
            Some(drawn) => return Ok((Ok(()), drawn)),
            None if to == end => return Ok((Ok(()), Vec::new())),
            None => {}
        }
    }
}
