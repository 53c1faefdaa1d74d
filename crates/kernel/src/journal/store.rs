//! The storage of a journal. The embedded one is SQLite; others are possible.
//!
//! A store neither numbers events nor wakes readers: it writes each group atomically.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use paned_model::EventId;

use super::{Error, JournalEntry, JournalRetention, RecordChange, lock};

/// What one transaction writes.
#[derive(Default)]
pub(super) struct CommitGroup {
    /// Ids increase by one and continue after the group before.
    pub(super) entries: Vec<Arc<JournalEntry>>,
    /// In the order of the calls, each with the sequence number of its call.
    pub(super) changes: Vec<(u64, RecordChange)>,
    /// The sequence number of its last call; 0 when there is none.
    pub(super) sequence: u64,
}

/// Which events to read: those after one id, up to and including another, at most `max`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventRange {
    pub(super) after: EventId,
    pub(super) upto: EventId,
    pub(super) max: usize,
}

/// Stores events and records. Calls block unless the store is instant.
pub(super) trait Store: Send + Sync {
    /// Whether its calls never block, so that an async task may make them.
    fn is_instant(&self) -> bool;

    /// Writes a group atomically. Idempotent.
    fn append(&self, group: &CommitGroup) -> Result<(), Error>;

    /// The oldest events of the range. What cannot be read is left out, as if it had never existed.
    fn read(&self, range: EventRange) -> Result<Vec<Arc<JournalEntry>>, Error>;

    /// Deletes the oldest events beyond the retention; may delay that until it is worth a
    /// transaction.
    fn trim(&self, keep: JournalRetention) -> Result<(), Error>;

    /// Closes the store cleanly. Later calls fail with [`Error::Closed`].
    fn close(&self) -> Result<(), Error>;
}

/// Events in memory, for tests. Records are read only at a start, which this store never has: they
/// are not stored.
#[derive(Default)]
pub(super) struct MemoryStore(Mutex<VecDeque<Arc<JournalEntry>>>);

impl Store for MemoryStore {
    fn is_instant(&self) -> bool {
        true
    }

    fn append(&self, group: &CommitGroup) -> Result<(), Error> {
        lock(&self.0).extend(group.entries.iter().cloned());
        Ok(())
    }

    fn read(&self, range: EventRange) -> Result<Vec<Arc<JournalEntry>>, Error> {
        let held = lock(&self.0);
        let from = held.partition_point(|entry| entry.id <= range.after);
        let wanted = held.range(from..).take_while(|entry| entry.id <= range.upto);
        Ok(wanted.take(range.max).cloned().collect())
    }

    fn trim(&self, keep: JournalRetention) -> Result<(), Error> {
        let mut held = lock(&self.0);
        let excess = held.len().saturating_sub(usize::try_from(keep.events).unwrap_or(usize::MAX));
        held.drain(..excess);
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A disk in memory that can be made full, for tests. Clones are the same disk.
#[derive(Clone, Default)]
pub struct FakeDisk {
    inner: Arc<FakeDiskState>,
}

#[derive(Default)]
struct FakeDiskState {
    is_full: AtomicBool,
    events: MemoryStore,
    changes: Mutex<Vec<RecordChange>>,
}

impl FakeDisk {
    /// Makes the disk refuse every write, or accept them again.
    pub fn set_full(&self, is_full: bool) {
        self.inner.is_full.store(is_full, Ordering::SeqCst);
    }

    /// Every change to a record that was written, in order.
    #[must_use]
    pub fn changes(&self) -> Vec<RecordChange> {
        lock(&self.inner.changes).clone()
    }
}

impl Store for FakeDisk {
    fn is_instant(&self) -> bool {
        false
    }

    fn append(&self, group: &CommitGroup) -> Result<(), Error> {
        if self.inner.is_full.load(Ordering::SeqCst) {
            return Err(io::Error::from(io::ErrorKind::StorageFull).into());
        }
        lock(&self.inner.changes).extend(group.changes.iter().map(|(_, change)| change.clone()));
        self.inner.events.append(group)
    }

    fn read(&self, range: EventRange) -> Result<Vec<Arc<JournalEntry>>, Error> {
        self.inner.events.read(range)
    }

    fn trim(&self, keep: JournalRetention) -> Result<(), Error> {
        self.inner.events.trim(keep)
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}
