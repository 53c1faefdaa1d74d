//! The journal: the durable, ordered log of events, and the small records that change together with them.
//!
//! [`Journal::record`] numbers events and queues them; one writer thread commits all that is queued as
//! one transaction and only then publishes it, so an id that anyone has seen is in the file. Readers
//! pull from an id: out of memory when they are near the end, out of the store when they are far behind.
//!
//! A killed process loses nothing that was published. A power cut may lose the last moments (SQLite
//! runs with `synchronous=NORMAL`), but their ids are not given again: a mark beside the database sees to
//! it. While the disk refuses writes, what was recorded waits in memory, up to a bound, and is tried again.
//! [`Journal::committed`] answers with the error meanwhile, [`Journal::write_error`] says why, so that the kernel can
//! refuse new work, and [`Journal::withdraw`] takes back what is not committed, so that it can undo what was under way.
//!
//! It never waits for a reader, never touches SQLite on a task, and never knows what an event means.

mod batch;
mod check;
mod entry;
mod error;
mod high_water;
mod interest;
mod leaf;
mod queue;
mod reader;
mod rows;
mod salvage;
mod shared;
mod sqlite;
mod store;
mod tail;
mod wal;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use paned_model::{EventFilter, EventId, Time};

pub use batch::EventBatch;
pub use entry::{EventEncoding, JournalEntry};
pub use error::Error;
pub use queue::CommitTicket;
pub use reader::{JournalRead, JournalReader};
use shared::{JournalSetup, JournalShared};
use sqlite::SqliteStore;
pub use store::FakeDisk;
use store::MemoryStore;

/// An event that has no id yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDraft {
    /// `noun:past`, as in `pane:created`.
    pub name: String,
    /// JSON text.
    pub payload: String,
}

/// What happens to a small durable record, in the same transaction as the events that tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordChange {
    /// Write it, over an older one of the same kind and key.
    Put {
        /// Which table of the kernel it belongs to.
        kind: &'static str,
        /// Which of its kind.
        key: String,
        /// JSON text.
        value: String,
    },
    /// Overwrite what events repeat of a pane's output: the pane is forgotten. Readers that are near the end may still
    /// be given it from memory: they follow what happens, and it has just happened.
    Redact {
        /// The pane.
        pane: String,
    },
    /// Forget it, if it is there.
    Delete {
        /// Which table of the kernel it belongs to.
        kind: &'static str,
        /// Which of its kind.
        key: String,
    },
}

/// A small durable record as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecord {
    /// Which table of the kernel it belongs to.
    pub kind: String,
    /// Which of its kind.
    pub key: String,
    /// JSON text.
    pub value: String,
}

/// How a journal is kept.
#[derive(Clone, Copy, Debug)]
pub struct JournalOptions {
    /// How much of it.
    pub retention: JournalRetention,
    /// Whether there must be one already, because something else in its folder says that a server ran there. If there
    /// is none, it was lost, and ids go on far beyond those that may have been given.
    pub must_exist: bool,
    /// The clock.
    pub now: fn() -> Time,
}

/// How much is kept: the newest events within both limits, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalRetention {
    /// How many events.
    pub events: u64,
    /// Bytes of the events' names and payloads.
    pub bytes: u64,
}

impl JournalRetention {
    /// Everything.
    pub const ALL: Self = Self { events: u64::MAX, bytes: u64::MAX };
}

/// What was found when a journal was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedJournal {
    /// All records, by kind and key.
    pub records: Vec<JournalRecord>,
    /// The oldest event that is kept.
    pub first: Option<EventId>,
    /// The id that new events go on after.
    pub last: EventId,
    /// Set when the files were damaged.
    pub recovery: Option<JournalRecovery>,
}

/// What was saved from damaged files. Ids between `last` and [`OpenedJournal::last`] are lost or were never given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecovery {
    /// What was wrong.
    pub cause: String,
    /// How many events could be read.
    pub kept: u64,
    /// The last of them.
    pub last: Option<EventId>,
    /// Where the damaged files are now.
    pub damaged_files: Vec<PathBuf>,
}

