//! The journal: the durable, ordered log of events, and the small records that change together with
//! them.
//!
//! [`Journal::record`] numbers events and queues them; one writer thread commits the whole queue as
//! one transaction and only then publishes it, so every published id is in the file. Readers pull
//! from an id: from memory when they are near the end, from the store when they are far behind.
//!
//! A killed process loses nothing that was published. A power cut may lose the last moments (SQLite
//! runs with `synchronous=NORMAL`), but their ids are not reused: the high-water mark beside the
//! database ensures that. While the disk refuses writes, recorded events wait in memory, up to a
//! bound, and are retried. Meanwhile [`Journal::committed`] returns the error,
//! [`Journal::write_error`] says why, so that the kernel can refuse new work, and
//! [`Journal::withdraw`] withdraws what is not committed, so that the kernel can undo changes in
//! progress.
//!
//! It never waits for a reader, never calls SQLite on an async task, and does not know what events
//! mean.

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
use serde::Serialize;

pub use batch::EventBatch;
pub use entry::JournalEntry;
pub use error::Error;
pub use queue::CommitTicket;
pub use reader::{JournalRead, JournalReader};
use shared::{JournalSetup, JournalShared};
use sqlite::SqliteStore;
pub use store::FakeDisk;
use store::MemoryStore;

use crate::event_names;
use crate::redact::redact_tokens;

/// An event that has no id yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDraft {
    /// `noun:past`, as in `pane:created`.
    pub name: String,
    /// JSON text.
    pub payload: String,
}

/// How many bytes most payloads have at most.
const USUAL_CAPACITY: usize = 128;

/// An event of paned's own, whose name is one of [`event_names::OWN_EVENTS`].
pub(crate) fn draft(name: &str, payload: &impl Serialize) -> EventDraft {
    draft_with_capacity(USUAL_CAPACITY, name, payload)
}

/// The same, with the approximate length of the payload: growing the buffer costs more than writing
/// it.
pub(crate) fn draft_with_capacity(
    capacity: usize,
    name: &str,
    payload: &impl Serialize,
) -> EventDraft {
    debug_assert!(event_names::is_own(name), "add `{name}` to OWN_EVENTS");
    encode(capacity, name, payload)
}

/// An event of a caller's.
pub(crate) fn custom_draft(name: &str, payload: &impl Serialize) -> EventDraft {
    debug_assert!(!event_names::is_own(name), "`{name}` is an event of paned's own");
    encode(USUAL_CAPACITY, name, payload)
}

fn encode(capacity: usize, name: &str, payload: &impl Serialize) -> EventDraft {
    let mut json = Vec::with_capacity(capacity);
    let written = serde_json::to_writer(&mut json, payload).map(|()| String::from_utf8(json));
    let payload = written.ok().and_then(Result::ok).unwrap_or_else(|| "{}".to_owned());
    EventDraft { name: name.to_owned(), payload: redact_tokens(payload) }
}

/// A change to a small durable record, in the same transaction as the events about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordChange {
    /// Insert it, or replace the one of the same kind and key.
    Put {
        /// The kernel's table that it belongs to.
        kind: &'static str,
        /// Its key in that table.
        key: String,
        /// JSON text.
        value: String,
    },
    /// Redact what events repeat of a removed pane's output. Readers near the end may still get it
    /// from memory: they follow live, and it has just happened.
    Redact {
        /// The pane.
        pane: String,
    },
    /// Delete it, if it exists.
    Delete {
        /// The kernel's table that it belongs to.
        kind: &'static str,
        /// Its key in that table.
        key: String,
    },
}

/// A small durable record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecord {
    /// The kernel's table that it belongs to.
    pub kind: String,
    /// Its key in that table.
    pub key: String,
    /// JSON text.
    pub value: String,
}

/// Options of a journal.
#[derive(Clone, Copy, Debug)]
pub struct JournalOptions {
    /// How much to keep.
    pub retention: JournalRetention,
    /// Whether the journal must exist already, because other files in its folder show that a server
    /// ran there. If there is none, it was lost, and ids continue far beyond those that may have
    /// been assigned.
    pub must_exist: bool,
    /// The clock.
    pub now: fn() -> Time,
}

/// How much is kept: approximately the newest events within both limits.
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
    /// The id that new events continue after.
    pub last: EventId,
    /// Set when the files were damaged.
    pub recovery: Option<JournalRecovery>,
}

/// What was recovered from damaged files. Ids between `last` and [`OpenedJournal::last`] are lost
/// or were never assigned.
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

/// A cheap handle to the journal. Dropping the last one commits the queue and stops the writer.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<JournalInner>,
}

struct JournalInner {
    shared: Arc<JournalShared>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Opens the journal at this path, or creates it. Blocks: call it before there are tasks, or
    /// from a blocking task.
    pub fn open(path: &Path, options: JournalOptions) -> Result<(Self, OpenedJournal), Error> {
        let (store, opened) = SqliteStore::open(path, options.must_exist)?;
        let last = opened.last;
        let JournalOptions { retention, now, .. } = options;
        let shared = Arc::new(JournalShared::new(JournalSetup {
            store: Box::new(store),
            last,
            retention,
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

    /// Numbers the events and queues them and the changes as one transaction. Never waits, so it
    /// may be called from anywhere.
    pub fn record(&self, drafts: Vec<EventDraft>, changes: Vec<RecordChange>) -> CommitTicket {
        self.inner.shared.record(drafts, changes)
    }

    /// Waits until that `record` is in the journal. While the disk refuses writes, returns
    /// [`Error::Unwritten`] at once: the events stay queued and are retried.
    pub async fn committed(&self, ticket: CommitTicket) -> Result<(), Error> {
        self.inner.shared.committed(ticket).await
    }

    /// Withdraws what these calls recorded, all of it or nothing: its changes are never made, and
    /// each of its events becomes `journal:withdrawn`, so that no id is reused. Returns false when
    /// part of it is committed.
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

    /// Whether any current reader subscribes to events of this name.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.inner.shared.interest.wants(name)
    }

    /// Reads the events after this id, or those from now on.
    #[must_use]
    pub fn read(&self, after: Option<EventId>, include: EventFilter) -> JournalReader {
        JournalReader::new(Arc::clone(&self.inner.shared), after, include)
    }

    /// Reads all events after this id without being a subscriber: nothing is recorded because of
    /// it.
    pub(crate) fn read_past(&self, after: EventId) -> JournalReader {
        JournalReader::of_past(Arc::clone(&self.inner.shared), after, EventFilter::all())
    }

    /// Commits the queue, leaves a clean file and stops the writer. Later records are refused.
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

/// Every value behind our locks is consistent between any two statements, so a panic elsewhere does
/// not corrupt it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wall_clock() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
