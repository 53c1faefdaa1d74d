//! The embedded store: one SQLite file in WAL mode, one connection that writes and one that reads.
//!
//! A file that turns out to be damaged, at the start or at a write, is rebuilt from what can be
//! read of it. A read skips damage and leaves it alone: only the writer rebuilds. On a full disk
//! the file is read without the shared-memory file that SQLite would have to allocate; the first
//! write that finds space opens it properly.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paned_model::EventId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::check::{self, JournalFileState};
use super::high_water::{HighWaterFile, HighWaterMark};
use super::rows::{self, JournalStateRow};
use super::salvage;
use super::store::{CommitGroup, EventRange, Store};
use super::{Error, JournalEntry, JournalRecovery, JournalRetention, OpenedJournal, lock};

/// `secure_delete`: the text of a removed pane must not stay in a free page. The cache is small
/// because the tail serves nearly all reads; the log is truncated after a flood.
const SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -512;
    PRAGMA journal_size_limit = 8388608;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;
    PRAGMA trusted_schema = OFF;";
/// For users who open the file with another tool.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// After how many written bytes the size of the file is measured again.
const MEASURED_EVERY: usize = 256 << 10;
/// How many events beyond `keep` are worth a trimming transaction.
const TRIM_SLACK: u64 = 1024;

const NOT_REBUILT: Error = Error::Damaged("it could not be rebuilt yet");

/// See the module.
pub(super) struct SqliteStore {
    path: PathBuf,
    writer: Mutex<WriterState>,
    /// Locked after `writer`, where both are.
    reader: Mutex<ReaderState>,
}

enum WriterState {
    Open(SqliteWriter),
    /// The disk was too full to open it for writing: the next write retries.
    Unopened,
    /// Damaged, and the rebuild failed: the next write retries.
    Broken,
    Closed,
}

enum ReaderState {
    Open(Connection),
    /// There is nothing to read from at present.
    Absent,
    Closed,
}

struct SqliteWriter {
    db: Connection,
    state: JournalStateRow,
    high_water: HighWaterFile,
    /// The file that was opened.
    file: FileId,
    /// Bytes written since the size of the file was last measured.
    unmeasured: usize,
}

/// Distinguishes a file from another that replaced it at its path.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(path: &Path) -> Result<Self, Error> {
        let found = std::fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

impl SqliteStore {
    /// Opens or creates the file; rebuilds it when it is damaged.
    pub(super) fn open(path: &Path, must_exist: bool) -> Result<(Self, OpenedJournal), Error> {
        match Self::open_writable(path, must_exist) {
            Err(error) if error.is_disk_full() => {
                tracing::error!(%error, "the journal is opened for reading only");
                Self::open_unwritable(path).map_err(|_| error)
            }
            opened => opened,
        }
    }

    fn open_writable(path: &Path, must_exist: bool) -> Result<(Self, OpenedJournal), Error> {
        let (writer, recovery) = SqliteWriter::open_or_rebuild(path, must_exist)?;
        let opened = describe(&writer.db, writer.state.last, recovery)?;
        let reader = Mutex::new(ReaderState::Open(connect(path)?));
        let writer = Mutex::new(WriterState::Open(writer));
        Ok((Self { path: path.to_owned(), writer, reader }, opened))
    }

    /// Opens what exists on a full disk, for reading.
    fn open_unwritable(path: &Path) -> Result<(Self, OpenedJournal), Error> {
        let mark = HighWaterMark::load(path);
        let db = (check::inspect_files(path)? == JournalFileState::Present)
            .then(|| open_for_reading(path))
            .transpose()?;
        let opened = match &db {
            Some(db) => {
                let last = last_assigned(examine(db, mark.as_ref())?.last, mark.as_ref());
                describe(db, last, None)?
            }
            None => {
                let last = last_assigned(EventId(0), mark.as_ref());
                OpenedJournal { records: Vec::new(), first: None, last, recovery: None }
            }
        };
        let writer = Mutex::new(WriterState::Unopened);
        let reader = Mutex::new(db.map_or(ReaderState::Absent, ReaderState::Open));
        Ok((Self { path: path.to_owned(), writer, reader }, opened))
    }

