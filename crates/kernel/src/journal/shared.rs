//! State shared by the handle, the writer and the readers: the queue before a commit, the tail
//! after it. No method waits, except those of the writer's thread and the async ones.

use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::Duration;

use paned_model::{EventId, Time};
use tokio::sync::watch;

use super::batch::{JournalCursor, ReadStep, ReadStepCache};
use super::interest::Interest;
use super::queue::{CommitTicket, JournalQueue, Position};
use super::store::{CommitGroup, Store};
use super::tail::{JournalTail, TailRead};
use super::{Error, EventDraft, JournalRetention, RecordChange, lock};

/// The parts of a journal.
pub(super) struct JournalSetup {
    pub(super) store: Box<dyn Store>,
    pub(super) last: EventId,
    pub(super) retention: JournalRetention,
    pub(super) now: fn() -> Time,
}

/// The progress of commits: a level, which cannot be missed.
#[derive(Clone, Debug)]
pub(super) struct CommitProgress {
    /// The last committed event.
    pub(super) last: EventId,
    sequence: u64,
    health: WriterHealth,
}

#[derive(Clone, Debug)]
enum WriterHealth {
    Healthy,
    /// The last attempt failed; it is retried.
    Failing(Arc<str>),
    /// There will be no more commits. Holds the error if the shutdown was not clean.
    Ended(Option<Arc<str>>),
}

/// See the module.
pub(super) struct JournalShared {
    queue: Mutex<JournalQueue>,
    /// Wakes the writer: the queue is not empty, or it has ended.
    wake: Condvar,
    progress: watch::Sender<CommitProgress>,
    /// The last committed events. Readers do not block one another.
    tail: RwLock<JournalTail>,
    /// The cached steps of readers. Locked before the tail.
    steps: Mutex<ReadStepCache>,
    /// The filters of the current readers.
    pub(super) interest: Interest,
    /// The store of committed events.
    pub(super) store: Box<dyn Store>,
    retention: JournalRetention,
    now: fn() -> Time,
}

impl JournalShared {
    /// Nothing queued, nothing in memory.
    pub(super) fn new(JournalSetup { store, last, retention, now }: JournalSetup) -> Self {
        let progress = CommitProgress { last, sequence: 0, health: WriterHealth::Healthy };
        Self {
            queue: Mutex::new(JournalQueue::new(last)),
            wake: Condvar::new(),
            progress: watch::Sender::new(progress),
            tail: RwLock::new(JournalTail::new(last)),
            steps: Mutex::default(),
            interest: Interest::default(),
            store,
            retention,
            now,
        }
    }

    /// Queues events for the writer; commits at once when the store is instant.
    pub(super) fn record(
        &self,
        drafts: Vec<EventDraft>,
        changes: Vec<RecordChange>,
    ) -> CommitTicket {
        let mut queue = lock(&self.queue);
        let was_empty = queue.is_empty();
        // Under the lock, so that the order of times is the order of ids.
        let ticket = queue.push(drafts, changes, (self.now)());
        if self.store.is_instant() {
            // Still under the lock, so that the order of commits is the order of ids.
            self.commit_instant(&queue.take());
        } else if was_empty {
            self.wake.notify_one();
        }
        ticket
    }

    /// Commits, then publishes. On an error nothing has happened.
    pub(super) fn commit(&self, group: &CommitGroup) -> Result<(), Error> {
        self.store.append(group)?;
        let mut tail = self.tail.write().unwrap_or_else(PoisonError::into_inner);
        let dropped = tail.extend(&group.entries);
        drop(tail);
        self.progress.send_modify(|progress| {
            progress.last = group.entries.last().map_or(progress.last, |entry| entry.id);
            progress.sequence = group.sequence;
            progress.health = WriterHealth::Healthy;
        });
        // After the readers were woken: freeing the memory takes as long as writing a few events.
        drop(dropped);
        self.store.trim(self.retention).unwrap_or_else(
            |error| tracing::warn!(%error, "cannot trim old events of the journal; retrying later"),
        );
        Ok(())
    }

    /// The next events of a reader, built once for all readers with the same cursor.
    pub(super) fn read_tail(&self, cursor: &JournalCursor<'_>) -> TailRead {
        let mut steps = lock(&self.steps);
        let tail = self.tail.read().unwrap_or_else(PoisonError::into_inner);
        let last = tail.last();
        if let Some(step) = steps.find(cursor, last) {
            return TailRead::InMemory(step);
        }
        let read = tail.read_after(cursor);
        if let TailRead::InMemory(step) = &read {
            steps.remember(cursor, last, step);
        }
        read
    }

    /// Caches what a reader found in the store, for the next reader with the same cursor.
    pub(super) fn remember(&self, cursor: &JournalCursor<'_>, last: EventId, step: &ReadStep) {
        lock(&self.steps).remember(cursor, last, step);
    }

    /// Commits to a store that cannot fail.
    fn commit_instant(&self, group: &CommitGroup) {
        if group.sequence > 0
            && let Err(error) = self.commit(group)
        {
            self.fail(&error);
        }
    }

    /// An attempt to commit failed.
    fn fail(&self, error: &Error) {
        let cause = error.reason().into();
        self.progress.send_modify(|progress| progress.health = WriterHealth::Failing(cause));
    }

