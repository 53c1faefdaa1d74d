//! What the handle, the writer and the readers share: the queue on one side of a commit, the tail on
//! the other. No method waits, except those of the writer's thread and the async ones.

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

/// What a journal is made of.
pub(super) struct JournalSetup {
    pub(super) store: Box<dyn Store>,
    pub(super) last: EventId,
    pub(super) retention: JournalRetention,
    pub(super) now: fn() -> Time,
}

/// How far the commits are: a level, which cannot be missed.
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
    /// The last attempt failed; there will be another.
    Failing(Arc<str>),
    /// There will be no more commits. Holds why the end was not clean.
    Ended(Option<Arc<str>>),
}

/// See the module.
pub(super) struct JournalShared {
    queue: Mutex<JournalQueue>,
    /// Wakes the writer: there is something in the queue, or the end.
    wake: Condvar,
    progress: watch::Sender<CommitProgress>,
    /// The last committed events. Readers do not hold up one another.
    tail: RwLock<JournalTail>,
    /// The last steps of readers. Locked before the tail.
    steps: Mutex<ReadStepCache>,
    /// What the living readers asked for.
    pub(super) interest: Interest,
    /// Where committed events are.
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

    /// Queues for the writer; commits at once when the store is instant.
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
        // After everybody was woken: to give the memory back takes as long as to write a few events.
        drop(dropped);
        self.store.trim(self.retention).unwrap_or_else(
            |error| tracing::warn!(%error, "old events stay in the journal for now"),
        );
        Ok(())
    }

    /// The next events that a reader wants, cut once for all who stand there.
    pub(super) fn read_tail(&self, wish: &JournalCursor<'_>) -> TailRead {
        let mut steps = lock(&self.steps);
        let tail = self.tail.read().unwrap_or_else(PoisonError::into_inner);
        let last = tail.last();
        if let Some(step) = steps.find(wish, last) {
            return TailRead::InMemory(step);
        }
        let look = tail.read_after(wish);
        if let TailRead::InMemory(step) = &look {
            steps.remember(wish, last, step);
        }
        look
    }

    /// Remembers what a reader found in the store, for the next who stands there.
    pub(super) fn remember(&self, wish: &JournalCursor<'_>, last: EventId, step: &ReadStep) {
        lock(&self.steps).remember(wish, last, step);
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

    /// The attempt to commit what was taken went well.
    pub(super) fn finish(&self) {
        lock(&self.queue).finish((self.now)());
    }

    /// It failed, and nothing of it is in the store: it waits in the queue again.
    pub(super) fn requeue(&self, group: CommitGroup, error: &Error) {
        lock(&self.queue).put_back(group);
        self.fail(error);
    }

    /// Takes back what these calls recorded, all of it or nothing. Answers whether it did: what is committed stays.
    /// Waits for an attempt that is under way.
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
        // Looked at again under the lock: a commit ends before its attempt does.
        let is_committed = |ticket: &CommitTicket| self.progress.borrow().covers(*ticket);
        if tickets.iter().any(is_committed) {
            return Some(false);
        }
        let is_in_attempt = |ticket: &CommitTicket| queue.position(*ticket) == Position::InAttempt;
        if tickets.iter().any(is_in_attempt) {
            // The last attempt has failed: there will be none that could write it.
            return progress.is_ended().then_some(true);
        }
        tickets.iter().for_each(|ticket| queue.withdraw(*ticket));
        Some(true)
    }

    /// Everything that waits, as soon as something does; nothing at the end.
    pub(super) fn take(&self) -> Option<CommitGroup> {
        let queue = lock(&self.queue);
        let idle = |queue: &mut JournalQueue| queue.is_empty() && !queue.is_ended();
        let mut queue = self.wake.wait_while(queue, idle).unwrap_or_else(PoisonError::into_inner);
        (!queue.is_empty()).then(|| queue.attempt())
    }

    /// Waits a while, or until the end. Answers whether the end has come.
    pub(super) fn pause(&self, pause: Duration) -> bool {
        let queue = lock(&self.queue);
        let waited = self.wake.wait_timeout_while(queue, pause, |queue| !queue.is_ended());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_ended()
    }

    /// Takes in nothing more, and lets the writer finish.
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

    /// How far the commits are.
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

    /// Waits until that call is committed, or until it is known that it is not.
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
