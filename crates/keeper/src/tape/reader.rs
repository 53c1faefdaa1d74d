//! Everybody else's side of a tape.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};

use paned_model::frame::Ending;
use paned_model::{Size, Time};

use super::header::{self, Header, Word};
use super::sizes::{self, SizeMark};
use super::{BLOCK, Error, Geometry};

/// Bytes from an offset were asked for that are no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first offset that is still there.
    pub first: u64,
}

/// A tape, open for reading. Never slows the writer; what was overwritten is told as a [`Gap`].
#[derive(Debug)]
pub struct Reader {
    pub(super) file: File,
    pub(super) header: Header,
    pub(super) geometry: Geometry,
}

impl Reader {
    /// Opens a tape.
    ///
    /// # Errors
    /// When it is not there, is no tape, is of a newer version, or is cut short.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        if length < header::LEN {
            return Err(Error::NoTape(path.to_owned()));
        }
        let header = Header::map(&file, false).map_err(io)?;
        if !header.is_tape() {
            return Err(Error::NoTape(path.to_owned()));
        }
        let found = header.get(Word::Version);
        if found != header::VERSION {
            return Err(Error::Version { path: path.to_owned(), found });
        }
        let geometry = Geometry { blocks: header.get(Word::Blocks) };
        if geometry.blocks == 0 || length < geometry.file_len() {
            return Err(Error::Cut(path.to_owned()));
        }
        Ok(Self { file, header, geometry })
    }

    /// The first offset that is still kept.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.header.get(Word::First)
    }

    /// The offset after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.header.get(Word::End)
    }

    /// Line ends printed so far.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.header.get(Word::Lines)
    }

    /// What a server had looked at when it last said so.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.header.get(Word::Taken)
    }

    /// The program's process, once there was one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        u32::try_from(self.header.get(Word::Pid)).ok().filter(|pid| *pid != 0)
    }

    /// The keeper's process.
    #[must_use]
    pub fn keeper(&self) -> u32 {
        self.header.get(Word::Keeper).try_into().unwrap_or(0)
    }

    /// When the tape was begun.
    #[must_use]
    pub fn started(&self) -> Time {
        Time(self.header.get(Word::Started))
    }

    /// The terminal's size.
    #[must_use]
    pub fn size(&self) -> Size {
        self.header.size()
    }

    /// The sizes that the terminal had after the first so many, and from where on, oldest first; as far as they are
    /// still known. Of those before an offset all are there if it was known to be written before this is asked.
    #[must_use]
    pub fn sizes(&self, after: u64) -> Vec<SizeMark> {
        sizes::read(&self.header, after)
    }

    /// How the program ended, once it has. From then on the output is whole.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.header.ending()
    }

    /// Whether the disk is full and the program is made to wait.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.header.get(Word::Stalled) != 0
    }

    /// Reads from an offset: up to a buffer full, nothing at the end.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, Gap>> {
        let end = self.end();
        if offset < self.first() {
            return Ok(Err(Gap { first: self.first() }));
        }
        let wanted = buffer.len().min(end.saturating_sub(offset) as usize);
        self.read_data(offset, &mut buffer[..wanted])?;
        // The writer may have come round while we read.
        fence(Ordering::Acquire);
        let first = self.first();
        Ok(if offset < first { Err(Gap { first }) } else { Ok(wanted) })
    }

    fn read_data(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let capacity = self.geometry.capacity();
        let to_edge = (capacity - offset % capacity) as usize;
        let (before, after) = buffer.split_at_mut(buffer.len().min(to_edge));
        self.file.read_exact_at(before, self.geometry.data_at(offset))?;
        self.file.read_exact_at(after, self.geometry.data_from())
    }

    /// Lines before, and the time of the first byte of, the block around this offset: the nearest place
    /// from which line numbers can be counted. The block's start comes first.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn mark(&self, offset: u64) -> io::Result<Result<(u64, u64, Time), Gap>> {
        let start = offset / BLOCK * BLOCK;
        let mut entry = [0; 16];
        self.file.read_exact_at(&mut entry, self.geometry.entry_at(start))?;
        fence(Ordering::Acquire);
        let first = self.first();
        if start < first {
            return Ok(Err(Gap { first }));
        }
        let (lines, time) = entry.split_at(8);
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("half of 16"));
        Ok(Ok((start, number(lines), Time(number(time)))))
    }
}
