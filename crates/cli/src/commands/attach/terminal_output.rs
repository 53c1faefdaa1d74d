//! What is on the way from a pane's tape to the user's terminal.

use std::io;

use paned_keeper::tape::{OutputGap, TapeReader};
use paned_model::Size;
use tokio::time::Instant;

use super::super::exit_status::ProgramExit;
use super::cropped_view::CroppedView;
use super::tape_snapshot::TapeSnapshot;
use super::terminal::UserTerminal;
use paned_term::queries::{QueryFilter, QueryResponder};

/// How much is shown before anything else is looked at.
const CHUNK: usize = 64 << 10;
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";
const BELL: u8 = 0x07;

/// What is on the way, and how far the tape was read.
pub(super) struct TerminalOutput {
    tape: TapeReader,
    /// The offset of the next byte.
    at: u64,
    /// What the terminal has not taken yet.
    pending: Vec<u8>,
    /// Whether that is news.
    is_new: bool,
    /// Takes out what is not to be answered by the terminal.
    questions: QueryFilter,
    /// The grid, where the terminal has another size than the pane.
    cropped: Option<CroppedView>,
}

impl TerminalOutput {
    pub(super) fn new(tape: TapeReader) -> Self {
        Self {
            at: tape.end(),
            tape,
            pending: Vec::new(),
            is_new: false,
            questions: QueryFilter::default(),
            cropped: None,
        }
    }

    /// How the program ended, once it has.
    pub(super) fn ended(&self) -> Option<ProgramExit> {
        self.tape.ending().map(ProgramExit::from)
    }

    /// Everything before this is shown or on the way.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// What the terminal is to take next.
    pub(super) fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// The same, the first time it is asked for.
    pub(super) fn take_new(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_new).then_some(&self.pending[..])
    }

    /// The terminal took so much of it.
    pub(super) fn written(&mut self, count: usize) {
        self.pending.drain(..count);
    }

    /// Says that something did not work.
    pub(super) fn bell(&mut self) {
        self.pending.push(BELL);
    }

    /// Shows the screen for the first time. What was on the terminal scrolls away unharmed.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn begin(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        let rows = terminal.size().unwrap_or_default().rows;
        self.pending = format!("\x1b[999;1H{}", "\n".repeat(rows.into())).into_bytes();
        self.draw(terminal)
    }

    /// Shows the screen instead of what is on the way.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn draw_again(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        self.pending.clear();
        self.draw(terminal)
    }

    /// Shows the screen as it is now, and goes on from there.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn draw(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        (self.is_new, self.questions) = (true, QueryFilter::default());
        self.pending.extend(terminal.reset_sequence());
        self.pending.extend(CLEAR);
        let picture = TapeSnapshot::of(&self.tape)?;
        if let Some(size) = self.other_size(terminal) {
            self.at = picture.screen.at();
            self.cropped = Some(CroppedView::new(picture.screen, size));
        } else {
            self.at = picture.next();
            self.cropped = None;
            let drawn = self.questions.filter(&picture.bytes(), QueryResponder::Elsewhere);
            self.pending.extend(drawn);
        }
        Ok(())
    }

    /// Another look at the sizes: bytes are for a terminal of the pane's size only.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn fit(&mut self, terminal: &UserTerminal) -> io::Result<()> {
        match (self.other_size(terminal), &mut self.cropped) {
            (Some(size), Some(mirror)) => mirror.fit(size),
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => self.draw(terminal)?,
        }
        Ok(())
    }

    /// Puts the next bytes on the way, with questions only if the terminal is to answer them. When nothing is on the way
    /// afterwards, everything was shown.
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
            Some(mirror) => {
                let (read, drawn) = follow_cropped(mirror, &self.tape)?;
                (self.at, self.pending) = (mirror.at(), drawn);
                read
            }
        };
        match read {
            Ok(()) => Ok(()),
            // The ring was faster than the terminal: what is there now is shown instead.
            Err(_) => self.draw(terminal),
        }
    }

    /// Puts the bytes themselves on the way.
    fn copy(&mut self, answers: QueryResponder) -> io::Result<Result<(), OutputGap>> {
        loop {
            let mut piece = vec![0; CHUNK];
            match self.tape.read(self.at, &mut piece)? {
                Ok(read) => piece.truncate(read),
                Err(gap) => return Ok(Err(gap)),
            }
            self.at += piece.len() as u64;
            let is_all = piece.is_empty();
            self.pending = self.questions.filter(&piece, answers);
            // Of a question nothing is left, and more may follow.
            if is_all || !self.pending.is_empty() {
                return Ok(Ok(()));
            }
        }
    }

    /// When an update that the pane does not end is to be shown: see [`TerminalOutput::end_update`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.cropped.as_ref().and_then(CroppedView::deadline)
    }

    /// Shows an update whose time is over.
    pub(super) fn end_update(&mut self) {
        if let Some(mirror) = &mut self.cropped {
            mirror.end_update();
            self.pending.extend(mirror.draw().unwrap_or_default());
        }
    }

    /// The terminal's size where it is not the pane's.
    fn other_size(&self, terminal: &UserTerminal) -> Option<Size> {
        terminal.size().filter(|size| *size != self.tape.size())
    }
}

/// Follows the tape until something is to be drawn, or nothing is left; and what is to be drawn.
fn follow_cropped(
    mirror: &mut CroppedView,
    tape: &TapeReader,
) -> io::Result<(Result<(), OutputGap>, Vec<u8>)> {
    let (end, ended) = (tape.end(), tape.ending());
    loop {
        let to = end.min(mirror.at() + CHUNK as u64);
        if let Err(gap) = mirror.follow(tape, to, Instant::now())? {
            return Ok((Err(gap), Vec::new()));
        }
        if to == end && ended.is_some() {
            // Nobody ends its last update any more.
            mirror.end_update();
        }
        match mirror.draw() {
            Some(drawn) => return Ok((Ok(()), drawn)),
            None if to == end => return Ok((Ok(()), Vec::new())),
            None => {}
        }
    }
}
