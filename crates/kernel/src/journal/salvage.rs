//! Copies what can be read of a damaged database into a fresh one, and moves the damaged files
//! aside.
//!
//! First it merges the pages of the write-ahead log into those of the file, and SQLite reads what
//! its trees reach. Then it parses every page without SQLite, for events that no tree reaches:
//! after a lost file or a damaged log there may be no tree at all. It keeps every event and record
//! that matches its checksum; what is missing between them is a gap that readers report. It never
//! changes the damaged files and never overwrites earlier ones.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use paned_model::{EventId, Time};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::check::with_suffix;
use super::high_water::HighWaterMark;
use super::leaf::{self, RecoveredRow};
use super::rows::{self, JournalStateRow};
use super::wal::{PAGE, WalFile};
use super::{Error, JournalRecovery};

/// How far to jump where the clock is behind the remaining ids: more than can have been lost.
const ID_JUMP: u64 = 1 << 20;
/// How many pages a log may have beyond the end of the file.
const MAX_PAGES_BEYOND: u32 = 1 << 20;

/// Replaces the damaged database by a fresh one.
pub(super) fn rebuild(
    path: &Path,
    live: Option<&Connection>,
    mark: Option<&HighWaterMark>,
    cause: &Error,
) -> Result<JournalRecovery, Error> {
    resume(path)?;
    let (saved, number) = build(path, live, mark)?;
    let aside = replace(path, number)?;
    tracing::error!(%cause, kept = saved.count, ?aside, "the journal was damaged and rebuilt");
    let last = (saved.count > 0).then_some(saved.last);
    Ok(JournalRecovery { cause: cause.to_string(), kept: saved.count, last, damaged_files: aside })
}

/// Builds the fresh database. Once it is complete its name says so, and says where the damaged
/// files go: from then on an interrupted rebuild is finished, before that it is begun again.
pub(super) fn build(
    path: &Path,
    live: Option<&Connection>,
    mark: Option<&HighWaterMark>,
) -> Result<(JournalStateRow, u64), Error> {
    let fresh = with_suffix(path, ".new");
    let saved = copy(path, live, &fresh, mark)?;
    File::open(&fresh)?.sync_all()?;
    let is_free = |number: &u64| {
        let aside = damaged_file(path, *number);
        !aside.exists() && !with_suffix(&aside, "-wal").exists()
    };
    let number = (1..).find(is_free).unwrap_or(u64::MAX);
    fs::rename(&fresh, rebuilt_file(path, number))?;
    Ok((saved, number))
}

/// Finishes a rebuild that was interrupted after the fresh database was complete; removes an
/// incomplete one.
pub(super) fn resume(path: &Path) -> io::Result<()> {
    remove(&with_suffix(path, ".new"))?;
    match rebuilt_number(path)? {
        Some(number) => replace(path, number).map(drop),
        None => Ok(()),
    }
}

/// Renames the database and its log to the damaged files of this number, and the complete database
/// of this number to the database. Can be interrupted anywhere, and is then done again.
fn replace(path: &Path, number: u64) -> io::Result<Vec<PathBuf>> {
    let aside = damaged_file(path, number);
    remove(&with_suffix(path, "-shm"))?;
    // The log first: a log beside a database that it does not belong to would corrupt the fresh
    // one.
    let moves =
        [(with_suffix(path, "-wal"), with_suffix(&aside, "-wal")), (path.to_owned(), aside)];
    let mut moved = Vec::new();
    for (from, to) in moves.into_iter().filter(|(from, _)| from.exists()) {
        fs::rename(from, &to)?;
        moved.push(to);
    }
    fs::rename(rebuilt_file(path, number), path)?;
    Ok(moved)
}

fn damaged_file(path: &Path, number: u64) -> PathBuf {
    with_suffix(path, &format!(".damaged-{number}"))
}

/// A fresh database that is complete and has not replaced the damaged one yet.
pub(super) fn rebuilt_file(path: &Path, number: u64) -> PathBuf {
    with_suffix(path, &format!(".rebuilt-{number}"))
}