/// A cheap handle to the journal. Dropping the last one writes what is queued and ends the writer.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<JournalInner>,
}

struct JournalInner {
    shared: Arc<JournalShared>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Opens the journal at this path, or makes one. Blocks: call it before there are tasks, or from a blocking one.
    pub fn open(path: &Path, options: JournalOptions) -> Result<(Self, OpenedJournal), Error> {
        let (store, opened) = SqliteStore::open(path, options.must_exist)?;
        let last = opened.last;
        let JournalOptions { retention: keep, now, .. } = options;
        let shared = Arc::new(JournalShared::new(JournalSetup {
            store: Box::new(store),
            last,
            retention: keep,
            now,
        }));
        let writer = writer::spawn(Arc::clone(&shared))?;
        Ok((Self::with(shared, Some(writer)), opened))
    }

    /// A journal in memory that commits within `record`, without a thread: for tests.
    #[must_use]
    pub fn memory() -> Self {
        let store = Box::new(MemoryStore::default());
        let setup = JournalSetup {
            store,
            last: EventId(0),
            retention: JournalRetention::ALL,
            now: wall_clock,
        };
        Self::with(Arc::new(JournalShared::new(setup)), None)
    }

    /// A journal on a disk that can be made full: for tests.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub fn on_disk(disk: &FakeDisk) -> Result<Self, Error> {
        let store = Box::new(disk.clone());
        let setup = JournalSetup {
            store,
            last: EventId(0),
            retention: JournalRetention::ALL,
            now: wall_clock,
        };
        let shared = Arc::new(JournalShared::new(setup));
        let writer = writer::spawn(Arc::clone(&shared))?;
        Ok(Self::with(shared, Some(writer)))
    }

    fn with(shared: Arc<JournalShared>, writer: Option<JoinHandle<()>>) -> Self {
        Self { inner: Arc::new(JournalInner { shared, writer: Mutex::new(writer) }) }
    }

    /// Numbers the events and queues them and the changes as one transaction. Never waits, so it may be
    /// called from anywhere.
    pub fn record(&self, drafts: Vec<EventDraft>, changes: Vec<RecordChange>) -> CommitTicket {
        self.inner.shared.record(drafts, changes)
    }

    /// Waits until that `record` is in the journal. While the disk refuses, answers
    /// [`Error::Unwritten`] at once: the events stay queued and are tried again.
    pub async fn committed(&self, ticket: CommitTicket) -> Result<(), Error> {
        self.inner.shared.committed(ticket).await
    }

    /// Takes back what these calls recorded, all of it or nothing: its changes are never made, and each of its events
    /// becomes `journal:withdrawn`, so that no id is given again. Answers false when part of it is committed.
    pub async fn withdraw(&self, tickets: &[CommitTicket]) -> bool {
        self.inner.shared.withdraw(tickets).await
    }

    /// The id of the last committed event.
    #[must_use]
    pub fn last(&self) -> EventId {
        self.inner.shared.progress().last
    }

    /// Why nothing can be committed at present, if that is so.
    #[must_use]
    pub fn write_error(&self) -> Option<Error> {
        self.inner.shared.progress().write_error()
    }

    /// Whether any living reader asked for events of this name.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.inner.shared.interest.wants(name)
    }

    /// Reads the events after this id, or those from now on.
    #[must_use]
    pub fn read(&self, after: Option<EventId>, include: EventFilter) -> JournalReader {
        JournalReader::new(Arc::clone(&self.inner.shared), after, include)
    }

    /// Writes what is queued, leaves a clean file and ends the writer. Later records are refused.
    pub async fn close(&self) -> Result<(), Error> {
        self.inner.shared.end();
        self.inner.shared.closed().await
    }
}

impl Drop for JournalInner {
    /// Waits for the writer, which is busy with at most one transaction and one checkpoint.
    fn drop(&mut self) {
        self.shared.end();
        if let Some(writer) = lock(&self.writer).take() {
            // A panic of the writer was reported by the panic hook already.
            let _ = writer.join();
        }
    }
}

/// Every value behind our locks is whole between any two statements, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wall_clock() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
