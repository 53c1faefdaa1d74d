//! One reader of the journal: a position and a filter. It costs nothing while it is not polled, and
//! never blocks the writer or other readers.

use std::sync::Arc;

use paned_model::{EventFilter, EventId};
use tokio::sync::watch;
use tokio::task;

use super::batch::{EventBatch, JournalCursor, ReadStep};
use super::shared::{CommitProgress, JournalShared};
use super::store::EventRange;
use super::tail::TailRead;
use super::{Error, JournalEntry};

/// The maximum number of events in one batch, whatever is requested: bounds how long the tail is
/// locked.
const MAX_BATCH: usize = 1024;

/// The result of one read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalRead {
    /// The next events, in order.
    Entries(Arc<EventBatch>),
    /// Events are missing here: no longer kept, lost, or never assigned. Reading continues at
    /// `first`.
    Gap {
        /// The next id that can be read, now or later.
        first: EventId,
        /// The last committed event.
        last: EventId,
    },
    /// The journal was closed, and everything that was still in memory was read.
    Closed,
}

/// Reads the events after an id, in order, each once.
pub struct JournalReader {
    shared: Arc<JournalShared>,
    progress: watch::Receiver<CommitProgress>,
    include: EventFilter,
    /// Everything up to here was read or filtered out.
    position: EventId,
    /// Whether the requested start is an id that was never assigned.
    after_unassigned: bool,
    /// Whether it counts as a subscriber: events are recorded because it wants them.
    is_subscriber: bool,
}

impl JournalReader {
    pub(super) fn new(
        shared: Arc<JournalShared>,
        after: Option<EventId>,
        include: EventFilter,
    ) -> Self {
        shared.interest.add(&include);
        let progress = shared.watch();
        let now = progress.borrow().last;
        // An id that is assigned but not committed yet is a valid start: its caller may know it
        // already.
        let after_unassigned = after.is_some_and(|after| after > shared.assigned());
        let position = after.filter(|_| !after_unassigned).unwrap_or(now);
        Self { shared, progress, include, position, after_unassigned, is_subscriber: true }
    }

    /// A reader of what was recorded anyway: it is not counted as a subscriber.
    pub(super) fn of_past(
        shared: Arc<JournalShared>,
        after: EventId,
        include: EventFilter,
    ) -> Self {
        let mut reader = Self::new(shared, Some(after), include);
        reader.shared.interest.remove(&reader.include);
        reader.is_subscriber = false;
        reader
    }

    /// The next events that pass the filter, at most `max` (and at least one). Waits while there
    /// are none. Cancel-safe: dropping the future loses nothing.
    pub async fn next(&mut self, max: usize) -> JournalRead {
        let max = max.clamp(1, MAX_BATCH);
        loop {
            let CommitProgress { last, .. } = *self.progress.borrow_and_update();
            if std::mem::take(&mut self.after_unassigned) {
                return JournalRead::Gap { first: self.position.next(), last };
            }
            if self.position >= last {
                if self.wait().await.is_none() {
                    return JournalRead::Closed;
                }
            } else if let Some(read) = self.pull(last, max).await {
                return read;
            }
            // A flood of filtered events must not starve the other tasks of this thread.
            task::coop::consume_budget().await;
        }
    }

    /// Everything up to here was read or filtered out: where another reader would continue.
    #[must_use]
    pub fn seen(&self) -> EventId {
        self.position
    }

    /// Waits for a commit; nothing once the journal is closed.
    async fn wait(&mut self) -> Option<()> {
        if self.progress.borrow().is_ended() {
            return None;
        }
        self.progress.changed().await.ok()
    }

    /// Advances by up to `max` events. Returns nothing when none of them passes the filter.
    async fn pull(&mut self, last: EventId, max: usize) -> Option<JournalRead> {
        let cursor = JournalCursor { after: self.position, max, include: &self.include };
        let floor = match self.shared.read_tail(&cursor) {
            TailRead::InMemory(step) => return self.advance(step),
            TailRead::InStore(floor) => floor,
        };
        let entries = match self.fetch(EventRange { after: self.position, upto: floor, max }).await
        {
            Ok(entries) => entries,
            Err(Error::Closed) => return Some(JournalRead::Closed),
            Err(error) => {
                tracing::error!(%error, after = %self.position, "old events cannot be read");
                Vec::new()
            }
        };
        let first = entries.first().map_or(floor.next(), |entry| entry.id);
        if first > self.position.next() {
            self.position = EventId(first.0 - 1);
            return Some(JournalRead::Gap { first, last });
        }
        let step = self.step(entries);
        self.shared.remember(
            &JournalCursor { after: self.position, max, include: &self.include },
            last,
            &step,
        );
        self.advance(step)
    }

    /// The entries up to the first gap that pass the filter.
    fn step(&self, mut entries: Vec<Arc<JournalEntry>>) -> ReadStep {
        let dense =
            entries.iter().zip(self.position.0 + 1..).take_while(|(entry, id)| entry.id.0 == *id);
        entries.truncate(dense.count());
        let upto = entries.last().map_or(self.position, |entry| entry.id);
        entries.retain(|entry| self.include.matches(&entry.name));
        ReadStep { batch: Arc::new(EventBatch::new(entries)), upto }
    }

    /// Advances by a step. Returns nothing when its batch is empty.
    fn advance(&mut self, ReadStep { batch, upto }: ReadStep) -> Option<JournalRead> {
        self.position = upto;
        (!batch.is_empty()).then_some(JournalRead::Entries(batch))
    }

    async fn fetch(&self, range: EventRange) -> Result<Vec<Arc<JournalEntry>>, Error> {
        let shared = Arc::clone(&self.shared);
        if shared.store.is_instant() {
            return shared.store.read(range);
        }
        let read = task::spawn_blocking(move || shared.store.read(range)).await;
        // The runtime is shutting down.
        read.unwrap_or(Err(Error::Closed))
    }
}

impl Drop for JournalReader {
    fn drop(&mut self) {
        if self.is_subscriber {
            self.shared.interest.remove(&self.include);
        }
    }
}
