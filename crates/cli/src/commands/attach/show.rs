//! What is on the way from a pane's tape to the user's terminal.

use std::io;

use paned_keeper::tape::{Gap, Reader};
use paned_model::Size;
use tokio::time::Instant;

use super::super::ending::Ended;
use super::mirror::Mirror;
use super::picture::Picture;
use super::terminal::Terminal;
use paned_term::questions::{Answers, Questions};

/// How much is shown before anything else is looked at.
const PIECE: usize = 64 << 10;
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";
const BELL: u8 = 0x07;

/// What is on the way, and how far the tape was read.
pub(super) struct Show {
    tape: Reader,
    /// The offset of the next byte.
    at: u64,
    /// What the terminal has not taken yet.
    unshown: Vec<u8>,
    /// Whether that is news.
    is_new: bool,
    /// Takes out what is not to be answered by the terminal.
    questions: Questions,
    /// The grid, where the terminal has another size than the pane.
    mirror: Option<Mirror>,
}

impl Show {
    pub(super) fn new(tape: Reader) -> Self {
        Self {
            at: tape.end(),
            tape,
            unshown: Vec::new(),
            is_new: false,
            questions: Questions::default(),
            mirror: None,
        }
    }

    /// How the program ended, once it has.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.tape.ending().map(Ended::from)
    }

    /// Everything before this is shown or on the way.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// What the terminal is to take next.
    pub(super) fn unshown(&self) -> &[u8] {
        &self.unshown
    }

    /// The same, the first time it is asked for.
    pub(super) fn news(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_new).then_some(&self.unshown[..])
    }

    /// The terminal took so much of it.
    pub(super) fn showed(&mut self, count: usize) {
        self.unshown.drain(..count);
    }

    /// Says that something did not work.
    pub(super) fn ring(&mut self) {
        self.unshown.push(BELL);
    }

    /// Shows the screen for the first time. What was on the terminal scrolls away unharmed.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn begin(&mut self, terminal: &Terminal) -> io::Result<()> {
        let rows = terminal.size().unwrap_or_default().rows;
        self.unshown = format!("\x1b[999;1H{}", "\n".repeat(rows.into())).into_bytes();
        self.draw(terminal)
    }

    /// Shows the screen instead of what is on the way.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn draw_again(&mut self, terminal: &Terminal) -> io::Result<()> {
        self.unshown.clear();
        self.draw(terminal)
    }

    /// Shows the screen as it is now, and goes on from there.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn draw(&mut self, terminal: &Terminal) -> io::Result<()> {
        (self.is_new, self.questions) = (true, Questions::default());
        self.unshown.extend(terminal.fresh());
        self.unshown.extend(CLEAR);
        let picture = Picture::of(&self.tape)?;
        if let Some(size) = self.other_size(terminal) {
            self.at = picture.drawn.at();
            self.mirror = Some(Mirror::new(picture.drawn, size));
        } else {
            self.at = picture.next();
            self.mirror = None;
            let drawn = self.questions.take_out(&picture.bytes(), Answers::Elsewhere);
            self.unshown.extend(drawn);
        }
        Ok(())
    }

    /// Another look at the sizes: bytes are for a terminal of the pane's size only.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn fit(&mut self, terminal: &Terminal) -> io::Result<()> {
        match (self.other_size(terminal), &mut self.mirror) {
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
    pub(super) fn refill(&mut self, terminal: &Terminal, answers: Answers) -> io::Result<()> {
        self.is_new = true;
        let read = match &mut self.mirror {
            None => self.copy(answers)?,
            Some(mirror) => {
                let (read, drawn) = reflect(mirror, &self.tape)?;
                (self.at, self.unshown) = (mirror.at(), drawn);
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
    fn copy(&mut self, answers: Answers) -> io::Result<Result<(), Gap>> {
        loop {
            let mut piece = vec![0; PIECE];
            match self.tape.read(self.at, &mut piece)? {
                Ok(read) => piece.truncate(read),
                Err(gap) => return Ok(Err(gap)),
            }
            self.at += piece.len() as u64;
            let is_all = piece.is_empty();
            self.unshown = self.questions.take_out(&piece, answers);
            // Of a question nothing is left, and more may follow.
            if is_all || !self.unshown.is_empty() {
                return Ok(Ok(()));
            }
        }
    }

    /// When an update that the pane does not end is to be shown: see [`Show::settle`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.mirror.as_ref().and_then(Mirror::deadline)
    }

    /// Shows an update whose time is over.
    pub(super) fn settle(&mut self) {
        if let Some(mirror) = &mut self.mirror {
            mirror.settle();
            self.unshown.extend(mirror.draw().unwrap_or_default());
        }
    }

    /// The terminal's size where it is not the pane's.
    fn other_size(&self, terminal: &Terminal) -> Option<Size> {
        terminal.size().filter(|size| *size != self.tape.size())
    }
}

/// Follows the tape until something is to be drawn, or nothing is left; and what is to be drawn.
fn reflect(mirror: &mut Mirror, tape: &Reader) -> io::Result<(Result<(), Gap>, Vec<u8>)> {
    let (end, ended) = (tape.end(), tape.ending());
    loop {
        let to = end.min(mirror.at() + PIECE as u64);
        if let Err(gap) = mirror.follow(tape, to, Instant::now())? {
            return Ok((Err(gap), Vec::new()));
        }
        if to == end && ended.is_some() {
            // Nobody ends its last update any more.
            mirror.settle();
        }
        match mirror.draw() {
            Some(drawn) => return Ok((Ok(()), drawn)),
            None if to == end => return Ok((Ok(()), Vec::new())),
            None => {}
        }
    }
}
