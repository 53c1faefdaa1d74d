//! The embedded store: one SQLite file in WAL mode, one connection that writes and one that reads.
//!
//! A file that turns out to be damaged, at the start or at a write, is rebuilt from what can be read of
//! it. Damage met by a read is stepped over and left alone: rebuilding is the writer's. On a full disk the file is
//! read without the shared memory that SQLite would have to make room for; the first write that finds room opens it
//! properly.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paned_model::EventId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::check::{self, Files};
use super::high::{High, Mark};
use super::rows::{self, State};
use super::salvage;
use super::store::{Group, Span, Store};
use super::{Entry, Error, Keep, Opened, Recovery, lock};

/// What is deleted is overwritten: a text that was forgotten must not stay in a free page. The cache is small because the tail serves nearly all reads; the log is cut back after a flood.
const SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -512;
    PRAGMA journal_size_limit = 8388608;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;
    PRAGMA trusted_schema = OFF;";
/// For a person who looks into the file with another tool.
const BUSY: Duration = Duration::from_secs(5);
/// After how many bytes it is looked again how large the file is.
const MEASURED_EVERY: usize = 256 << 10;
/// How many events beyond `keep` are worth a trimming transaction.
const SLACK: u64 = 1024;

const BROKEN: Error = Error::Damaged("it could not be rebuilt yet");

/// See the module.
pub(super) struct Sqlite {
    path: PathBuf,
    writing: Mutex<Writing>,
    /// Locked after `writing`, where both are.
    reading: Mutex<Reading>,
}

enum Writing {
    Open(Writer),
    /// There was no room to open it for writing: the next write tries it again.
    Unopened,
    /// Damaged, and the rebuilding failed: the next write tries it again.
    Broken,
    Closed,
}

enum Reading {
    Open(Connection),
    /// There is nothing to read from at present.
    Absent,
    Closed,
}

struct Writer {
    db: Connection,
    state: State,
    high: High,
    /// The file that was opened.
    file: FileId,
    /// Bytes written since it was last looked how large the file is.
    unmeasured: usize,
}

/// Tells a file from another that has come to its path.
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

impl Sqlite {
    /// Opens the file or makes it; rebuilds it when it is damaged.
    pub(super) fn open(path: &Path, is_used: bool) -> Result<(Self, Opened), Error> {
        match Self::open_whole(path, is_used) {
            Err(error) if error.is_full() => {
                tracing::error!(%error, "the journal is opened for reading only");
                Self::open_unwritable(path).map_err(|_| error)
            }
            opened => opened,
        }
    }

    fn open_whole(path: &Path, is_used: bool) -> Result<(Self, Opened), Error> {
        let (writer, recovery) = Writer::open_or_rebuild(path, is_used)?;
        let opened = describe(&writer.db, writer.state.last, recovery)?;
        let reading = Mutex::new(Reading::Open(connect(path)?));
        let writing = Mutex::new(Writing::Open(writer));
        Ok((Self { path: path.to_owned(), writing, reading }, opened))
    }

    /// Opens what is there on a disk without room.
    fn open_unwritable(path: &Path) -> Result<(Self, Opened), Error> {
        let mark = Mark::load(path);
        let reading = (check::files(path)? == Files::Present).then(|| peek(path)).transpose()?;
        let opened = match &reading {
            Some(db) => {
                let last = last_given(examine(db, mark.as_ref())?.last, mark.as_ref());
                describe(db, last, None)?
            }
            None => {
                let last = last_given(EventId(0), mark.as_ref());
                Opened { records: Vec::new(), first: None, last, recovery: None }
            }
        };
        let writing = Mutex::new(Writing::Unopened);
        let reading = Mutex::new(reading.map_or(Reading::Absent, Reading::Open));
        Ok((Self { path: path.to_owned(), writing, reading }, opened))
    }

    /// Opens for writing what there was no room to open at the start.
    fn open_late(&self, writing: &mut Writing) -> Result<(), Error> {
        let mut reading = lock(&self.reading);
        // It has the file to itself.
        *reading = Reading::Absent;
        let opened = Writer::open_or_rebuild(&self.path, false)
            .and_then(|(writer, _)| Ok((writer, connect(&self.path)?)));
        match opened {
            Ok((writer, reader)) => {
                *reading = Reading::Open(reader);
                *writing = Writing::Open(writer);
                Ok(())
            }
            Err(error) => {
                *reading = peek(&self.path).map_or(Reading::Absent, Reading::Open);
                Err(error)
            }
        }
    }

    /// Lets the writer do something; when that meets damage, once more after a rebuild.
    fn write(&self, act: impl Fn(&mut Writer) -> Result<(), Error>) -> Result<(), Error> {
        let mut writing = lock(&self.writing);
        if matches!(*writing, Writing::Unopened) {
            self.open_late(&mut writing)?;
        }
        let damage = match writing.let_do(&act) {
            Err(error) if error.is_damage() => error,
            done => return done,
        };
        self.rebuild(&mut writing, damage)?;
        writing.let_do(&act)
    }

