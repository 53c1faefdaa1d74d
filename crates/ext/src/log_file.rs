//! The log of an extension: what it writes to standard error, in a file of bounded size.
//!
//! Offsets count the bytes since the log was opened, and continue when the file is rotated.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::folders::{Folders, make_private};

/// A file that has reached this size becomes the previous one, which is then deleted.
const LARGEST: u64 = 1 << 20;
/// The most text in one answer.
const LONGEST_TEXT: u64 = 256 << 10;

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogPart {
    pub(crate) text: String,
    /// Where to read on.
    pub(crate) next: u64,
}

/// The log of one extension.
pub struct LogFile {
    path: PathBuf,
    writer: Mutex<LogWriter>,
    /// The offset of the end.
    end: watch::Sender<u64>,
}

struct LogWriter {
    file: File,
    /// The offset of the first byte of the file.
    start: u64,
    length: u64,
    /// The length of the previous file.
    previous: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        path.parent().map_or(Ok(()), make_private)?;
        let file = open_to_append(path)?;
        let length = file.metadata()?.len();
        let previous = fs::metadata(previous_path(path)).map_or(0, |found| found.len());
        let writer = LogWriter { file, start: previous, length, previous };
        let end = watch::Sender::new(writer.end());
        Ok(Self { path: path.to_owned(), writer: Mutex::new(writer), end })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends text, which should be whole lines.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&self, text: &[u8]) -> io::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if LARGEST < writer.length + text.len() as u64 && 0 < writer.length {
            writer.rotate(&self.path)?;
        }
        writer.file.write_all(text)?;
        writer.length += text.len() as u64;
        self.end.send_replace(writer.end());
        Ok(())
    }

    /// The offset of the end, as it changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.end.subscribe()
    }

    /// The last lines.
    pub(crate) fn tail(&self, lines: usize) -> io::Result<LogPart> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let end = writer.end();
        let from = end.saturating_sub(LONGEST_TEXT).max(writer.first());
        let bytes = writer.read(&self.path, from)?;
        // A line whose beginning was not read is left out.
        let cut = if writer.first() < from { after_newline(&bytes) } else { 0 };
        Ok(LogPart { text: last_lines(&bytes[cut..], lines), next: end })
    }

    /// The lines from this offset on; from the first one that is kept, where that is later.
    pub(crate) fn after(&self, offset: u64) -> io::Result<LogPart> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // An offset of an earlier run of the server may be beyond the end.
        let from = if writer.end() < offset { writer.first() } else { offset.max(writer.first()) };
        let mut bytes = writer.read(&self.path, from)?;
        if LONGEST_TEXT < bytes.len() as u64 {
            bytes.truncate(LONGEST_TEXT as usize);
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.truncate(whole);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(LogPart { text, next: from + bytes.len() as u64 })
    }
}

impl LogWriter {
    fn end(&self) -> u64 {
        self.start + self.length
    }

    /// The offset of the first byte that is kept.
    fn first(&self) -> u64 {
        self.start.saturating_sub(self.previous)
    }

    fn rotate(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(path, previous_path(path))?;
        self.file = open_to_append(path)?;
        self.start += self.length;
        self.previous = self.length;
        self.length = 0;
        Ok(())
    }

    /// The bytes from this offset on, which must be kept.
    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if from < self.start {
            let mut previous = File::open(previous_path(path))?;
            previous.seek(SeekFrom::Start(from - self.first()))?;
            previous.take(self.start - from).read_to_end(&mut bytes)?;
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from.saturating_sub(self.start)))?;
        file.take(self.length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn open_to_append(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).mode(0o600).open(path)
}

fn previous_path(path: &Path) -> PathBuf {
    path.with_extension("1")
}

fn after_newline(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn last_lines(bytes: &[u8], lines: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    all[all.len().saturating_sub(lines)..].concat()
}

/// The logs of all extensions, opened when they are needed.
pub struct Logs {
    folders: Folders,
    open: Mutex<HashMap<String, Arc<LogFile>>>,
}

impl Logs {
    /// The logs in these folders.
    #[must_use]
    pub fn new(folders: Folders) -> Self {
        Self { folders, open: Mutex::default() }
    }

    /// The log of an extension, which is made if it does not exist.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn of(&self, name: &str) -> io::Result<Arc<LogFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = open.get(name) {
            return Ok(log.clone());
        }
        let log = Arc::new(LogFile::open(&self.folders.log(name))?);
        open.insert(name.to_owned(), log.clone());
        Ok(log)
    }

    /// Forgets the log of an extension that was removed.
    pub(crate) fn forget(&self, name: &str) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &tempfile::TempDir) -> LogFile {
        LogFile::open(&dir.path().join("x/log")).unwrap()
    }

    #[test]
    fn the_last_lines_are_shown_and_later_ones_follow() {
        let dir = tempfile::tempdir().unwrap();
        let log = open(&dir);
        log.append(b"one\ntwo\nthree\n").unwrap();
        let tail = log.tail(2).unwrap();
        assert_eq!(tail.text, "two\nthree\n");
        assert_eq!(log.after(tail.next).unwrap(), LogPart { text: String::new(), next: tail.next });
        log.append(b"four\n").unwrap();
        assert_eq!(log.after(tail.next).unwrap().text, "four\n");
        // Another server continues the file.
        assert_eq!(open(&dir).tail(2).unwrap().text, "three\nfour\n");
        assert_eq!(open(&dir).after(1 << 40).unwrap().text, "one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn the_file_is_bounded_and_offsets_continue() {
        let dir = tempfile::tempdir().unwrap();
        let log = open(&dir);
        let line = [&[b'x'; 99][..], b"\n"].concat();
        let mut read = 0;
        let mut next = 0;
        for _ in 0..100 {
            for _ in 0..400 {
                log.append(&line).unwrap();
            }
            let part = log.after(next).unwrap();
            read += part.text.len();
            next = part.next;
        }
        assert_eq!(read, 4_000_000, "a reader that keeps up misses nothing");
        let on_disk: u64 = fs::read_dir(dir.path().join("x"))
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(on_disk <= 2 * LARGEST, "{on_disk}");
        let tail = log.tail(50_000).unwrap();
        assert!(tail.text.len() as u64 <= LONGEST_TEXT && tail.text.starts_with('x'));
        // A reader that was away gets what is kept, in parts.
        let part = log.after(0).unwrap();
        assert!(part.text.ends_with('\n') && part.text.len() as u64 <= LONGEST_TEXT);
        assert!(part.next < next);
    }
}
