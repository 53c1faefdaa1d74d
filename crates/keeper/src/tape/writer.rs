//! The keeper's side of a tape.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::counters::read_until_end;
use super::header::{self, HeaderWord, TapeHeader};
use super::line_limit::{LineLimit, LineStart};
use super::times::TimeMarks;
use super::{BLOCK, ENTRY, Geometry, LEAD, echoes, sizes};
use crate::time;

/// The one writer of a tape.
#[derive(Debug)]
pub struct TapeWriter {
    file: File,
    header: TapeHeader,
    geometry: Geometry,
    end: u64,
    lines: u64,
    times: TimeMarks,
    /// When the file last had its full length, and where the output ended then.
    checked: (Time, u64),
    /// How many lines can be read, if that is limited.
    line_limit: Option<LineLimit>,
}

/// How many milliseconds pass between two checks of the file's length while bytes are appended.
const RECHECK_MS: u64 = 10;

impl TapeWriter {
    /// Makes a tape that keeps at least `capacity` bytes. Refuses to touch an existing file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: &Path, capacity: u64, started: Time) -> io::Result<Self> {
        let geometry = Geometry::keeping(capacity);
        let mut open = OpenOptions::new();
        let file = open.read(true).write(true).create_new(true).mode(0o600).open(path)?;
        file.set_len(geometry.full_len())?;
        let mut header = TapeHeader::new(geometry.blocks, started);
        let times = TimeMarks::create(&mut header, geometry);
        header.write(&file)?;
        let checked = (started, 0);
        Ok(Self { file, header, geometry, end: 0, lines: 0, times, checked, line_limit: None })
    }

    /// Limits what can be read to this many of the last lines.
    pub fn limit_lines(&mut self, most: NonZeroU64) {
        self.line_limit = Some(LineLimit::new(most));
    }

    /// Restores a tape that another process has cut: its length and its header. Output up to the
    /// last missing byte is lost. The program never waits for that output.
    ///
    /// # Errors
    /// When the disk refuses.
    fn repair(&mut self, now: Time) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length < self.geometry.full_len() {
            self.restore(length, now)?;
        }
        self.checked = (now, self.end);
        Ok(())
    }

    fn restore(&mut self, length: u64, now: Time) -> io::Result<()> {
        let lost = match self.is_as_cut(length) {
            true => self.geometry.lost_before(self.end, length),
            false => self.end,
        };
        if self.header.get(HeaderWord::First) < lost {
            self.header.set(HeaderWord::First, lost);
            self.header.set(HeaderWord::Lost, lost);
        }
        // The time marks are at the end of the file.
        self.times.discard(&mut self.header);
        if lost == self.end && !self.end.is_multiple_of(BLOCK) {
            // Lines of this block are counted from here on, because its beginning is gone: see
            // `TapeReader::line_mark`.
            self.write_entries(self.end / BLOCK * BLOCK, &entry(self.lines, now))?;
        }
        self.header.write(&self.file)?;
        // Last: if the disk has refused any of this, it is done again.
        self.file.set_len(self.geometry.full_len())
    }

    /// Whether a file that is too short was cut to this length. Otherwise bytes that were appended
    /// after the cut may have made it longer again, with a hole before them.
    fn is_as_cut(&self, length: u64) -> bool {
        let is_idle = self.checked.1 == self.end;
        let last = self.geometry.data_at(self.end.saturating_sub(1)) + 1;
        is_idle || length < self.geometry.file_len() && length != last
    }

    /// Writes the header again, and restores the tape if another process has cut it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn refresh(&mut self) -> io::Result<()> {
        self.repair(time::now())?;
        self.header.write(&self.file)
    }

    /// Continues in a new file at this path, with all that is kept, after the old file was deleted.
    ///
    /// # Errors
    /// When the path exists, or the disk refuses. The writer continues in the old file then.
    pub fn move_to(&mut self, path: &Path) -> io::Result<()> {
        self.repair(time::now())?;
        let mut open = OpenOptions::new();
        let file = open.read(true).write(true).create_new(true).mode(0o600).open(path)?;
        let copied = copy(&self.file, &file)
            .and_then(|()| file.set_len(self.geometry.full_len()))
            // Last: without a header it is no tape.
            .and_then(|()| self.header.write(&file));
        if copied.is_err() {
            let _ = fs::remove_file(path);
            return copied;
        }
        self.file = file;
        Ok(())
    }

    /// Writes the header. If the disk refuses, the next write of the header makes up for it:
    /// nothing in it is lost while the keeper runs.
    fn write_header(&mut self) {
        let _ = self.refresh();
    }

    /// Appends the beginning of these bytes and answers how many. When the disk refuses, nothing
    /// has happened, and the caller may retry later.
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
        if self.checked.0.0.saturating_add(RECHECK_MS) <= now.0 || now < self.checked.0 {
            self.repair(now)?;
        }
        let end = self.end + bytes.len() as u64;
        let first = self.geometry.first_kept(end);
        if self.header.get(HeaderWord::First) < first {
            // Before the bytes, so that a reader in the middle of them notices.
            self.header.set(HeaderWord::First, first);
            self.header.write(&self.file)?;
        }
        self.write_data(bytes)?;
        let lines = self.write_index(bytes, now)?;
        // Before readers see the bytes, so that no byte has an older one's time.
        self.times.record(&self.file, &mut self.header, self.geometry, self.end, now)?;
        self.announce(end, lines, bytes.last().is_some_and(|byte| *byte != b'\n'))
    }

    /// Publishes the bytes up to an offset to readers. `is_open` if they end inside a line.
    fn announce(&mut self, end: u64, lines: u64, is_open: bool) -> io::Result<()> {
        let first = self.geometry.first_announced(end).max(self.header.get(HeaderWord::First));
        self.header.set(HeaderWord::First, first);
        let limited = self.limited_start(LineStart { offset: end, lines }, is_open);
        if let Some(start) = limited {
            self.header.set(HeaderWord::LineStart, start.offset);
            self.header.set(HeaderWord::LinesBefore, start.lines);
        }
        self.header.set(HeaderWord::Stalled, 0);
        self.header.set(HeaderWord::Lines, lines);
        self.header.set(HeaderWord::End, end);
        let written = self.header.write(&self.file);
        if written.is_err() {
            if let Some(limit) = &self.line_limit {
                self.header.set(HeaderWord::LineStart, limit.start.offset);
                self.header.set(HeaderWord::LinesBefore, limit.start.lines);
            }
            self.header.set(HeaderWord::Lines, self.lines);
            self.header.set(HeaderWord::End, self.end);
            return written;
        }
        if let (Some(limit), Some(start)) = (&mut self.line_limit, limited) {
            limit.start = start;
        }
        self.end = end;
        self.lines = lines;
        Ok(())
    }

    /// Where the first line begins that can be read once the output ends here, if that changes.
    fn limited_start(&self, end: LineStart, is_open: bool) -> Option<LineStart> {
        let first = self.header.get(HeaderWord::First);
        let read = |at| self.bytes_from(at);
        let lines_at = |at| self.lines_at(at);
        self.line_limit.as_ref()?.start_of(end, is_open, first, read, lines_at)
    }

    /// Some bytes of the file from an offset on; none only where it was cut.
    fn bytes_from(&self, offset: u64) -> io::Result<Vec<u8>> {
        let to_edge = self.geometry.capacity() - offset % self.geometry.capacity();
        let mut bytes = vec![0; to_edge.min(4 * BLOCK) as usize];
        let read = read_until_end(&self.file, &mut bytes, self.geometry.data_at(offset))?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Line ends before the block around an offset, as the index has them.
    fn lines_at(&self, offset: u64) -> io::Result<u64> {
        let mut entry = [0; ENTRY as usize];
        self.file.read_exact_at(&mut entry, self.geometry.entry_at(offset))?;
        Ok(header::word_at(&entry, 0))
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
            entries.extend_from_slice(&entry(lines, now));
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
        let limit = (from / BLOCK + self.geometry.blocks - LEAD) * BLOCK;
        limit.saturating_sub(self.end)
    }

    /// Records the program's process id.
    pub fn set_pid(&mut self, pid: u32) {
        self.header.set(HeaderWord::Pid, u64::from(pid));
        self.write_header();
    }

    /// Records the terminal's size: what is appended from now on is for it.
    pub fn set_size(&mut self, size: Size) {
        if self.header.get(HeaderWord::Size) == sizes::pack(size) {
            return;
        }
        // First, so that a reader that has seen the size finds where it begins.
        let _ = self.repair(time::now());
        let _ = sizes::record(&mut self.header, &self.file, self.end, size);
        self.header.set_size(size);
        self.write_header();
    }

    /// Records that input is typed now, after all output so far.
    pub fn set_input(&mut self) {
        self.header.set(HeaderWord::LastInput, self.end);
        // Not `refresh`, which looks at the file's length first: this is done for every key.
        let _ = self.header.write(&self.file);
    }

    /// Records an echo of typed text, from the beginning of its line. It gets into the file with
    /// the next bytes.
    pub fn add_echo(&mut self, echo: &Range<u64>) {
        echoes::record(&mut self.header, echo);
    }

    /// Records what the server has acknowledged. It never goes back.
    pub fn set_acked(&mut self, offset: u64) {
        if self.taken() < offset {
            self.header.set(HeaderWord::Acked, offset.min(self.end));
            self.write_header();
        }
    }

    /// What the server has acknowledged.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.header.get(HeaderWord::Acked)
    }

    /// Records that the disk refuses and the program waits; the next append that works clears it.
    pub fn set_stalled(&mut self) {
        self.header.set(HeaderWord::Stalled, 1);
        self.write_header();
    }

    /// Records how the program ended: after its last byte, once.
    pub fn set_ending(&mut self, ending: ExitRecord) {
        self.header.set_ending(ending);
        self.write_header();
    }
}

/// Copies a file's data behind its header, and none of its holes.
fn copy(from: &File, to: &File) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut at = super::header::LEN;
    loop {
        match seek(from, SeekFrom::Data(at)) {
            Ok(data) => at = data,
            Err(Errno::NXIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let hole = seek(from, SeekFrom::Hole(at))?;
        while at < hole {
            let most = buffer.len().min(usize::try_from(hole - at).unwrap_or(usize::MAX));
            let read = from.read_at(&mut buffer[..most], at)?;
            if read == 0 {
                return Ok(());
            }
            to.write_all_at(&buffer[..read], at)?;
            at += read as u64;
        }
    }
}

/// An entry of the index.
fn entry(lines: u64, now: Time) -> [u8; ENTRY as usize] {
    let mut entry = [0; ENTRY as usize];
    entry[..8].copy_from_slice(&lines.to_le_bytes());
    entry[8..].copy_from_slice(&now.0.to_le_bytes());
    entry
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
