//! What a pane has printed, by absolute offset.

use std::fmt::Debug;
use std::io;
use std::ops::Range;

use paned_keeper::tape::TapeReader;
use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};

pub use paned_keeper::tape::{Damage, OutputGap, OutputTime, SizeMark, Summary};

/// A pane's output. Reading never slows the pane; a read of overwritten bytes returns an
/// [`OutputGap`].
pub trait Output: Debug + Send + Sync {
    /// The first offset that is still kept.
    fn first(&self) -> u64;
    /// The offset after the last byte.
    fn end(&self) -> u64;
    /// The first kept offset and the end, as of the last call that read them: for callers that have
    /// just read them and are notified of what comes later.
    fn last_seen(&self) -> (u64, u64) {
        (self.first(), self.end())
    }
    /// Line ends printed so far.
    fn lines(&self) -> u64;
    /// What lists show of it.
    fn summary(&self) -> Summary {
        let first = self.first();
        Summary { first, end: self.end(), lines: self.lines(), size: self.size(), damage: None }
    }
    /// The last offset that a server acknowledged.
    fn taken(&self) -> u64;
    /// The terminal's size.
    fn size(&self) -> Size;
    /// The sizes of the terminal after the first `after` ones, and the offset from which each
    /// holds, oldest first: as far as they are still known, and none from a keeper of an older
    /// version. The sizes before an offset are complete if that offset was known to be written
    /// before this call.
    fn sizes(&self, _after: u64) -> Vec<SizeMark> {
        Vec::new()
    }
    /// Where the output ended when something was last typed; 0 if nothing was.
    fn last_input(&self) -> u64 {
        0
    }
    /// The last echo of typed text in a range of the output: from the beginning of its line to its
    /// end.
    fn last_echo_in(&self, _range: Range<u64>) -> Option<Range<u64>> {
        None
    }
    /// How the program ended, once it has.
    fn ending(&self) -> Option<ExitRecord>;
    /// Whether the keeper that writes it is alive; false where there is none.
    fn has_live_keeper(&self) -> bool {
        false
    }
    /// Reads from an offset: up to a buffer full, nothing at the end.
    ///
    /// # Errors
    /// When the disk refuses.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>>;
    /// Whether a line is known to begin at the first offset that is kept, although more was printed
    /// before it.
    fn is_line_start(&self, _first: u64) -> bool {
        false
    }
    /// The nearest offset before this one from which lines can be counted.
    ///
    /// # Errors
    /// When the disk refuses.
    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>>;
    /// When the byte at an offset was printed; by default, the time of the nearest mark.
    ///
    /// # Errors
    /// When the disk refuses.
    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        let mark = self.line_mark(offset)?;
        Ok(mark.map(|mark| OutputTime { time: mark.time, until: offset + 1 }))
    }
}

/// An offset in a pane's output for which the number of lines before it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// The offset.
    pub offset: u64,
    /// Line ends before it.
    pub lines: u64,
    /// When the byte there was printed.
    pub time: Time,
}

impl Output for TapeReader {
    fn first(&self) -> u64 {
        Self::first(self)
    }

    fn end(&self) -> u64 {
        Self::end(self)
    }

    fn last_seen(&self) -> (u64, u64) {
        Self::last_seen(self)
    }

    fn lines(&self) -> u64 {
        Self::lines(self)
    }

    fn summary(&self) -> Summary {
        Self::summary(self)
    }

    fn taken(&self) -> u64 {
        Self::taken(self)
    }

    fn size(&self) -> Size {
        Self::size(self)
    }

    fn sizes(&self, after: u64) -> Vec<SizeMark> {
        Self::sizes(self, after)
    }

    fn last_input(&self) -> u64 {
        Self::last_input(self)
    }

    fn last_echo_in(&self, range: Range<u64>) -> Option<Range<u64>> {
        Self::last_echo_in(self, range)
    }

    fn ending(&self) -> Option<ExitRecord> {
        Self::ending(self)
    }

    fn has_live_keeper(&self) -> bool {
        Self::has_live_keeper(self)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        Self::read(self, offset, buffer)
    }

    fn is_line_start(&self, first: u64) -> bool {
        Self::is_line_start(self, first)
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        let mark = Self::line_mark(self, offset)?;
        Ok(mark.map(|(offset, lines, time)| LineMark { offset, lines, time }))
    }

    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        Self::time(self, offset)
    }
}
