//! The tape's first page: 64-bit words at fixed places, little-endian.
//!
//! Neither side maps it: a file that is cut under a mapping kills the process that touches it. The
//! writer has the page in memory and writes it whole with one `pwrite`, so that the next change
//! replaces whatever another process wrote into it; readers copy the words with one `pread` (see
//! `counters`). That is one system call for each read and each change, well under a microsecond. A
//! checksum detects a copy that was made in the middle of a write. A word that a version does not
//! know is zero.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use paned_model::frame::ExitRecord;
use paned_model::{Exit, Size, Time};

use super::sizes;

/// The header's size in bytes.
pub(super) const LEN: u64 = 4096;
/// How many words are before the marks of sizes; the last of them is their checksum.
pub(super) const COUNTERS: usize = 32;
/// The version this build writes and reads.
pub(super) const VERSION: u64 = 1;
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"panetape");

/// The words by index. An index never gets a new meaning.
#[derive(Clone, Copy)]
pub(super) enum HeaderWord {
    Magic = 0,
    Version = 1,
    Blocks = 2,
    Started = 3,
    /// The first offset that is still kept. Raised before bytes are overwritten.
    First = 8,
    /// The offset after the last byte. Raised after bytes are written.
    End = 9,
    /// Line ends before `End`.
    Lines = 10,
    /// What the server has acknowledged.
    Acked = 11,
    Pid = 12,
    Keeper = 13,
    Size = 14,
    EndedAt = 16,
    /// The ending, packed; not zero once the program has ended. Written after all else.
    Ending = 17,
    /// Not zero while the disk is full and the program is made to wait.
    Stalled = 18,
    /// What was before this offset was lost because the file was cut; zero if it never was.
    Lost = 19,
    /// Where the output ended when something was last typed.
    LastInput = 20,
    /// How many echoes of typed text were found: see `echoes`.
    Echoes = 21,
    /// Where the first line begins that a limit of lines keeps: see `line_limit`.
    LineStart = 22,
    /// Line ends before that.
    LinesBefore = 23,
    /// How many time marks were made.
    Times = 24,
    /// How many of them fit; zero once they were lost because the file was cut.
    TimesRoom = 25,
    /// How many sizes the terminal had: see `sizes`.
    Sizes = 26,
    /// The checksum of the words before it.
    Checksum = 31,
}

const KILLED: u64 = 1 << 16;
const TIMED_OUT: u64 = 1 << 17;
const BY_CODE: u64 = 1 << 24;
const BY_SIGNAL: u64 = 2 << 24;
const UNKNOWN: u64 = BY_CODE | BY_SIGNAL;

/// The writer's copy of the page.
#[derive(Debug)]
pub(super) struct TapeHeader {
    page: Box<[u8; LEN as usize]>,
}

impl TapeHeader {
    /// The page of a new tape.
    pub(super) fn new(blocks: u64, started: Time) -> Self {
        let mut header = Self { page: Box::new([0; LEN as usize]) };
        header.set(HeaderWord::Magic, MAGIC);
        header.set(HeaderWord::Version, VERSION);
        header.set(HeaderWord::Blocks, blocks);
        header.set(HeaderWord::Started, started.0);
        header.set(HeaderWord::Keeper, u64::from(std::process::id()));
        header
    }

    pub(super) fn get(&self, word: HeaderWord) -> u64 {
        self.at(word as usize)
    }

    /// Sets a word here. It is in the file after the next [`TapeHeader::write`].
    pub(super) fn set(&mut self, word: HeaderWord, value: u64) {
        self.put(word as usize, value);
    }

    /// The word at an index that another module defines: see `sizes`.
    pub(super) fn at(&self, index: usize) -> u64 {
        word_at(&self.page[..], index)
    }

    /// Sets such a word, as [`TapeHeader::set`].
    pub(super) fn put(&mut self, index: usize, value: u64) {
        self.page[index * 8..index * 8 + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Writes the page.
    ///
    /// # Errors
    /// When the disk refuses; the file then has the page that was written before.
    pub(super) fn write(&mut self, file: &File) -> io::Result<()> {
        self.set(HeaderWord::Checksum, checksum(&self.page[..]));
        file.write_all_at(&self.page[..], 0)
    }

    pub(super) fn set_size(&mut self, size: Size) {
        self.set(HeaderWord::Size, sizes::pack(size));
    }

    pub(super) fn set_ending(&mut self, ending: ExitRecord) {
        let exit = match ending.exit {
            Some(Exit::Code(code)) => BY_CODE | u64::from(code),
            Some(Exit::Signal(signal)) => BY_SIGNAL | u64::from(signal),
            None => UNKNOWN,
        };
        let killed = if ending.killed { KILLED } else { 0 };
        let timed_out = if ending.timed_out { TIMED_OUT } else { 0 };
        self.set(HeaderWord::EndedAt, ending.at.0);
        self.set(HeaderWord::Ending, exit | killed | timed_out);
    }
}

/// Reads an ending from its word; none where the program has not ended.
pub(super) fn unpack_ending(packed: u64, at: Time) -> Option<ExitRecord> {
    let value = packed.to_le_bytes()[0];
    let exit = match packed & (BY_CODE | BY_SIGNAL) {
        BY_CODE => Some(Exit::Code(value)),
        BY_SIGNAL => Some(Exit::Signal(value)),
        UNKNOWN => None,
        _ => return None,
    };
    let killed = packed & KILLED != 0;
    let timed_out = packed & TIMED_OUT != 0;
    Some(ExitRecord { exit, killed, timed_out, at })
}

/// The word at an index of a page, or of the beginning of one.
pub(super) fn word_at(page: &[u8], index: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&page[index * 8..index * 8 + 8]);
    u64::from_le_bytes(word)
}

/// The checksum of the counters; never zero.
pub(super) fn checksum(page: &[u8]) -> u64 {
    let mix = |sum: u64, index: usize| {
        (sum ^ word_at(page, index)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    };
    (0..HeaderWord::Checksum as usize).fold(MAGIC, mix) | 1
}
