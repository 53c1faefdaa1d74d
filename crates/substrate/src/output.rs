//! What a pane has printed, by absolute offset.

use std::fmt::Debug;
use std::io;

use paned_keeper::tape::Reader;
use paned_model::Size;
use paned_model::frame::Ending;

pub use paned_keeper::tape::Gap;

/// A pane's output. Reading never slows the pane; what was overwritten is told as a [`Gap`].
pub trait Output: Debug + Send + Sync {
    /// The first offset that is still kept.
    fn first(&self) -> u64;
    /// The offset after the last byte.
    fn end(&self) -> u64;
    /// Line ends printed so far.
    fn lines(&self) -> u64;
    /// What a server had looked at when it last said so.
    fn taken(&self) -> u64;
    /// The terminal's size.
    fn size(&self) -> Size;
    /// How the program ended, once it has.
    fn ending(&self) -> Option<Ending>;
    /// Reads from an offset: up to a buffer full, nothing at the end.
    ///
    /// # Errors
    /// When the disk refuses.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, Gap>>;
}

impl Output for Reader {
    fn first(&self) -> u64 {
        Self::first(self)
    }

    fn end(&self) -> u64 {
        Self::end(self)
    }

    fn lines(&self) -> u64 {
        Self::lines(self)
    }

    fn taken(&self) -> u64 {
        Self::taken(self)
    }

    fn size(&self) -> Size {
        Self::size(self)
    }

    fn ending(&self) -> Option<Ending> {
        Self::ending(self)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, Gap>> {
        Self::read(self, offset, buffer)
    }
}
