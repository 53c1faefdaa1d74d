//! The tape: a pane's output by absolute offset, in a ring file that outlives keeper and server.
//!
//! ```text
//! header  4096 bytes   magic, version, geometry; then counters, changed in place (see `header`),
//!                      echoes and sizes
//! index   16 per block what the pane had printed before each 4 KiB block: lines, and the time
//! data    capacity     byte `offset` is at `offset % capacity`
//! times   16 per mark  when what was printed (see `times`)
//! tail    4096 bytes   never written: a file that was cut stays shorter, whatever is written
//! ```
//!
//! One writer (the keeper), any number of readers, no lock: the writer announces what it will
//! overwrite before it does and what it has written after, and a reader checks again after it has
//! read. Nothing is mapped: everything goes through `pread` and `pwrite`, so a full disk or a
//! truncated file is an error and never a signal. What is read is validated: whatever the file
//! says, a reader neither panics, nor loops, nor allocates more than it was asked for. The file is
//! sparse: an idle pane takes only the space of its output.
//!
//! A limit of lines hides older lines before the ring overwrites them: nothing that begins to read
//! finds them, and one that has read up to there goes on without a gap.
//!
//! A file that was cut has lost its end, which may be any part of the output, because the data is a
//! ring. A reader reports that as a gap. The writer restores the length and the header, and keeps
//! only what is after the last byte that was lost.

mod counters;
mod echoes;
mod header;
mod keeper_alive;
mod line_limit;
mod reader;
mod sizes;
mod times;
mod writer;

use std::io;
use std::path::PathBuf;

pub use reader::{OutputGap, Summary, TapeReader};
pub use sizes::SizeMark;
pub use times::OutputTime;
pub use writer::TapeWriter;

/// How many bytes of output one index entry covers. Old output is dropped in whole blocks.
pub const BLOCK: u64 = 4096;

/// The smallest tape, in bytes.
pub const MIN_CAPACITY: u64 = 16 * BLOCK;

/// Bytes of one index entry: lines before the block, then the time of its first byte.
const ENTRY: u64 = 16;

/// How many more blocks are dropped at once than necessary: what the next write overwrites was
/// announced with the last one, so that an append costs one write of the header.
const LEAD: u64 = 16;

/// The most blocks that a tape can have: a pebibyte of output.
const MAX_BLOCKS: u64 = 1 << 38;

/// Why a tape cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot use the tape {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is something else, or its beginning is damaged.
    #[error("{0} is not a tape")]
    NoTape(PathBuf),
    /// A newer version of paned wrote it.
    #[error("{path} is a tape of version {found}; this build reads version {}", header::VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// Its header is invalid.
    #[error("cannot use the tape {path}: {damage}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
}

/// How another process has damaged a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It is shorter than it was made.
    #[error("it was truncated to {0} bytes")]
    Cut(u64),
    /// It was cut, and its keeper has restored what there was to restore.
    #[error("it was truncated, and the output before offset {0} is lost")]
    Lost(u64),
    /// Its header was overwritten.
    #[error("its header is damaged: {0}")]
    Header(&'static str),
    /// It cannot be read at all.
    #[error("it cannot be read ({0})")]
    Unreadable(io::ErrorKind),
}

/// Where index and data are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    blocks: u64,
}

impl Geometry {
    /// The geometry that keeps at least this many bytes: one block more, because the oldest is
    /// dropped whole when the newest is begun, and those that are dropped early.
    fn keeping(bytes: u64) -> Self {
        let blocks = bytes.max(MIN_CAPACITY).div_ceil(BLOCK) + 1 + LEAD;
        Self { blocks: blocks.min(MAX_BLOCKS) }
    }

    /// Whether a tape can have this geometry. If it can, none of the sums below overflow.
    fn is_possible(self) -> bool {
        (1..=MAX_BLOCKS).contains(&self.blocks)
    }

    fn capacity(self) -> u64 {
        self.blocks * BLOCK
    }

    /// Where the index entry of the block around this offset is.
    fn entry_at(self, offset: u64) -> u64 {
        header::LEN + offset / BLOCK % self.blocks * ENTRY
    }

    fn data_from(self) -> u64 {
        (header::LEN + self.blocks * ENTRY).next_multiple_of(4096)
    }

    /// Where the byte of this offset is.
    fn data_at(self, offset: u64) -> u64 {
        self.data_from() + offset % self.capacity()
    }

    fn file_len(self) -> u64 {
        self.data_from() + self.capacity()
    }

    /// Of the bytes before `end`, the offset after the last one that a file of this length does not
    /// have; zero if it has them all.
    fn lost_before(self, end: u64, length: u64) -> u64 {
        if self.file_len() <= length {
            return 0;
        }
        let there = length.saturating_sub(self.data_from());
        if there == 0 || there < end % self.capacity() {
            return end;
        }
        end / self.capacity() * self.capacity()
    }

    /// Where the block after the one around this offset begins.
    fn next_block(offset: u64) -> u64 {
        (offset / BLOCK + 1).saturating_mul(BLOCK)
    }

    /// How long a whole file is: with its time marks, and a tail that is never written.
    fn full_len(self) -> u64 {
        self.file_len() + times::room(self) * times::MARK_LEN + 4096
    }

    /// The first offset that can still be there once bytes up to `end` have been written.
    fn first_kept(self, end: u64) -> u64 {
        let begun = end.div_ceil(BLOCK);
        begun.saturating_sub(self.blocks) * BLOCK
    }

    /// The first offset that is announced to be kept once bytes up to `end` have been written.
    fn first_announced(self, end: u64) -> u64 {
        self.first_kept(end + LEAD * BLOCK)
    }
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;
