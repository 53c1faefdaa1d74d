//! The embedded store: one SQLite file in WAL mode, one connection that writes and one that reads.
//!
//! A file that turns out to be damaged, at the start or at a write, is rebuilt from what can be read of
//! it. Damage met by a read is stepped over and left alone: rebuilding is the writer's.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paned_model::EventId;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::check::{self, Files};
use super::high::{High, Mark};
use super::rows::{self, State};
use super::salvage;
use super::store::{Group, Span, Store};
use super::{Entry, Error, Opened, Recovery, lock};

/// The cache is small because the tail serves nearly all reads; the log is cut back after a flood.
const SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -512;
    PRAGMA journal_size_limit = 8388608;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;";
/// For a person who looks into the file with another tool.
const BUSY: Duration = Duration::from_secs(5);
/// How many events beyond `keep` are worth a trimming transaction.
const SLACK: u64 = 1024;

const BROKEN: Error = Error::Damaged("it could not be rebuilt yet");

/// See the module.
pub(super) struct Sqlite {
    path: PathBuf,
    writing: Mutex<Writing>,
    reading: Mutex<Option<Connection>>,
}

enum Writing {
    Open(Writer),
    /// Damaged, and the rebuilding failed: the next write tries it again.
    Broken,
    Closed,
}

struct Writer {
    db: Connection,
    state: State,
    high: High,
}

impl Sqlite {
    /// Opens the file or makes it; rebuilds it when it is damaged.
    pub(super) fn open(path: &Path) -> Result<(Self, Opened), Error> {
        salvage::resume(path)?;
        let (writer, opened) = match Writer::open(path).and_then(|writer| writer.describe(None)) {
            Err(error) if error.is_damage() => {
                let (writer, recovery) = Writer::rebuild(path, Mark::load(path), &error)?;
                writer.describe(Some(recovery))?
            }
            described => described?,
        };
        let reading = Mutex::new(Some(connect(path)?));
        let writing = Mutex::new(Writing::Open(writer));
        Ok((Self { path: path.to_owned(), writing, reading }, opened))
    }

    /// Lets the writer do something; when that meets damage, once more after a rebuild.
    fn write(&self, act: impl Fn(&mut Writer) -> Result<(), Error>) -> Result<(), Error> {
        let mut writing = lock(&self.writing);
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
        *reading = None;
        // Closed before the files are moved from under it.
        *writing = Writing::Broken;
        // All ids are known here, so none needs to be passed over.
        let mark = Mark::load(&self.path).map(|mark| Mark::at(mark.committed));
        let (writer, _) = Writer::rebuild(&self.path, mark, &cause)?;
        *reading = Some(connect(&self.path)?);
        *writing = Writing::Open(writer);
        Ok(())
    }
}

impl Store for Sqlite {
    fn is_instant(&self) -> bool {
        false
    }

    fn append(&self, group: &Group) -> Result<(), Error> {
        self.write(|writer| writer.append(group))
    }

    fn read(&self, mut span: Span) -> Result<Vec<Arc<Entry>>, Error> {
        let reading = lock(&self.reading);
        let db = reading.as_ref().ok_or(Error::Closed)?;
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

    fn trim(&self, keep: u64) -> Result<(), Error> {
        self.write(|writer| writer.trim(keep))
    }

    fn close(&self) -> Result<(), Error> {
        *lock(&self.reading) = None;
        match std::mem::replace(&mut *lock(&self.writing), Writing::Closed) {
            Writing::Open(writer) => writer.close(),
            Writing::Broken => Err(BROKEN),
            Writing::Closed => Ok(()),
        }
    }
}

impl Writing {
    fn let_do(&mut self, act: impl Fn(&mut Writer) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Open(writer) => act(writer),
            Self::Broken => Err(BROKEN),
            Self::Closed => Err(Error::Closed),
        }
    }
}

impl Writer {
    fn open(path: &Path) -> Result<Self, Error> {
        let mark = Mark::load(path);
        let is_fresh = check::files(path)? == Files::Fresh;
        if is_fresh && mark.as_ref().is_some_and(|mark| mark.committed > EventId(0)) {
            return Err(Error::Damaged("the file is missing or empty"));
        }
        let db = connect(path)?;
        if is_fresh {
            rows::create(&db)?;
        }
        let state = examine(&db, mark.as_ref())?;
        Self::start(path, db, state, mark)
    }

    /// Goes on after the last id, or after all that were reserved when commits may have been lost.
    fn start(path: &Path, db: Connection, found: State, mark: Option<Mark>) -> Result<Self, Error> {
        let lost = mark.filter(|mark| !mark.is_of_this_boot()).map(|mark| mark.reserved);
        let state = State { last: found.last.max(lost.unwrap_or_default()), ..found };
        if state != found {
            rows::set_state(&db, state)?;
        }
        let high = High::create(path, Mark::at(state.last))?;
        Ok(Self { db, state, high })
    }

    fn rebuild(path: &Path, mark: Option<Mark>, cause: &Error) -> Result<(Self, Recovery), Error> {
        let recovery = salvage::rebuild(path, mark.as_ref(), cause)?;
        let db = connect(path)?;
        let state = rows::state(&db)?;
        Ok((Self::start(path, db, state, None)?, recovery))
    }

    fn describe(self, recovery: Option<Recovery>) -> Result<(Self, Opened), Error> {
        let records = rows::records(&self.db)?;
        let first = rows::ends(&self.db)?.map(|(first, _)| first);
        let opened = Opened { records, first, last: self.state.last, recovery };
        Ok((self, opened))
    }

    fn append(&mut self, group: &Group) -> Result<(), Error> {
        let last = group.entries.last().map_or(self.state.last, |entry| entry.id);
        self.high.reserve(last)?;
        let state = State { last, count: self.state.count + group.entries.len() as u64 };
        let transaction = self.db.transaction()?;
        rows::put_entries(&transaction, group.entries.iter().map(AsRef::as_ref))?;
        for change in &group.changes {
            rows::apply(&transaction, change)?;
        }
        rows::set_state(&transaction, state)?;
        transaction.commit()?;
        self.state = state;
        // The events are committed. Without the note a lost log would go unnoticed, and no more than that.
        self.high.commit(last).unwrap_or_else(
            |error| tracing::warn!(%error, "the journal's high-water mark cannot be written"),
        );
        Ok(())
    }

    fn trim(&mut self, keep: u64) -> Result<(), Error> {
        let excess = self.state.count.saturating_sub(keep);
        if excess < SLACK.min(keep / 8 + 1) {
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

    /// One file without a log, and a mark that says so.
    fn close(mut self) -> Result<(), Error> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        self.db.close().map_err(|(_, error)| error)?;
        Ok(self.high.settle()?)
    }
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

fn connect(path: &Path) -> Result<Connection, Error> {
    let db = Connection::open(path)?;
    // A damaged file must stay as it is until it has been moved aside; `close` does this itself.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.busy_timeout(BUSY)?;
    db.execute_batch(SETTINGS)?;
    Ok(db)
}
