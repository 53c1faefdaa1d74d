//! One reader of the journal: an id and a wish. It costs nothing while it does not ask, and holds up nobody.

use std::sync::Arc;

use paned_model::{EventId, Include};
use tokio::sync::watch;
use tokio::task;

use super::portion::{Portion, Step, Wish};
use super::shared::{Progress, Shared};
use super::store::Span;
use super::tail::Look;
use super::{Entry, Error};

/// The most events in one batch, whatever is asked for: bounds how long the tail is locked.
const MAX_BATCH: usize = 1024;

/// What a reader is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// The next events, in order.
    Entries(Arc<Portion>),
    /// Events are missing here: no longer kept, lost, or never given. Reading goes on at `first`.
    Gap {
        /// The next id that can be had, now or later.
        first: EventId,
        /// The last committed event.
        last: EventId,
    },
    /// The journal was closed, and everything that was still in memory was given.
    Closed,
}

/// Gives the events after an id, in order, each once.
pub struct Reader {
    shared: Arc<Shared>,
    progress: watch::Receiver<Progress>,
    include: Include,
    /// Everything up to here was given or passed over.
    seen: EventId,
    /// Asked to go on after an id that was never given.
    from_the_future: bool,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, after: Option<EventId>, include: Include) -> Self {
        shared.interest.add(&include);
        let progress = shared.watch();
        let now = progress.borrow().last;
        // An id that is assigned but not committed yet is no future: its owner may have been told of it.
        let from_the_future = after.is_some_and(|after| after > shared.assigned());
        let seen = after.filter(|_| !from_the_future).unwrap_or(now);
        Self { shared, progress, include, seen, from_the_future }
    }

    /// The next events that are wanted, at most `max` (and at least one). Waits while there are none.
    /// Dropping the future loses nothing.
    pub async fn next(&mut self, max: usize) -> Batch {
        let max = max.clamp(1, MAX_BATCH);
        loop {
            let Progress { last, .. } = *self.progress.borrow_and_update();
            if std::mem::take(&mut self.from_the_future) {
                return Batch::Gap { first: self.seen.next(), last };
            }
            if self.seen >= last {
                if self.wait().await.is_none() {
                    return Batch::Closed;
                }
            } else if let Some(batch) = self.pull(last, max).await {
                return batch;
            }
            // A flood that this reader does not want must not keep its thread from the others.
            task::coop::consume_budget().await;
        }
    }

    /// Everything up to here was given or passed over: where another reader would go on.
    #[must_use]
    pub fn seen(&self) -> EventId {
        self.seen
    }

    /// Waits for a commit; nothing at the end.
    async fn wait(&mut self) -> Option<()> {
        if self.progress.borrow().is_ended() {
            return None;
        }
        self.progress.changed().await.ok()
    }

    /// Moves on by up to `max` events. Answers nothing when none of them is wanted.
    async fn pull(&mut self, last: EventId, max: usize) -> Option<Batch> {
        let wish = Wish { after: self.seen, max, include: &self.include };
        let floor = match self.shared.look(&wish) {
            Look::Here(step) => return self.give(step),
            Look::Older(floor) => floor,
        };
        let entries = match self.fetch(Span { after: self.seen, upto: floor, max }).await {
            Ok(entries) => entries,
            Err(Error::Closed) => return Some(Batch::Closed),
            Err(error) => {
                tracing::error!(%error, after = %self.seen, "old events cannot be read");
                Vec::new()
            }
        };
        let first = entries.first().map_or(floor.next(), |entry| entry.id);
        if first > self.seen.next() {
            self.seen = EventId(first.0 - 1);
            return Some(Batch::Gap { first, last });
        }
        let step = self.step(entries);
        self.shared.remember(&Wish { after: self.seen, max, include: &self.include }, last, &step);
        self.give(step)
    }

    /// From the entries up to the first hole, the wanted ones.
    fn step(&self, mut entries: Vec<Arc<Entry>>) -> Step {
        let dense =
            entries.iter().zip(self.seen.0 + 1..).take_while(|(entry, id)| entry.id.0 == *id);
        entries.truncate(dense.count());
        let upto = entries.last().map_or(self.seen, |entry| entry.id);
        entries.retain(|entry| self.include.matches(&entry.name));
        Step { portion: Arc::new(Portion::new(entries)), upto }
    }

    /// Moves on by a step. Answers nothing when nothing in it is wanted.
    fn give(&mut self, Step { portion, upto }: Step) -> Option<Batch> {
        self.seen = upto;
        (!portion.is_empty()).then_some(Batch::Entries(portion))
    }

    async fn fetch(&self, span: Span) -> Result<Vec<Arc<Entry>>, Error> {
        let shared = Arc::clone(&self.shared);
        if shared.store.is_instant() {
            return shared.store.read(span);
        }
        let read = task::spawn_blocking(move || shared.store.read(span)).await;
        // The runtime is ending.
        read.unwrap_or(Err(Error::Closed))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.interest.remove(&self.include);
    }
}
