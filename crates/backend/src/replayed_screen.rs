//! A screen that replays a pane's output: every byte, and every size at the offset where the
//! terminal took it.
//!
//! What it shows depends on the output alone, not on when it was read or how often it was drawn
//! again from the start.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use paned_model::Size;
use paned_term::Screen;
use rustix::time::{ClockId, clock_gettime};

use crate::{Output, OutputGap};

/// How much is read at once, and the most that is drawn in one slice.
const PIECE: usize = 64 << 10;
/// The least that is drawn in one slice. A few bytes can redraw a large screen over and over.
const SMALLEST: usize = 64;
/// How long a slice should take.
const SLICE: Duration = Duration::from_millis(5);

/// The CPU time of this thread: what drawing costs, however busy the machine is.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// A screen up to some offset.
pub struct ReplayedScreen {
    screen: Screen,
    at: u64,
    /// How many sizes it was given.
    sizes: u64,
    size: Size,
    /// How many bytes are drawn before the caller is asked whether to continue.
    slice: usize,
}

impl ReplayedScreen {
    /// A blank screen that replays from an offset, after it was fed these bytes.
    #[must_use]
    pub fn new(output: &dyn Output, at: u64, preamble: &[u8]) -> Self {
        Self::with_history(output, at, preamble, 0)
    }

    /// The same, with this many rows of scrollback.
    #[must_use]
    pub fn with_history(output: &dyn Output, at: u64, preamble: &[u8], rows: usize) -> Self {
        let (sizes, size) = size_at(output, at);
        let mut screen = Screen::with_history(size, rows);
        screen.feed(preamble);
        // The replay does not begin inside a synchronized update.
        screen.flush_update();
        screen.set_position(at + sizes);
        Self { screen, at, sizes, size, slice: SMALLEST }
    }

    /// The screen.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// The screen, for what is not replay: replies to queries, and updates that timed out.
    pub fn screen_mut(&mut self) -> &mut Screen {
        &mut self.screen
    }

    /// The screen, which replays nothing any more.
    #[must_use]
    pub fn into_screen(self) -> Screen {
        self.screen
    }

    /// Everything before this offset is drawn.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// How large the terminal was there.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// Draws the output up to an offset that is known to be written, unless the ring was
    /// overwritten first.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn catch_up(&mut self, output: &dyn Output, end: u64) -> io::Result<Result<(), OutputGap>> {
        self.catch_up_while(output, end, 0, &mut || true)
    }

    /// The same, for output with no escape sequence from the very beginning up to `plain_until`: of
    /// plain lines only the last screenful shows, so what came before it is not drawn. Every few
    /// milliseconds `goes_on` is asked whether to continue.
    ///
    /// # Errors
    /// When the disk refuses; [`ErrorKind::TimedOut`] when `goes_on` says no. The next call
    /// continues from there.
    pub fn catch_up_while(
        &mut self,
        output: &dyn Output,
        end: u64,
        plain_until: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<Result<(), OutputGap>> {
        self.follow_unmarked(output);
        for mark in output.sizes(self.sizes) {
            if end < mark.offset {
                break;
            }
            if let Err(gap) = self.draw(output, mark.offset, plain_until, goes_on)? {
                return Ok(Err(gap));
            }
            // Sizes that are no longer known still count in the position.
            if self.sizes + 1 < mark.n {
                self.screen.set_position(self.at + mark.n - 1);
            }
            self.screen.resize(mark.size);
            self.sizes = mark.n;
            self.size = mark.size;
        }
        self.draw(output, end, plain_until, goes_on)
    }

    /// A tape of an older version has the current size and no other.
    fn follow_unmarked(&mut self, output: &dyn Output) {
        let size = output.size();
        if self.sizes == 0 && self.size != size && output.sizes(0).is_empty() {
            self.screen.resize(size);
            self.size = size;
        }
    }

    /// Draws up to an offset, in one size.
    fn draw(
        &mut self,
        output: &dyn Output,
        end: u64,
        plain_until: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<Result<(), OutputGap>> {
        if PIECE as u64 * 2 < end.saturating_sub(self.at) {
            self.skip_plain(output, end.min(plain_until))?;
        }
        // Usually the screen is nearly up to date: a small buffer is enough.
        let behind = usize::try_from(end.saturating_sub(self.at)).unwrap_or(PIECE);
        let mut buffer = vec![0; PIECE.min(behind)];
        while self.at < end {
            let wanted = buffer.len().min(usize::try_from(end - self.at).unwrap_or(PIECE));
            match output.read(self.at, &mut buffer[..wanted])? {
                Ok(0) => break,
                Ok(read) => self.feed(&buffer[..read], end, goes_on)?,
                Err(gap) => return Ok(Err(gap)),
            }
        }
        Ok(Ok(()))
    }

    /// Draws bytes on the way to an offset, slice by slice.
    fn feed(
        &mut self,
        bytes: &[u8],
        end: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (slice, later) = rest.split_at(rest.len().min(self.slice));
            let started = Instant::now();
            self.screen.feed(slice);
            self.at += slice.len() as u64;
            rest = later;
            self.slice = match started.elapsed() < SLICE {
                true => (self.slice * 2).min(PIECE),
                false => (self.slice / 2).max(SMALLEST),
            };
            if self.at < end && !goes_on() {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn skip_plain(&mut self, output: &dyn Output, plain_until: u64) -> io::Result<()> {
        let mut bytes = vec![0; PIECE];
        let from = plain_until.saturating_sub(PIECE as u64);
        if from <= self.at {
            return Ok(());
        }
        let Ok(read) = output.read(from, &mut bytes)? else { return Ok(()) };
        let plain = read.min(usize::try_from(plain_until - from).unwrap_or(read));
        if let Some(start) = last_screenful(&bytes[..plain], usize::from(self.size.rows)) {
            self.at = from + start as u64;
            self.screen = Screen::new(self.size);
            self.screen.set_position(self.at + self.sizes);
        }
        Ok(())
    }
}

/// How many sizes the terminal was given up to an offset, and the last of them; where that is no
/// longer known, the oldest known one.
fn size_at(output: &dyn Output, at: u64) -> (u64, Size) {
    let marks = output.sizes(0);
    let last = marks.iter().rev().find(|mark| mark.offset <= at);
    last.or(marks.first()).map_or_else(|| (0, output.size()), |mark| (mark.n, mark.size))
}

/// The start of the last screenful of plain lines: after a line end with a carriage return, which
/// puts the cursor in the first column.
fn last_screenful(plain: &[u8], rows: usize) -> Option<usize> {
    let start = memchr::memrchr_iter(b'\n', plain).nth(rows)?;
    plain[..start].ends_with(b"\r").then_some(start + 1)
}

#[cfg(test)]
mod tests;