    /// The attempt to commit the taken group succeeded.
    pub(super) fn finish(&self) {
        lock(&self.queue).finish((self.now)());
    }

    /// The attempt failed, and nothing of it is in the store: the group goes back to the queue.
    pub(super) fn requeue(&self, group: CommitGroup, error: &Error) {
        lock(&self.queue).put_back(group);
        self.fail(error);
    }

    /// Withdraws what these calls recorded, all of it or nothing. Returns whether it did: what is
    /// committed stays. Waits for an attempt that is in progress.
    pub(super) async fn withdraw(&self, tickets: &[CommitTicket]) -> bool {
        let mut progress = self.watch();
        loop {
            if let Some(done) = self.try_withdraw(tickets, &progress.borrow_and_update().clone()) {
                return done;
            }
            if progress.changed().await.is_err() {
                return true;
            }
        }
    }

    fn try_withdraw(&self, tickets: &[CommitTicket], progress: &CommitProgress) -> Option<bool> {
        let mut queue = lock(&self.queue);
        // Checked again under the lock: a commit ends before its attempt does.
        let is_committed = |ticket: &CommitTicket| self.progress.borrow().covers(*ticket);
        if tickets.iter().any(is_committed) {
            return Some(false);
        }
        let is_in_attempt = |ticket: &CommitTicket| queue.position(*ticket) == Position::InAttempt;
        if tickets.iter().any(is_in_attempt) {
            // The last attempt has failed: no other could write it.
            return progress.is_ended().then_some(true);
        }
        tickets.iter().for_each(|ticket| queue.withdraw(*ticket));
        Some(true)
    }

    /// Waits until the queue is not empty and takes all of it; nothing once it is empty and has
    /// ended.
    pub(super) fn take(&self) -> Option<CommitGroup> {
        let queue = lock(&self.queue);
        let idle = |queue: &mut JournalQueue| queue.is_empty() && !queue.is_ended();
        let mut queue = self.wake.wait_while(queue, idle).unwrap_or_else(PoisonError::into_inner);
        (!queue.is_empty()).then(|| queue.attempt())
    }

    /// Waits for `pause`, or until the journal ends. Returns whether it has ended.
    pub(super) fn pause(&self, pause: Duration) -> bool {
        let queue = lock(&self.queue);
        let waited = self.wake.wait_timeout_while(queue, pause, |queue| !queue.is_ended());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_ended()
    }

    /// Accepts nothing more, and lets the writer finish.
    pub(super) fn end(&self) {
        lock(&self.queue).end();
        self.wake.notify_all();
        if self.store.is_instant() {
            self.set_ended(None);
        }
    }

    /// There will be no more commits.
    pub(super) fn set_ended(&self, error: Option<Error>) {
        let cause = error.map(|error| error.reason().into());
        self.progress.send_modify(|progress| progress.health = WriterHealth::Ended(cause));
    }

    /// The progress of commits.
    pub(super) fn progress(&self) -> CommitProgress {
        self.progress.borrow().clone()
    }

    /// Wakes on every commit.
    pub(super) fn watch(&self) -> watch::Receiver<CommitProgress> {
        self.progress.subscribe()
    }

    /// The last id that was assigned, committed or not.
    pub(super) fn assigned(&self) -> EventId {
        lock(&self.queue).last()
    }

    /// Waits until that call is committed, or until an attempt has failed.
    pub(super) async fn committed(&self, ticket: CommitTicket) -> Result<(), Error> {
        let mut progress = self.watch();
        let settled = |progress: &CommitProgress| progress.covers(ticket) || !progress.is_healthy();
        match progress.wait_for(settled).await {
            Ok(progress) => progress.commit_result(ticket),
            Err(_) => Err(Error::Closed),
        }
    }

    /// Waits until the writer has ended.
    pub(super) async fn closed(&self) -> Result<(), Error> {
        let mut progress = self.watch();
        let end = progress.wait_for(CommitProgress::is_ended).await;
        match end.as_deref() {
            Ok(CommitProgress { health: WriterHealth::Ended(Some(cause)), .. }) => {
                Err(Error::Unwritten(cause.to_string()))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

impl CommitProgress {
    /// Whether there will be no more commits.
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.health, WriterHealth::Ended(_))
    }

    /// Why nothing is committed at present.
    pub(super) fn write_error(&self) -> Option<Error> {
        match &self.health {
            WriterHealth::Failing(cause) | WriterHealth::Ended(Some(cause)) => {
                Some(Error::Unwritten(cause.to_string()))
            }
            WriterHealth::Healthy | WriterHealth::Ended(None) => None,
        }
    }

    fn is_healthy(&self) -> bool {
        matches!(self.health, WriterHealth::Healthy)
    }

    fn covers(&self, ticket: CommitTicket) -> bool {
        self.sequence >= ticket.sequence
    }

    fn commit_result(&self, ticket: CommitTicket) -> Result<(), Error> {
        match &self.health {
            _ if self.covers(ticket) => Ok(()),
            WriterHealth::Failing(cause) | WriterHealth::Ended(Some(cause)) => {
                Err(Error::Unwritten(cause.to_string()))
            }
            WriterHealth::Healthy | WriterHealth::Ended(None) => Err(Error::Closed),
        }
    }
}
