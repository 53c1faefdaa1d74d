//! What a pane has printed, by absolute offset.

use std::fmt::Debug;
use std::io;

use paned_keeper::tape::TapeReader;
use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};

pub use paned_keeper::tape::{Damage, OutputGap, OutputTime, SizeMark, Summary};

/// A pane's output. Reading never slows the pane; what was overwritten is told as a [`OutputGap`].
pub trait Output: Debug + Send + Sync {
    /// The first offset that is still kept.
    fn first(&self) -> u64;
    /// The offset after the last byte.
    fn end(&self) -> u64;
    /// The first offset that was kept and the end of the output, when this was last looked at: for callers that have just
    /// looked, and hear of what comes later.
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
    /// What a server had looked at when it last said so.
    fn taken(&self) -> u64;
    /// The terminal's size.
    fn size(&self) -> Size;
    /// The sizes that the terminal had after the first so many, and from where on, oldest first; as far as they are
    /// still known, and none from a keeper of an older version. Those before an offset are all there if that offset was
    /// known to be written before.
    fn sizes(&self, _after: u64) -> Vec<SizeMark> {
        Vec::new()
    }
    /// How the program ended, once it has.
    fn ending(&self) -> Option<ExitRecord>;
    /// Whether the keeper that writes it lives, where there is one to tell.
    fn has_live_keeper(&self) -> bool {
        false
    }
    /// Reads from an offset: up to a buffer full, nothing at the end.
    ///
    /// # Errors
    /// When the disk refuses.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>>;
    /// The nearest place before an offset from which lines can be counted.
    ///
    /// # Errors
    /// When the disk refuses.
    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>>;
    /// When the byte at an offset was printed; as the nearest mark says, where nothing better is known.
    ///
    /// # Errors
    /// When the disk refuses.
    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        let mark = self.line_mark(offset)?;
        Ok(mark.map(|mark| OutputTime { time: mark.time, until: offset + 1 }))
    }
}

/// A place in a pane's output where it is known how many lines came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// The place.
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

    fn ending(&self) -> Option<ExitRecord> {
        Self::ending(self)
    }

    fn has_live_keeper(&self) -> bool {
        Self::has_live_keeper(self)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        Self::read(self, offset, buffer)
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        let mark = Self::line_mark(self, offset)?;
        Ok(mark.map(|(offset, lines, time)| LineMark { offset, lines, time }))
    }

    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        Self::time(self, offset)
    }
}
