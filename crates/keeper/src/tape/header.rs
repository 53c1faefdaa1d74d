//! The tape's first page: numbers that both sides see change.
//!
//! All of it is 64-bit words at fixed places, read and written as atomics. A word that a version does not
//! know is zero and is left alone.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use paned_model::frame::Ending;
use paned_model::{Exit, Size, Time};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::sizes;

/// The header's size in bytes.
pub(super) const LEN: u64 = 4096;
const WORDS: usize = LEN as usize / size_of::<u64>();
/// The version this build writes and reads.
pub(super) const VERSION: u64 = 1;
const MAGIC: u64 = u64::from_le_bytes(*b"panetape");

/// The words by place. Places are never given a new meaning.
#[derive(Clone, Copy)]
pub(super) enum Word {
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
    /// What the server has looked at.
    Taken = 11,
    Pid = 12,
    Keeper = 13,
    Size = 14,
    EndedAt = 16,
    /// The ending, packed; not zero once the program has ended. Written after all else.
    Ending = 17,
    /// Not zero while the disk is full and the program is made to wait.
    Stalled = 18,
    /// How many marks of time were made.
    Times = 24,
    /// How many of them there is room for; zero on a tape without any.
    TimesRoom = 25,
}

const KILLED: u64 = 1 << 16;
const TIMED_OUT: u64 = 1 << 17;
const BY_CODE: u64 = 1 << 24;
const BY_SIGNAL: u64 = 2 << 24;
const UNKNOWN: u64 = BY_CODE | BY_SIGNAL;

/// The mapped first page of a tape.
#[derive(Debug)]
pub(super) struct Header {
    page: NonNull<AtomicU64>,
}

// SAFETY: the page is only reached through atomics and lives as long as the value.
unsafe impl Send for Header {}
// SAFETY: as above.
unsafe impl Sync for Header {}

impl Header {
    /// Maps the first page of a file that is at least that long.
    pub(super) fn map(file: &File, writable: bool) -> io::Result<Self> {
        let access = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a fresh shared mapping at an address the kernel picks aliases nothing of ours.
        let page = unsafe {
            mmap(ptr::null_mut(), LEN as usize, access, MapFlags::SHARED, file.as_fd(), 0)?
        };
        let page = NonNull::new(page.cast()).ok_or_else(|| io::Error::other("mapped at zero"))?;
        Ok(Self { page })
    }

    fn word(&self, place: usize) -> &AtomicU64 {
        assert!(place < WORDS, "the header has {WORDS} words");
        // SAFETY: the place is within the page, aligned, and the page lives as long as self.
        unsafe { self.page.add(place).as_ref() }
    }

    pub(super) fn get(&self, word: Word) -> u64 {
        self.at(word as usize)
    }

    /// Only for the writer: a read-only mapping would fault.
    pub(super) fn set(&self, word: Word, value: u64) {
        self.put(word as usize, value);
    }

    /// The word at a place that others have the say over: see `sizes`.
    pub(super) fn at(&self, place: usize) -> u64 {
        self.word(place).load(Ordering::Acquire)
    }

    /// Only for the writer, as [`Header::set`].
    pub(super) fn put(&self, place: usize, value: u64) {
        self.word(place).store(value, Ordering::Release);
    }

    /// Makes an empty page a header. The magic comes last: a half-made header is no tape.
    pub(super) fn found(&self, blocks: u64, started: Time) {
        self.set(Word::Version, VERSION);
        self.set(Word::Blocks, blocks);
        self.set(Word::Started, started.0);
        self.set(Word::Keeper, u64::from(std::process::id()));
        self.set(Word::Magic, MAGIC);
    }

    pub(super) fn is_tape(&self) -> bool {
        self.get(Word::Magic) == MAGIC
    }

    pub(super) fn set_size(&self, size: Size) {
        self.set(Word::Size, sizes::pack(size));
    }

    pub(super) fn size(&self) -> Size {
        sizes::unpack(self.get(Word::Size))
    }

    pub(super) fn set_ending(&self, ending: Ending) {
        let exit = match ending.exit {
            Some(Exit::Code(code)) => BY_CODE | u64::from(code),
            Some(Exit::Signal(signal)) => BY_SIGNAL | u64::from(signal),
            None => UNKNOWN,
        };
        let killed = if ending.killed { KILLED } else { 0 };
        let timed_out = if ending.timed_out { TIMED_OUT } else { 0 };
        self.set(Word::EndedAt, ending.at.0);
        self.set(Word::Ending, exit | killed | timed_out);
    }

    pub(super) fn ending(&self) -> Option<Ending> {
        let packed = self.get(Word::Ending);
        let value = packed.to_le_bytes()[0];
        let exit = match packed & (BY_CODE | BY_SIGNAL) {
            BY_CODE => Some(Exit::Code(value)),
            BY_SIGNAL => Some(Exit::Signal(value)),
            UNKNOWN => None,
            _ => return None,
        };
        Some(Ending {
            exit,
            killed: packed & KILLED != 0,
            timed_out: packed & TIMED_OUT != 0,
            at: Time(self.get(Word::EndedAt)),
        })
    }
}

impl Drop for Header {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and nobody can reach it after this.
        // A failure would leave a page mapped, which harms nobody.
        let _ = unsafe { munmap(self.page.as_ptr().cast(), LEN as usize) };
    }
}
