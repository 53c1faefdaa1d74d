//! The keeper's side of a tape.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{Ordering, fence};

use paned_model::frame::Ending;
use paned_model::{Size, Time};

use super::header::{Header, Word};
use super::times::Times;
use super::{BLOCK, ENTRY, Geometry, sizes};

/// The one writer of a tape.
#[derive(Debug)]
pub struct Writer {
    file: File,
    header: Header,
    geometry: Geometry,
    end: u64,
    lines: u64,
    times: Times,
}

impl Writer {
    /// Makes a tape that keeps at least `capacity` bytes. Refuses to touch a file that is there.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: &Path, capacity: u64, started: Time) -> io::Result<Self> {
        let geometry = Geometry::keeping(capacity);
        let mut open = OpenOptions::new();
        let file = open.read(true).write(true).create_new(true).mode(0o600).open(path)?;
        file.set_len(geometry.file_len())?;
        // Real bytes under the mapping: touching it can no longer fault on a full disk.
        file.write_all_at(&[0; super::header::LEN as usize], 0)?;
        let header = Header::map(&file, true)?;
        header.found(geometry.blocks, started);
        let times = Times::found(&header, geometry);
        Ok(Self { file, header, geometry, end: 0, lines: 0, times })
    }

    /// Appends the beginning of what the program printed and answers how much of it. When the disk
    /// refuses, nothing has happened, and the same call may be made again later.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append(&mut self, bytes: &[u8], now: Time) -> io::Result<usize> {
        // At most half the ring, so that a piece never overwrites itself.
        let most = (self.geometry.capacity() / 2) as usize;
        let piece = &bytes[..bytes.len().min(most)];
        self.append_piece(piece, now).map(|()| piece.len())
    }

    fn append_piece(&mut self, bytes: &[u8], now: Time) -> io::Result<()> {
        let end = self.end + bytes.len() as u64;
        // Before the bytes, so that a reader who is in the middle of them notices.
        self.header.set(Word::First, self.geometry.first_kept(end));
        fence(Ordering::SeqCst);
        self.write_data(bytes)?;
        let lines = self.write_index(bytes, now)?;
        // Before its bytes are there for anybody, so that none has an older one's time.
        self.times.note((&self.file, &self.header), self.geometry, (self.end, now))?;
        self.header.set(Word::Stalled, 0);
        self.header.set(Word::Lines, lines);
        self.header.set(Word::End, end);
        (self.end, self.lines) = (end, lines);
        Ok(())
    }

    fn write_data(&self, bytes: &[u8]) -> io::Result<()> {
        let to_edge = self.geometry.capacity() - self.end % self.geometry.capacity();
        let (before, after) = bytes.split_at(bytes.len().min(to_edge as usize));
        self.file.write_all_at(before, self.geometry.data_at(self.end))?;
        if after.is_empty() {
            return Ok(());
        }
        self.file.write_all_at(after, self.geometry.data_from())
    }

    /// Writes an entry for each block that these bytes begin; answers the lines after them.
    fn write_index(&self, bytes: &[u8], now: Time) -> io::Result<u64> {
        let mut lines = self.lines;
        let mut entries = Vec::new();
        let first = self.end.next_multiple_of(BLOCK);
        let (head, rest) = bytes.split_at(bytes.len().min((first - self.end) as usize));
        lines += count_lines(head);
        for block in rest.chunks(BLOCK as usize) {
            entries.extend_from_slice(&lines.to_le_bytes());
            entries.extend_from_slice(&now.0.to_le_bytes());
            lines += count_lines(block);
        }
        self.write_entries(first, &entries)?;
        Ok(lines)
    }

    /// Writes index entries from the block at this offset on, around the ring's edge where needed.
    fn write_entries(&self, first: u64, entries: &[u8]) -> io::Result<()> {
        let to_edge = (self.geometry.blocks - first / BLOCK % self.geometry.blocks) * ENTRY;
        let (before, after) = entries.split_at(entries.len().min(to_edge as usize));
        if !before.is_empty() {
            self.file.write_all_at(before, self.geometry.entry_at(first))?;
        }
        if !after.is_empty() {
            self.file.write_all_at(after, self.geometry.entry_at(0))?;
        }
        Ok(())
    }

    /// The offset after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many more bytes can be written without dropping anything from `from` on.
    #[must_use]
    pub fn room_from(&self, from: u64) -> u64 {
        let limit = (from / BLOCK + self.geometry.blocks) * BLOCK;
        limit.saturating_sub(self.end)
    }

    /// Notes the program's process.
    pub fn set_pid(&mut self, pid: u32) {
        self.header.set(Word::Pid, u64::from(pid));
    }

    /// Notes the terminal's size: what is appended from now on is for it.
    pub fn set_size(&mut self, size: Size) {
        if self.header.size() != size {
            // First, so that whoever has seen the size finds where it began.
            sizes::note(&self.header, self.end, size);
            self.header.set_size(size);
        }
    }

    /// Notes what the server has looked at. It never goes back.
    pub fn set_taken(&mut self, offset: u64) {
        if self.taken() < offset {
            self.header.set(Word::Taken, offset.min(self.end));
        }
    }

    /// What the server has looked at.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.header.get(Word::Taken)
    }

    /// Notes that the disk refuses and the program waits; the next append that works takes it back.
    pub fn set_stalled(&mut self) {
        self.header.set(Word::Stalled, 1);
    }

    /// Notes how the program ended: after its last byte, once.
    pub fn set_ending(&mut self, ending: Ending) {
        self.header.set_ending(ending);
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
