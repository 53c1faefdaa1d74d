//! The readers' side of a tape.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};

use super::counters::{Counters, read_until_end};
use super::header::{self, HeaderWord};
use super::sizes::{self, SizeMark};
use super::{BLOCK, Damage, Error, Geometry};

/// A read asked for an offset that is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputGap {
    /// The first offset that is still there.
    pub first: u64,
}

/// A tape, open for reading. It never slows the writer; a read of overwritten output answers an
/// [`OutputGap`].
#[derive(Debug)]
pub struct TapeReader {
    pub(super) file: File,
    pub(super) geometry: Geometry,
    /// Boxed to keep readers small.
    state: Box<Mutex<TapeReaderState>>,
}

/// What the last read of the header found.
#[derive(Debug)]
struct TapeReaderState {
    /// The last valid counters. They are used while the header is damaged.
    counters: Counters,
    /// What is wrong with the header.
    damage: Option<Damage>,
    /// The length of the file, if it was found to be cut.
    cut: Option<u64>,
}

impl TapeReaderState {
    fn damage(&self) -> Option<Damage> {
        self.damage.or(self.cut.map(Damage::Cut)).or_else(|| {
            let lost = self.counters.get(HeaderWord::Lost);
            (lost != 0).then_some(Damage::Lost(lost))
        })
    }
}

/// What a tape has at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The first offset that is still kept.
    pub first: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// Line ends printed so far.
    pub lines: u64,
    /// The terminal's size.
    pub size: Size,
    /// How another process has damaged the tape, as far as that was noticed.
    pub damage: Option<Damage>,
}

