//! Saves what can be read of a damaged database into a fresh one, and moves the damaged files aside.
//!
//! It keeps every event and record whose row can be reached and matches its sum; what is missing between them
//! is a hole that readers are told of. It never changes the damaged files and never overwrites earlier ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use paned_model::EventId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::check::beside;
use super::high::Mark;
use super::rows::{self, State};
use super::{Error, Recovery};

/// How far to jump when nothing tells which ids were given: more than anyone lost.
const LEAP_OF_FAITH: u64 = 1 << 20;

/// Puts a fresh database in the place of the damaged one.
pub(super) fn rebuild(path: &Path, mark: Option<&Mark>, cause: &Error) -> Result<Recovery, Error> {
    resume(path)?;
    let fresh = beside(path, ".new");
    let saved = copy(path, &fresh, mark)?;
    File::open(&fresh)?.sync_all()?;
    let aside = move_aside(path)?;
    fs::rename(&fresh, path)?;
    tracing::error!(%cause, kept = saved.count, ?aside, "the journal was damaged and rebuilt");
    let last = (saved.count > 0).then_some(saved.last);
    Ok(Recovery { cause: cause.to_string(), kept: saved.count, last, aside })
}

/// Goes on with a rebuild that was cut short: without a database, the fresh one is complete.
pub(super) fn resume(path: &Path) -> io::Result<()> {
    let fresh = beside(path, ".new");
    if fresh.exists() && !path.exists() {
        return fs::rename(fresh, path);
    }
    remove(&fresh)
}

/// Copies what can be read. Answers the last event that was, and how many.
fn copy(from: &Path, to: &Path, mark: Option<&Mark>) -> Result<State, Error> {
    let mut fresh = Connection::open(to)?;
    fresh.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    rows::create(&fresh)?;
    let writing = fresh.transaction()?;
    let saved = match source(from)? {
        Some(damaged) => copy_rows(&damaged, &writing)?,
        None => State::default(),
    };
    let reserved = mark.map_or(EventId(saved.last.0 + LEAP_OF_FAITH), |mark| mark.reserved);
    rows::set_state(&writing, State { last: saved.last.max(reserved), ..saved })?;
    writing.commit()?;
    fresh.close().map_err(|(_, error)| error)?;
    Ok(saved)
}

/// Opens the damaged database, if there is anything in it.
fn source(path: &Path) -> Result<Option<Connection>, Error> {
    // SQLite would delete the log of an empty file.
    if fs::metadata(path).map_or(0, |found| found.len()) == 0 {
        return Ok(None);
    }
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without this SQLite refuses all of a file that is shorter than its header says.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
    Ok(Some(db))
}

fn copy_rows(damaged: &Connection, fresh: &Connection) -> Result<State, Error> {
    let mut saved = State::default();
    sweep(
        |row| rows::entry_after(damaged, row),
        |entry| {
            saved = State { last: entry.id, count: saved.count + 1 };
            rows::put_entries(fresh, [&entry])
        },
    )?;
    sweep(
        |row| rows::record_after(damaged, row),
        |record| rows::put_record(fresh, [&record.kind, &record.key, &record.value]),
    )?;
    Ok(saved)
}

/// Walks a table in the order of its row numbers and steps over what cannot be read.
fn sweep<T>(
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
            Err(error) if error.is_damage() => match leap(at.max(0), |row| next(row).is_ok()) {
                Some(row) => at = row,
                None => return Ok(()),
            },
            Err(error) => return Err(error),
        }
    }
}

/// The least row number after this one from which reading works: doubles the stride until it does, then
/// halves it, so that a damaged page costs a few dozen seeks.
pub(super) fn leap(at: i64, is_readable: impl Fn(i64) -> bool) -> Option<i64> {
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

/// Renames the database and its log to the first free `.damaged-<n>`.
fn move_aside(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let names = (1_u64..).map(|n| beside(path, &format!(".damaged-{n}")));
    let is_free = |name: &PathBuf| !name.exists() && !beside(name, "-wal").exists();
    let aside = names.into_iter().find(is_free).unwrap_or_default();
    remove(&beside(path, "-shm"))?;
    // The log first: a log beside a database that it does not belong to would spoil the fresh one.
    let moves = [(beside(path, "-wal"), beside(&aside, "-wal")), (path.to_owned(), aside)];
    let mut moved = Vec::new();
    for (from, to) in moves.into_iter().filter(|(from, _)| from.exists()) {
        fs::rename(from, &to)?;
        moved.push(to);
    }
    Ok(moved)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
