//! A reader's copy of the counters in a tape's header, validated before it is used.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::{io, thread};

use paned_model::Time;

use super::header::{self, COUNTERS, HeaderWord, MAGIC, VERSION, checksum, word_at};
use super::{Damage, Geometry, sizes};

/// Offsets stay below this, so that sums of two of them never overflow.
const MAX_OFFSET: u64 = 1 << 62;
/// How often a copy is retried that was made in the middle of a write.
const TRIES: usize = 100;

/// A consistent snapshot of the header's words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    page: [u8; COUNTERS * 8],
}

impl Counters {
    /// Copies the counters of a file and checks all but its geometry.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn read(file: &File) -> io::Result<Result<Self, Damage>> {
        let mut tries = 0;
        loop {
            let mut page = [0; COUNTERS * 8];
            let got = read_some(file, &mut page)?;
            if got < page.len() {
                return Ok(Err(Damage::Cut(got as u64)));
            }
            let counters = Self { page };
            if counters.is_whole() {
                return Ok(counters.check().map(|()| counters).map_err(Damage::Header));
            }
            tries += 1;
            if tries == TRIES {
                return Ok(Err(Damage::Header("its checksum is wrong")));
            }
            // The writer is in the middle of a write.
            thread::yield_now();
        }
    }

    /// Whether no write overlapped the copy.
    fn is_whole(&self) -> bool {
        self.get(HeaderWord::Checksum) == checksum(&self.page)
    }

    pub(super) fn get(&self, word: HeaderWord) -> u64 {
        word_at(&self.page, word as usize)
    }

    /// The first offset that can be read: what is still kept, or less where lines are limited.
    pub(super) fn first(&self) -> u64 {
        let limited = self.get(HeaderWord::LineStart).min(self.get(HeaderWord::End));
        self.get(HeaderWord::First).max(limited)
    }

    pub(super) fn time(&self, word: HeaderWord) -> Time {
        Time(self.get(word))
    }

    pub(super) fn geometry(&self) -> Geometry {
        Geometry { blocks: self.get(HeaderWord::Blocks) }
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.get(HeaderWord::Magic) != MAGIC {
            return Err("it is not a tape header");
        }
        // The meaning of the other words in another version is not known.
        if self.get(HeaderWord::Version) != VERSION {
            return Ok(());
        }
        if !self.geometry().is_possible() {
            return Err("the size is impossible");
        }
        let first = self.get(HeaderWord::First);
        let end = self.get(HeaderWord::End);
        if MAX_OFFSET <= end || end < first || self.geometry().capacity() < end - first {
            return Err("it claims more output than fits");
        }
        if end < self.get(HeaderWord::Lines)
            || end < self.get(HeaderWord::Acked)
            || end < self.get(HeaderWord::Lost)
            || end < self.get(HeaderWord::LastInput)
        {
            return Err("its counters are inconsistent");
        }
        if sizes::MAX_COUNT <= self.get(HeaderWord::Sizes) {
            return Err("it claims too many sizes");
        }
        let is_process = |word| i32::try_from(self.get(word)).is_ok();
        if !is_process(HeaderWord::Pid) || !is_process(HeaderWord::Keeper) {
            return Err("its process ids are impossible");
        }
        Ok(())
    }

    /// Whether these may follow earlier counters of the same tape: it keeps its size, and no offset
    /// goes back.
    pub(super) fn check_after(&self, before: &Self) -> Result<(), Damage> {
        let fixed = [HeaderWord::Version, HeaderWord::Blocks];
        let rising = [HeaderWord::First, HeaderWord::End];
        let is_same = fixed.into_iter().all(|word| self.get(word) == before.get(word));
        if is_same && rising.into_iter().all(|word| before.get(word) <= self.get(word)) {
            return Ok(());
        }
        Err(Damage::Header("it belongs to another tape"))
    }

    /// The same counters, with no output kept: nothing before the end can be read.
    pub(super) fn without_output(mut self) -> Self {
        let end = self.get(HeaderWord::End).to_le_bytes();
        let start = HeaderWord::First as usize * 8;
        self.page[start..start + 8].copy_from_slice(&end);
        self
    }
}

/// Reads up to a buffer full from the beginning; less where the file ends.
fn read_some(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    read_until_end(file, buffer, 0)
}

/// Reads up to a buffer full; less where the file ends.
pub(super) fn read_until_end(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read_at(&mut buffer[got..], at + got as u64) {
            Ok(0) => break,
            Ok(read) => got += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

const _: () = assert!(COUNTERS * 8 <= header::LEN as usize);