impl TapeReader {
    /// Opens a tape. One that was cut can be opened: a read of the missing part answers an
    /// [`OutputGap`].
    ///
    /// # Errors
    /// When it is not there, is no tape, is of a newer version, or has a damaged header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let counters = match Counters::read(&file).map_err(io)? {
            Ok(counters) => counters,
            Err(damage) if is_tape(&file) => {
                return Err(Error::Damaged { path: path.to_owned(), damage });
            }
            Err(_) => return Err(Error::NoTape(path.to_owned())),
        };
        let found = counters.get(HeaderWord::Version);
        if found != header::VERSION {
            return Err(Error::Version { path: path.to_owned(), found });
        }
        let geometry = counters.geometry();
        let length = file.metadata().map_err(io)?.len();
        let cut = (length < geometry.file_len()).then_some(length);
        // Without its index no output can be found.
        let has_no_index = length < geometry.data_from();
        let counters = if has_no_index { counters.without_output() } else { counters };
        Ok(Self {
            file,
            geometry,
            state: Box::new(Mutex::new(TapeReaderState { counters, damage: None, cut })),
        })
    }

    /// Reads the header. If that is damaged, the last valid counters stay.
    pub(super) fn read_counters(&self) -> Counters {
        let mut state = self.lock();
        // Within the lock, so that reads of the header are stored in the order in which it was
        // written.
        match self.check(&state.counters) {
            Ok(counters) => {
                let is_restored =
                    state.counters.get(HeaderWord::Lost) != counters.get(HeaderWord::Lost);
                let cut = state.cut.filter(|_| !is_restored);
                *state = TapeReaderState { counters, damage: None, cut };
            }
            Err(damage) => state.damage = Some(damage),
        }
        state.counters
    }

    fn lock(&self) -> MutexGuard<'_, TapeReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, before: &Counters) -> Result<Counters, Damage> {
        let read = Counters::read(&self.file);
        let counters = read.map_err(|error| Damage::Unreadable(error.kind()))??;
        counters.check_after(before).map(|()| counters)
    }

    /// How another process has damaged it.
    #[must_use]
    pub fn damage(&self) -> Option<Damage> {
        self.read_counters();
        self.check_length();
        self.lock().damage()
    }

    /// Checks whether the file has its full length.
    fn check_length(&self) {
        let length = self.file.metadata().map_or(0, |file| file.len());
        self.lock().cut = (length < self.geometry.file_len()).then_some(length);
    }

    /// All that lists show, from one read of the header.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let now = self.read_counters();
        Summary {
            first: now.first(),
            end: now.get(HeaderWord::End),
            lines: now.get(HeaderWord::Lines),
            size: sizes::unpack(now.get(HeaderWord::Size)),
            damage: self.lock().damage(),
        }
    }

    /// The first kept offset and the end of the output, as of the last read of the header.
    #[must_use]
    pub fn last_seen(&self) -> (u64, u64) {
        let counters = self.last_counters();
        (counters.first(), counters.get(HeaderWord::End))
    }

    fn last_counters(&self) -> Counters {
        self.lock().counters
    }

    /// The first offset that is still kept.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.read_counters().first()
    }

    /// Whether a line is known to begin at this offset: the limit of lines hides what is before it.
    #[must_use]
    pub fn is_line_start(&self, offset: u64) -> bool {
        offset != 0 && self.last_counters().get(HeaderWord::LineStart) == offset
    }

    /// The offset after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.read_counters().get(HeaderWord::End)
    }

    /// Line ends printed so far.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.read_counters().get(HeaderWord::Lines)
    }

    /// What a server had acknowledged last.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.read_counters().get(HeaderWord::Acked)
    }

    /// The program's process, once there was one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        u32::try_from(self.read_counters().get(HeaderWord::Pid)).ok().filter(|pid| *pid != 0)
    }

    /// The keeper's process.
    #[must_use]
    pub fn keeper(&self) -> u32 {
        self.read_counters().get(HeaderWord::Keeper).try_into().unwrap_or(0)
    }

    /// When the tape was begun.
    #[must_use]
    pub fn started(&self) -> Time {
        self.read_counters().time(HeaderWord::Started)
    }

    /// The terminal's size.
    #[must_use]
    pub fn size(&self) -> Size {
        sizes::unpack(self.read_counters().get(HeaderWord::Size))
    }

    /// The sizes that the terminal had after the first `after`, each with the offset from which it
    /// holds, oldest first, as far as they are still known. All sizes up to an offset are there if
    /// that offset was written before this call.
    #[must_use]
    pub fn sizes(&self, after: u64) -> Vec<SizeMark> {
        sizes::read(&self.file, after, &self.read_counters()).unwrap_or_default()
    }

    /// How the program ended, once it has. From then on the output is complete.
    #[must_use]
    pub fn ending(&self) -> Option<ExitRecord> {
        let now = self.read_counters();
        header::unpack_ending(now.get(HeaderWord::Ending), now.time(HeaderWord::EndedAt))
    }

    /// Whether the disk is full and the program is made to wait.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.read_counters().get(HeaderWord::Stalled) != 0
    }

    /// Reads from an offset: up to a buffer full, nothing at the end. Lines that a limit hides are
    /// read as long as the ring has them: a reader that begins does so at [`TapeReader::first`].
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        let wanted_end = offset.saturating_add(buffer.len() as u64);
        let mut seen = self.last_counters();
        let is_lost = |seen: &Counters| offset < seen.get(HeaderWord::First);
        // Written bytes stay written: old counters are good enough if they reach far enough.
        if seen.get(HeaderWord::End) < wanted_end || is_lost(&seen) {
            seen = self.read_counters();
        }
        if is_lost(&seen) {
            return Ok(Err(OutputGap { first: seen.first() }));
        }
        let end = seen.get(HeaderWord::End);
        let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let got = self.read_data(offset, &mut buffer[..wanted])?;
        // The writer may have lapped us while we read.
        let now = self.read_counters();
        if is_lost(&now) {
            return Ok(Err(OutputGap { first: now.first() }));
        }
        if got < wanted {
            self.check_length();
        }
        if got == 0 && wanted != 0 {
            // The file ends before this offset. What follows may continue at the next lap of the
            // ring.
            let lap = (offset / self.geometry.capacity() + 1) * self.geometry.capacity();
            return Ok(Err(OutputGap { first: lap.min(end) }));
        }
        Ok(Ok(got))
    }

    /// Answers how many bytes there were: less than a buffer full only where the file is cut.
    fn read_data(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let capacity = self.geometry.capacity();
        let to_edge = usize::try_from(capacity - offset % capacity).unwrap_or(usize::MAX);
        let (before, after) = buffer.split_at_mut(buffer.len().min(to_edge));
        let got = read_until_end(&self.file, before, self.geometry.data_at(offset))?;
        if got < before.len() || after.is_empty() {
            return Ok(got);
        }
        Ok(got + read_until_end(&self.file, after, self.geometry.data_from())?)
    }

    /// The lines before the block around this offset and the time of its first byte: the nearest
    /// place from which line numbers can be counted. That place comes first: the block's start, or
    /// the first byte that is kept.
    ///
    /// # Errors
    /// When the disk refuses, or the index is damaged.
    pub fn line_mark(&self, offset: u64) -> io::Result<Result<(u64, u64, Time), OutputGap>> {
        let damaged = |why: &str| io::Error::new(ErrorKind::InvalidData, why.to_owned());
        let start = offset / BLOCK * BLOCK;
        let mut entry = [0; 16];
        let got = read_until_end(&self.file, &mut entry, self.geometry.entry_at(start))?;
        let now = self.read_counters();
        let first = now.first();
        if offset < first {
            return Ok(Err(OutputGap { first }));
        }
        if got < entry.len() {
            return Err(damaged("the index of the tape is cut"));
        }
        let lines = match start < first && now.get(HeaderWord::LineStart) == first {
            true => now.get(HeaderWord::LinesBefore),
            false => header::word_at(&entry, 0),
        };
        if start < now.get(HeaderWord::End) && now.get(HeaderWord::Lines) < lines {
            return Err(damaged("the index of the tape is damaged"));
        }
        Ok(Ok((start.max(first), lines, Time(header::word_at(&entry, 1)))))
    }
}

/// Whether a file begins like a tape, whatever follows.
fn is_tape(file: &File) -> bool {
    let mut word = [0; 8];
    let read = read_until_end(file, &mut word, 0);
    read.is_ok() && u64::from_le_bytes(word) == header::MAGIC
}