    /// Opens for writing what could not be opened at the start because the disk was full.
    fn open_late(&self, writing: &mut WriterState) -> Result<(), Error> {
        let mut reading = lock(&self.reader);
        // The reader holds an exclusive lock on the file: close it first.
        *reading = ReaderState::Absent;
        let opened = SqliteWriter::open_or_rebuild(&self.path, false)
            .and_then(|(writer, _)| Ok((writer, connect(&self.path)?)));
        match opened {
            Ok((writer, reader)) => {
                *reading = ReaderState::Open(reader);
                *writing = WriterState::Open(writer);
                Ok(())
            }
            Err(error) => {
                *reading =
                    open_for_reading(&self.path).map_or(ReaderState::Absent, ReaderState::Open);
                Err(error)
            }
        }
    }

    /// Runs a write; when it meets damage, once more after a rebuild.
    fn write(&self, act: impl Fn(&mut SqliteWriter) -> Result<(), Error>) -> Result<(), Error> {
        let mut writing = lock(&self.writer);
        if matches!(*writing, WriterState::Unopened) {
            self.open_late(&mut writing)?;
        }
        let damage = match writing.with_writer(&act) {
            Err(error) if error.is_damage() => error,
            done => return done,
        };
        self.rebuild(&mut writing, damage)?;
        writing.with_writer(&act)
    }

    /// Replaces the damaged file. Readers wait meanwhile, on blocking threads.
    fn rebuild(&self, writing: &mut WriterState, cause: Error) -> Result<(), Error> {
        let mut reading = lock(&self.reader);
        *reading = ReaderState::Absent;
        // Close the connection before its files are moved, unless they were deleted and only it can
        // still read them.
        let before = std::mem::replace(writing, WriterState::Broken);
        let (live, mark) = match before {
            WriterState::Open(writer) if matches!(cause, Error::Removed) => {
                (Some(writer.db), Some(HighWaterMark::at(writer.state.last)))
            }
            // All ids are known here, so none needs to be skipped.
            _ => (
                None,
                HighWaterMark::load(&self.path).map(|mark| HighWaterMark::at(mark.committed)),
            ),
        };
        let (writer, _) = SqliteWriter::rebuild(&self.path, live.as_ref(), mark, &cause)?;
        *reading = ReaderState::Open(connect(&self.path)?);
        *writing = WriterState::Open(writer);
        Ok(())
    }
}

impl Store for SqliteStore {
    fn is_instant(&self) -> bool {
        false
    }

    fn append(&self, group: &CommitGroup) -> Result<(), Error> {
        self.write(|writer| {
            writer.check_file(&self.path)?;
            writer.append(group)
        })
    }

    fn read(&self, mut range: EventRange) -> Result<Vec<Arc<JournalEntry>>, Error> {
        let reading = lock(&self.reader);
        let db = match &*reading {
            ReaderState::Open(db) => db,
            ReaderState::Absent => return Ok(Vec::new()),
            ReaderState::Closed => return Err(Error::Closed),
        };
        let mut entries = Vec::new();
        while let Err(error) = rows::entries(db, range, &mut entries) {
            if !error.is_damage() {
                return Err(error);
            }
            let after = entries.last().map_or(range.after, |entry| entry.id);
            tracing::error!(%error, %after, "events of the journal cannot be read");
            if !entries.is_empty() {
                break;
            }
            let Some(next) = skip_damage(db, after) else { break };
            range.after = next;
        }
        Ok(entries)
    }

    fn trim(&self, keep: JournalRetention) -> Result<(), Error> {
        self.write(|writer| writer.trim(keep))
    }

    fn close(&self) -> Result<(), Error> {
        *lock(&self.reader) = ReaderState::Closed;
        match std::mem::replace(&mut *lock(&self.writer), WriterState::Closed) {
            WriterState::Open(writer) => writer.close(),
            WriterState::Broken => Err(NOT_REBUILT),
            WriterState::Unopened | WriterState::Closed => Ok(()),
        }
    }
}

impl WriterState {
    fn with_writer(
        &mut self,
        act: impl Fn(&mut SqliteWriter) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Open(writer) => act(writer),
            Self::Broken | Self::Unopened => Err(NOT_REBUILT),
            Self::Closed => Err(Error::Closed),
        }
    }
}