/// The number of a complete database that an interrupted rebuild has left.
fn rebuilt_number(path: &Path) -> io::Result<Option<u64>> {
    let prefix = with_suffix(path, ".rebuilt-");
    let (Some(folder), Some(prefix)) = (path.parent(), prefix.file_name()) else {
        return Ok(None);
    };
    let files = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        files => files?,
    };
    let prefix = prefix.to_string_lossy();
    let numbers = files.filter_map(|file| {
        let name = file.ok()?.file_name();
        name.to_str()?.strip_prefix(&*prefix)?.parse().ok()
    });
    Ok(numbers.min())
}

/// Copies what can be read: through a connection that is still open to deleted files, or from the
/// files. Returns the last event and the number of events.
fn copy(
    from: &Path,
    live: Option<&Connection>,
    to: &Path,
    mark: Option<&HighWaterMark>,
) -> Result<JournalStateRow, Error> {
    let mut fresh = Connection::open(to)?;
    fresh.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    rows::create(&fresh)?;
    let transaction = fresh.transaction()?;
    match live {
        Some(live) => copy_rows(live, &transaction)?,
        None => copy_files(from, &transaction)?,
    }
    rows::delete_revoked_grants(&transaction)?;
    let saved = rows::count_events(&transaction)?;
    let reserved =
        mark.map_or_else(|| id_from_clock(saved.last, super::wall_clock()), |mark| mark.reserved);
    rows::set_state(&transaction, JournalStateRow { last: saved.last.max(reserved), ..saved })?;
    transaction.commit()?;
    fresh.close().map_err(|(_, error)| error)?;
    Ok(saved)
}

/// The id to continue after when it is unknown which were assigned: microseconds since 1970. That
/// is more than any id before it: ids begin at 1 or at an earlier such time, and fewer than a
/// million events are recorded in a second. So a second loss reuses no id either, however soon it
/// comes. It stays below 2^53, up to which JSON numbers are exact, until 2255. Only a clock that
/// was set back is behind the remaining ids.
fn id_from_clock(last: EventId, now: Time) -> EventId {
    let clock = EventId(now.0.saturating_mul(1000));
    if last < clock { clock } else { EventId(last.0 + ID_JUMP) }
}

fn copy_files(from: &Path, fresh: &Connection) -> Result<(), Error> {
    let log = fs::read(with_suffix(from, "-wal")).unwrap_or_default();
    let log = WalFile::read(&log);
    let pages = Pages { file: File::open(from).ok(), newer: log.pages() };
    let merged = with_suffix(from, ".merged");
    if pages.write(&merged)? {
        let copied = open_damaged(&merged).and_then(|damaged| copy_rows(&damaged, fresh));
        for suffix in ["", "-wal", "-shm", "-journal"] {
            remove(&with_suffix(&merged, suffix))?;
        }
        copied?;
    }
    copy_orphan_rows(&log, &pages, fresh)
}

/// Copies the rows that no tree reaches. Records only if no tree reaches any: an old page may hold
/// one that was deleted since.
fn copy_orphan_rows(log: &WalFile<'_>, pages: &Pages<'_>, fresh: &Connection) -> Result<(), Error> {
    let has_records = rows::record_after(fresh, i64::MIN)?.is_some();
    let page_at = |number: u32| pages.get(number);
    let keep = |content: &[u8], is_newest: bool| {
        for found in leaf::rows(content, &page_at) {
            match found {
                RecoveredRow::Event(entry) => drop(rows::add_entry(fresh, &entry)?),
                RecoveredRow::Record(record) if is_newest && !has_records => {
                    rows::add_record(fresh, &record)?;
                }
                RecoveredRow::Record(_) => {}
            }
        }
        Ok::<_, Error>(())
    };
    for number in 1..=pages.count() {
        if let Some(content) = pages.get(number) {
            keep(&content, true)?;
        }
    }
    log.newest_first().try_for_each(|frame| keep(frame.content, false))
}