    /// Replaces the damaged file. Readers wait meanwhile, on threads that may.
    fn rebuild(&self, writing: &mut Writing, cause: Error) -> Result<(), Error> {
        let mut reading = lock(&self.reading);
        *reading = Reading::Absent;
        // Closed before the files are moved from under it, unless they are gone and only it can still read them.
        let before = std::mem::replace(writing, Writing::Broken);
        let (live, mark) = match before {
            Writing::Open(writer) if matches!(cause, Error::Removed) => {
                (Some(writer.db), Some(Mark::at(writer.state.last)))
            }
            // All ids are known here, so none needs to be passed over.
            _ => (None, Mark::load(&self.path).map(|mark| Mark::at(mark.committed))),
        };
        let (writer, _) = Writer::rebuild(&self.path, live.as_ref(), mark, &cause)?;
        *reading = Reading::Open(connect(&self.path)?);
        *writing = Writing::Open(writer);
        Ok(())
    }
}

impl Store for Sqlite {
    fn is_instant(&self) -> bool {
        false
    }

    fn append(&self, group: &Group) -> Result<(), Error> {
        self.write(|writer| {
            writer.check_file(&self.path)?;
            writer.append(group)
        })
    }

    fn read(&self, mut span: Span) -> Result<Vec<Arc<Entry>>, Error> {
        let reading = lock(&self.reading);
        let db = match &*reading {
            Reading::Open(db) => db,
            Reading::Absent => return Ok(Vec::new()),
            Reading::Closed => return Err(Error::Closed),
        };
        let mut entries = Vec::new();
        while let Err(error) = rows::entries(db, span, &mut entries) {
            if !error.is_damage() {
                return Err(error);
            }
            let after = entries.last().map_or(span.after, |entry| entry.id);
            tracing::error!(%error, %after, "events of the journal cannot be read");
            if !entries.is_empty() {
                break;
            }
            let Some(next) = leap(db, after) else { break };
            span.after = next;
        }
        Ok(entries)
    }

    fn trim(&self, keep: Keep) -> Result<(), Error> {
        self.write(|writer| writer.trim(keep))
    }

    fn close(&self) -> Result<(), Error> {
        *lock(&self.reading) = Reading::Closed;
        match std::mem::replace(&mut *lock(&self.writing), Writing::Closed) {
            Writing::Open(writer) => writer.close(),
            Writing::Broken => Err(BROKEN),
            Writing::Unopened | Writing::Closed => Ok(()),
        }
    }
}

impl Writing {
    fn let_do(&mut self, act: impl Fn(&mut Writer) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Open(writer) => act(writer),
            Self::Broken | Self::Unopened => Err(BROKEN),
            Self::Closed => Err(Error::Closed),
        }
    }
}

impl Writer {
    fn open_or_rebuild(path: &Path, is_used: bool) -> Result<(Self, Option<Recovery>), Error> {
        salvage::resume(path)?;
        // Records are read here, too: what cannot be read at the start is found at the start.
        let opened = Self::open(path, is_used).and_then(|writer| {
            rows::records(&writer.db)?;
            Ok(writer)
        });
        match opened {
            Err(error) if error.is_damage() => {
                let (writer, recovery) = Self::rebuild(path, None, Mark::load(path), &error)?;
                Ok((writer, Some(recovery)))
            }
            opened => Ok((opened?, None)),
        }
    }