impl SqliteWriter {
    fn open_or_rebuild(
        path: &Path,
        must_exist: bool,
    ) -> Result<(Self, Option<JournalRecovery>), Error> {
        salvage::resume(path)?;
        // Reads the records, too: damage in them is then found at the start.
        let opened = Self::open(path, must_exist).and_then(|writer| {
            rows::records(&writer.db)?;
            Ok(writer)
        });
        match opened {
            Err(error) if error.is_damage() => {
                let (writer, recovery) =
                    Self::rebuild(path, None, HighWaterMark::load(path), &error)?;
                Ok((writer, Some(recovery)))
            }
            opened => Ok((opened?, None)),
        }
    }

    fn open(path: &Path, must_exist: bool) -> Result<Self, Error> {
        let is_fresh = check::inspect_files(path)? == JournalFileState::Fresh;
        let mark = match HighWaterMark::load(path) {
            // The mark is created first: a database without one has lost it, and with it the ids
            // that only the mark knew.
            None if is_fresh && !must_exist && !check::has_wal(path) => {
                HighWaterFile::create(path, HighWaterMark::at(EventId(0)))?;
                HighWaterMark::load(path)
            }
            None if is_fresh => return Err(Error::Damaged("the journal's files are missing")),
            None => return Err(Error::Damaged("the high-water file is missing or damaged")),
            Some(mark) => Some(mark),
        };
        let has_events = mark.as_ref().is_some_and(|mark| mark.committed > EventId(0));
        if is_fresh && (has_events || check::has_wal(path)) {
            return Err(Error::Damaged("the file is missing or empty"));
        }
        let db = connect(path)?;
        if is_fresh {
            rows::create(&db)?;
        }
        rows::upgrade(&db)?;
        let state = examine(&db, mark.as_ref())?;
        Self::start(path, db, state, mark)
    }

    /// Continues after the last id, or after all reserved ones when commits may have been lost.
    fn start(
        path: &Path,
        db: Connection,
        found: JournalStateRow,
        mark: Option<HighWaterMark>,
    ) -> Result<Self, Error> {
        let state = JournalStateRow { last: last_assigned(found.last, mark.as_ref()), ..found };
        if state != found {
            rows::set_state(&db, state)?;
        }
        let high_water = HighWaterFile::create(path, HighWaterMark::at(state.last))?;
        let file = FileId::of(path)?;
        Ok(Self { db, state, high_water, file, unmeasured: usize::MAX })
    }

    fn rebuild(
        path: &Path,
        live: Option<&Connection>,
        mark: Option<HighWaterMark>,
        cause: &Error,
    ) -> Result<(Self, JournalRecovery), Error> {
        let recovery = salvage::rebuild(path, live, mark.as_ref(), cause)?;
        let db = connect(path)?;
        rows::upgrade(&db)?;
        let state = rows::state(&db)?;
        Ok((Self::start(path, db, state, None)?, recovery))
    }