/// The pages of a database: its file, and the newer ones of the log.
struct Pages<'a> {
    file: Option<File>,
    newer: HashMap<u32, &'a [u8]>,
}

impl Pages<'_> {
    fn in_file(&self) -> u32 {
        let length =
            self.file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |it| it.len());
        u32::try_from(length / PAGE as u64).unwrap_or(u32::MAX)
    }

    /// The greatest page number, without absurd ones of damaged frames.
    fn count(&self) -> u32 {
        let limit = self.in_file().saturating_add(MAX_PAGES_BEYOND);
        let newer = self.newer.keys().copied().filter(|number| *number <= limit);
        newer.max().unwrap_or(0).max(self.in_file())
    }

    fn get(&self, number: u32) -> Option<Vec<u8>> {
        if let Some(content) = self.newer.get(&number) {
            return Some(content.to_vec());
        }
        let at = u64::from(number.checked_sub(1)?) * PAGE as u64;
        let mut content = vec![0; PAGE];
        self.file.as_ref()?.read_exact_at(&mut content, at).ok()?;
        Some(content)
    }

    /// Writes all of them into one file. Returns whether SQLite may be able to read it: without the
    /// first page it cannot.
    fn write(&self, path: &Path) -> Result<bool, Error> {
        remove(path)?;
        if self.get(1).is_none() {
            return Ok(false);
        }
        let to = File::create(path)?;
        for number in 1..=self.count() {
            let content = self.get(number).unwrap_or_else(|| vec![0; PAGE]);
            to.write_all_at(&content, u64::from(number - 1) * PAGE as u64)?;
        }
        Ok(true)
    }
}

/// Opens the damaged database.
fn open_damaged(path: &Path) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without this SQLite rejects a file that is shorter than its header says.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
    Ok(db)
}

fn copy_rows(damaged: &Connection, fresh: &Connection) -> Result<(), Error> {
    scan_table(|row| rows::entry_after(damaged, row), |entry| rows::put_entries(fresh, [&entry]))?;
    scan_table(
        |row| rows::record_after(damaged, row),
        |record| rows::put_record(fresh, [&record.kind, &record.key, &record.value]),
    )
}

/// Scans a table in the order of its row numbers and skips what cannot be read.
fn scan_table<T>(
    next: impl Fn(i64) -> Result<Option<(i64, T)>, Error>,
    mut keep: impl FnMut(T) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut at = i64::MIN;
    loop {
        match next(at) {
            Ok(Some((row, item))) => {
                keep(item)?;
                at = row;
            }
            Ok(None) => return Ok(()),
            Err(error) if error.is_damage() => {
                match skip_damage(at.max(0), |row| next(row).is_ok()) {
                    Some(row) => at = row,
                    None => return Ok(()),
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// The least row number after this one from which reading works: doubles the stride until it does,
/// then bisects, so that a damaged page costs a few dozen seeks.
pub(super) fn skip_damage(at: i64, is_readable: impl Fn(i64) -> bool) -> Option<i64> {
    let mut good = (0..63).map(|bit| at.saturating_add(1 << bit)).find(|row| is_readable(*row))?;
    let mut bad = at + (good - at) / 2;
    while bad + 1 < good {
        let middle = bad + (good - bad) / 2;
        match is_readable(middle) {
            true => good = middle,
            false => bad = middle,
        }
    }
    Some(good)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_losses_close_together_give_no_id_again() {
        let now = Time(1_800_000_000_000);
        // The mark is lost, and then all of it: a millisecond later nothing but the clock is left.
        let first = id_from_clock(EventId(3000), now);
        let second = id_from_clock(EventId(0), Time(now.0 + 1));
        assert!(first.0 + 900 < second.0, "{first:?} {second:?}");
        // Twice the mark, in a row.
        let again = id_from_clock(EventId(first.0 + 900), Time(now.0 + 1));
        assert!(again < id_from_clock(EventId(0), Time(now.0 + 2)), "{again:?}");
        // A clock that was set back.
        assert!(again < id_from_clock(again, Time(0)));
        assert!(again.0 < 1 << 53);
    }
}
