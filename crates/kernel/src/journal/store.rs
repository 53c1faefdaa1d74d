//! What a journal is kept in. The embedded form is SQLite; a fleet's stream can be another.
//!
//! A store neither numbers events nor wakes readers: it holds what it is given, whole or not at all.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use paned_model::EventId;

use super::{Change, Entry, Error, lock};

/// What one transaction writes.
#[derive(Default)]
pub(super) struct Group {
    /// Ids rise by one and go on after the group before.
    pub(super) entries: Vec<Arc<Entry>>,
    /// In the order in which they were asked for.
    pub(super) changes: Vec<Change>,
    /// The last call that is part of it; 0 when there is none.
    pub(super) turn: u64,
}

/// Which events to read: those after one id, up to and with another, at most so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) after: EventId,
    pub(super) upto: EventId,
    pub(super) max: usize,
}

/// Holds events and records. Calls block unless the store is instant.
pub(super) trait Store: Send + Sync {
    /// Whether its calls return at once, so that a task may make them.
    fn is_instant(&self) -> bool;

    /// Writes a group whole or not at all. The same group again does no harm.
    fn append(&self, group: &Group) -> Result<(), Error>;

    /// The oldest events of the span. What cannot be read is left out, as if it had never been there.
    fn read(&self, span: Span) -> Result<Vec<Arc<Entry>>, Error>;

    /// Forgets the oldest events beyond the newest `keep`; may put it off until it is worth a transaction.
    fn trim(&self, keep: u64) -> Result<(), Error>;

    /// Leaves everything tidy. Later calls fail with [`Error::Closed`].
    fn close(&self) -> Result<(), Error>;
}

/// Events in memory, for tests. Records are read at a start only, and this has none: they are not held.
#[derive(Default)]
pub(super) struct Memory(Mutex<VecDeque<Arc<Entry>>>);

impl Store for Memory {
    fn is_instant(&self) -> bool {
        true
    }

    fn append(&self, group: &Group) -> Result<(), Error> {
        lock(&self.0).extend(group.entries.iter().cloned());
        Ok(())
    }

    fn read(&self, span: Span) -> Result<Vec<Arc<Entry>>, Error> {
        let held = lock(&self.0);
        let from = held.partition_point(|entry| entry.id <= span.after);
        let wanted = held.range(from..).take_while(|entry| entry.id <= span.upto);
        Ok(wanted.take(span.max).cloned().collect())
    }

    fn trim(&self, keep: u64) -> Result<(), Error> {
        let mut held = lock(&self.0);
        let excess = held.len().saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        held.drain(..excess);
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}