    /// Fails when the file is no longer at its path: writes to it would be lost at a restart.
    fn check_file(&self, path: &Path) -> Result<(), Error> {
        match FileId::of(path) {
            Ok(found) if found == self.file => Ok(()),
            Ok(_) => Err(Error::Removed),
            Err(Error::File(error)) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::Removed)
            }
            Err(error) => Err(error),
        }
    }

    fn append(&mut self, group: &CommitGroup) -> Result<(), Error> {
        let last = group.entries.last().map_or(self.state.last, |entry| entry.id);
        self.high_water.reserve(last)?;
        let state = JournalStateRow { last, count: self.state.count + group.entries.len() as u64 };
        let transaction = self.db.transaction()?;
        rows::put_entries(&transaction, group.entries.iter().map(AsRef::as_ref))?;
        for (_, change) in &group.changes {
            rows::apply(&transaction, change)?;
        }
        rows::set_state(&transaction, state)?;
        transaction.commit()?;
        self.state = state;
        let written = group.entries.iter().map(|entry| entry.weight()).sum();
        self.unmeasured = self.unmeasured.saturating_add(written);
        // The events are committed. If this fails, only a lost log could go unnoticed.
        self.high_water.commit(last).unwrap_or_else(
            |error| tracing::warn!(%error, "the journal's high-water mark cannot be written"),
        );
        Ok(())
    }

    fn trim(&mut self, keep: JournalRetention) -> Result<(), Error> {
        let excess = self.state.count.saturating_sub(keep.events);
        let excess = match excess < TRIM_SLACK.min(keep.events / 8 + 1) {
            true => self.excess_by_size(keep.bytes)?,
            false => excess,
        };
        if excess == 0 {
            return Ok(());
        }
        let transaction = self.db.transaction()?;
        rows::delete_oldest(&transaction, excess)?;
        let state = JournalStateRow { count: self.state.count - excess, ..self.state };
        rows::set_state(&transaction, state)?;
        transaction.commit()?;
        self.state = state;
        Ok(())
    }

    /// How many of the oldest events to delete so that the rest fits into `bytes`: estimated from
    /// the average size of an event, and an eighth more, so that not every commit trims.
    fn excess_by_size(&mut self, bytes: u64) -> Result<u64, Error> {
        if self.unmeasured < MEASURED_EVERY {
            return Ok(0);
        }
        self.unmeasured = 0;
        let used = rows::used_bytes(&self.db)?;
        if used <= bytes {
            return Ok(0);
        }
        let goal = bytes - bytes / 8;
        let share = u128::from(self.state.count) * u128::from(used - goal) / u128::from(used);
        // The newest event stays, however large it or the records are.
        let most = self.state.count.saturating_sub(1);
        Ok(u64::try_from(share).unwrap_or(0).max(1).min(most))
    }

    /// Leaves one file without a log, and a mark without reserved ids.
    fn close(mut self) -> Result<(), Error> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        self.db.close().map_err(|(_, error)| error)?;
        Ok(self.high_water.release_reserved()?)
    }
}

/// The description of an opened journal, for the kernel.
fn describe(
    db: &Connection,
    last: EventId,
    recovery: Option<JournalRecovery>,
) -> Result<OpenedJournal, Error> {
    let records = rows::records(db)?;
    let first = rows::first_and_last(db)?.map(|(first, _)| first);
    Ok(OpenedJournal { records, first, last, recovery })
}

/// The last id that may have been assigned: the last reserved one, when commits may have been lost.
fn last_assigned(found: EventId, mark: Option<&HighWaterMark>) -> EventId {
    let lost = mark.filter(|mark| !mark.is_of_this_boot()).map(|mark| mark.reserved);
    found.max(lost.unwrap_or_default())
}

/// Compares the state row with the mark and with the oldest and newest events.
fn examine(db: &Connection, mark: Option<&HighWaterMark>) -> Result<JournalStateRow, Error> {
    let state = rows::state(db)?;
    if mark.is_some_and(|mark| state.last < mark.committed) {
        return Err(Error::Damaged("the last events are missing"));
    }
    if mark.is_some_and(|mark| state.last > mark.reserved) {
        return Err(Error::Damaged("the last id was never reserved"));
    }
    let (newest, most) = match rows::first_and_last(db)? {
        Some((first, last)) => (last, last.0 - first.0 + 1),
        None => (EventId(0), 0),
    };
    if newest > state.last || state.count > most {
        return Err(Error::Damaged("the count of events is wrong"));
    }
    Ok(state)
}

fn skip_damage(db: &Connection, after: EventId) -> Option<EventId> {
    let at = i64::try_from(after.0).ok()?;
    let row = salvage::skip_damage(at, |row| rows::entry_after(db, row).is_ok())?;
    u64::try_from(row).ok().map(EventId)
}

/// Opens an existing file for reading, with the log's index on the heap instead of in a
/// shared-memory file.
fn open_for_reading(path: &Path) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;")?;
    Ok(db)
}

/// Creates the file with mode 0600, whatever the umask; SQLite gives the files beside it the same
/// mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::metadata(path)?.permissions();
            if found.mode() & 0o077 == 0 {
                return Ok(());
            }
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        }
        created => created.map(drop),
    }
}

fn connect(path: &Path) -> Result<Connection, Error> {
    make_private(path)?;
    let db = Connection::open(path)?;
    // No checkpoint on close: a damaged file must stay as it is until it is moved aside. `close`
    // runs one itself.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.execute_batch(SETTINGS)?;
    Ok(db)
}