    fn open(path: &Path, is_used: bool) -> Result<Self, Error> {
        let is_fresh = check::files(path)? == Files::Fresh;
        let mark = match Mark::load(path) {
            // The mark is made first: a database without one has lost it, and with it the ids that it does not know of.
            None if is_fresh && !is_used && !check::has_log(path) => {
                High::create(path, Mark::at(EventId(0)))?;
                Mark::load(path)
            }
            None if is_fresh => return Err(Error::Damaged("the journal's files are missing")),
            None => return Err(Error::Damaged("the high-water file is missing or damaged")),
            Some(mark) => Some(mark),
        };
        let has_events = mark.as_ref().is_some_and(|mark| mark.committed > EventId(0));
        if is_fresh && (has_events || check::has_log(path)) {
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

    /// Goes on after the last id, or after all that were reserved when commits may have been lost.
    fn start(path: &Path, db: Connection, found: State, mark: Option<Mark>) -> Result<Self, Error> {
        let state = State { last: last_given(found.last, mark.as_ref()), ..found };
        if state != found {
            rows::set_state(&db, state)?;
        }
        let high = High::create(path, Mark::at(state.last))?;
        let file = FileId::of(path)?;
        Ok(Self { db, state, high, file, unmeasured: usize::MAX })
    }

    fn rebuild(
        path: &Path,
        live: Option<&Connection>,
        mark: Option<Mark>,
        cause: &Error,
    ) -> Result<(Self, Recovery), Error> {
        let recovery = salvage::rebuild(path, live, mark.as_ref(), cause)?;
        let db = connect(path)?;
        rows::upgrade(&db)?;
        let state = rows::state(&db)?;
        Ok((Self::start(path, db, state, None)?, recovery))
    }

    /// Fails when the file is no longer at its path: what is written to it would be gone after a restart.
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

    fn append(&mut self, group: &Group) -> Result<(), Error> {
        let last = group.entries.last().map_or(self.state.last, |entry| entry.id);
        self.high.reserve(last)?;
        let state = State { last, count: self.state.count + group.entries.len() as u64 };
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
        // The events are committed. Without the note a lost log would go unnoticed, and no more than that.
        self.high.commit(last).unwrap_or_else(
            |error| tracing::warn!(%error, "the journal's high-water mark cannot be written"),
        );
        Ok(())
    }

    fn trim(&mut self, keep: Keep) -> Result<(), Error> {
        let excess = self.state.count.saturating_sub(keep.events);
        let excess = match excess < SLACK.min(keep.events / 8 + 1) {
            true => self.heavy(keep.bytes)?,
            false => excess,
        };
        if excess == 0 {
            return Ok(());
        }
        let transaction = self.db.transaction()?;
        rows::forget(&transaction, excess)?;
        let state = State { count: self.state.count - excess, ..self.state };
        rows::set_state(&transaction, state)?;
        transaction.commit()?;
        self.state = state;
        Ok(())
    }

    /// How many of the oldest events have to go for the rest to have so many bytes: as many as that part of all pages
    /// holds on average, and a little more, so that it is not done for every commit.
    fn heavy(&mut self, bytes: u64) -> Result<u64, Error> {
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
        Ok(u64::try_from(share)
            .unwrap_or(0)
            .clamp(1, self.state.count.max(1) - 1)
            .min(self.state.count))
    }

    /// One file without a log, and a mark that says so.
    fn close(mut self) -> Result<(), Error> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        self.db.close().map_err(|(_, error)| error)?;
        Ok(self.high.settle()?)
    }
}

/// What was found, for the kernel.
fn describe(db: &Connection, last: EventId, recovery: Option<Recovery>) -> Result<Opened, Error> {
    let records = rows::records(db)?;
    let first = rows::ends(db)?.map(|(first, _)| first);
    Ok(Opened { records, first, last, recovery })
}

/// The last id that may have been given: all that were reserved, when commits may have been lost.
fn last_given(found: EventId, mark: Option<&Mark>) -> EventId {
    let lost = mark.filter(|mark| !mark.is_of_this_boot()).map(|mark| mark.reserved);
    found.max(lost.unwrap_or_default())
}

/// Compares what the database says of itself with the mark and with the events at both ends.
fn examine(db: &Connection, mark: Option<&Mark>) -> Result<State, Error> {
    let state = rows::state(db)?;
    if mark.is_some_and(|mark| state.last < mark.committed) {
        return Err(Error::Damaged("the last events are missing"));
    }
    if mark.is_some_and(|mark| state.last > mark.reserved) {
        return Err(Error::Damaged("the last id was never reserved"));
    }
    let (newest, most) = match rows::ends(db)? {
        Some((first, last)) => (last, last.0 - first.0 + 1),
        None => (EventId(0), 0),
    };
    if newest > state.last || state.count > most {
        return Err(Error::Damaged("the count of events is wrong"));
    }
    Ok(state)
}

fn leap(db: &Connection, after: EventId) -> Option<EventId> {
    let at = i64::try_from(after.0).ok()?;
    let row = salvage::leap(at, |row| rows::entry_after(db, row).is_ok())?;
    u64::try_from(row).ok().map(EventId)
}

/// Opens what is there for reading, with the index of the log on the heap instead of in a file of its own.
fn peek(path: &Path) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.busy_timeout(BUSY)?;
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;")?;
    Ok(db)
}

/// Makes the file for its user alone, whatever the umask says; SQLite gives the files beside it the same mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::metadata(path)?.permissions();
            if found.mode() & 0o077 == 0 {
                return Ok(());
            }
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        }
        made => made.map(drop),
    }
}

fn connect(path: &Path) -> Result<Connection, Error> {
    make_private(path)?;
    let db = Connection::open(path)?;
    // A damaged file must stay as it is until it has been moved aside; `close` does this itself.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.busy_timeout(BUSY)?;
    db.execute_batch(SETTINGS)?;
    Ok(db)
}
