//! The tape: a pane's output by absolute offset, in a ring file that outlives keeper and server.
//!
//! ```text
//! header  4096 bytes   magic, version, geometry; then counters, changed in place (see `header`)
//! index   16 per block what the pane had printed before each 4 KiB block: lines, and the time
//! data    capacity     byte `offset` stands at `offset % capacity`
//! times   16 per mark  when what was printed (see `times`); not there on older tapes
//! ```
//!
//! One writer (the keeper), any number of readers, no lock: the writer announces what it will overwrite
//! before it does and what it has written after, and a reader checks again after it has read. The header
//! is mapped by both sides; index and data go through `pread` and `pwrite`, so a full disk or a cut file
//! is an error with a name and never a signal. The file is sparse: an idle pane costs what it printed.

mod header;
mod kept;
mod reader;
mod sizes;
mod times;
mod writer;

use std::io;
use std::path::PathBuf;

pub use reader::{Gap, Reader};
pub use sizes::SizeMark;
pub use times::Stamp;
pub use writer::Writer;

/// How many bytes of output one index entry covers. Old output is dropped in whole blocks.
pub const BLOCK: u64 = 4096;

/// The smallest tape, in bytes.
pub const MIN_CAPACITY: u64 = 16 * BLOCK;

/// Bytes of one index entry: lines before the block, then the time of its first byte.
const ENTRY: u64 = 16;

/// Why a file is no tape that can be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error("cannot use the tape {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else, or its beginning is damaged.
    #[error("{0} is no tape")]
    NoTape(PathBuf),
    /// A newer version of paned wrote it.
    #[error("{path} is a tape of version {found}; this build reads version {}", header::VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// It is shorter than its header says.
    #[error("{0} is cut short")]
    Cut(PathBuf),
}

/// Where index and data stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    blocks: u64,
}

impl Geometry {
    /// The geometry that keeps at least this many bytes: one block more, because the oldest is dropped
    /// whole when the newest is begun.
    fn keeping(bytes: u64) -> Self {
        Self { blocks: bytes.max(MIN_CAPACITY).div_ceil(BLOCK) + 1 }
    }

    fn capacity(self) -> u64 {
        self.blocks * BLOCK
    }

    /// Where the index entry of the block around this offset stands.
    fn entry_at(self, offset: u64) -> u64 {
        header::LEN + offset / BLOCK % self.blocks * ENTRY
    }

    fn data_from(self) -> u64 {
        (header::LEN + self.blocks * ENTRY).next_multiple_of(4096)
    }

    /// Where the byte of this offset stands.
    fn data_at(self, offset: u64) -> u64 {
        self.data_from() + offset % self.capacity()
    }

    fn file_len(self) -> u64 {
        self.data_from() + self.capacity()
    }

    /// Where the block after the one around this offset begins.
    fn next_block(offset: u64) -> u64 {
        (offset / BLOCK + 1) * BLOCK
    }

    /// The first offset still kept once bytes up to `end` have been written.
    fn first_kept(self, end: u64) -> u64 {
        let begun = end.div_ceil(BLOCK);
        begun.saturating_sub(self.blocks) * BLOCK
    }
}

#[cfg(test)]
mod tests;
