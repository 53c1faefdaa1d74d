//! Checks the files before SQLite opens them: whether there is a database, and whether it can be
//! complete.
//!
//! Cheap, because it runs at every start: it reads the header, and the write-ahead log only when
//! the file is short. Damage inside a page is found later, by SQLite or by a row's checksum.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Error;

/// The page size of our databases.
const PAGE: usize = 4096;
const HEADER: usize = 100;
/// The bytes of a log's header, and of the header before each page.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// What is at the journal's path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JournalFileState {
    /// No database yet.
    Fresh,
    /// A database whose size fits its header.
    Present,
}

/// Checks the files. A foreign header is damage, and so are pages that neither the file nor the log
/// has.
pub(super) fn inspect_files(path: &Path) -> Result<JournalFileState, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(JournalFileState::Fresh);
        }
        Err(error) => return Err(error.into()),
    };
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(JournalFileState::Fresh);
    }
    let mut header = [0; HEADER];
    file.read_exact(&mut header).map_err(|_| Error::Damaged("the header is truncated"))?;
    let pages = page_count(&header)?;
    let present = u32::try_from(len / PAGE as u64).unwrap_or(u32::MAX);
    // A kill in the middle of a checkpoint leaves a short file whose other pages are still in the
    // log.
    if present < pages && !wal_has(path, present + 1..=pages)? {
        return Err(Error::Damaged("the file is truncated"));
    }
    Ok(JournalFileState::Present)
}

/// The page count in the header, if the header is one of ours.
fn page_count(header: &[u8; HEADER]) -> Result<u32, Error> {
    let version = header[18];
    let ours = header.starts_with(b"SQLite format 3\0")
        && header[16..18] == [0x10, 0]
        && (1..=2).contains(&version)
        && header[19] == version
        && header[20..24] == [0, 64, 32, 32];
    if !ours {
        return Err(Error::Damaged("the header is not that of a paned journal"));
    }
    Ok(number(&header[28..32]))
}

/// Whether there is a write-ahead log with anything in it.
pub(super) fn has_wal(path: &Path) -> bool {
    fs::metadata(with_suffix(path, "-wal"))
        .is_ok_and(|log| LOG_HEADER < usize::try_from(log.len()).unwrap_or(0))
}

/// Whether the write-ahead log holds all these pages.
fn wal_has(path: &Path, mut pages: impl Iterator<Item = u32>) -> Result<bool, Error> {
    let log = match fs::read(with_suffix(path, "-wal")) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let frames = log.get(LOG_HEADER..).unwrap_or_default().chunks_exact(FRAME_HEADER + PAGE);
    let held: HashSet<u32> = frames.map(|frame| number(&frame[..4])).collect();
    Ok(pages.all(|page| held.contains(&page)))
}

/// A big-endian number of four bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// The path with something appended to its name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
