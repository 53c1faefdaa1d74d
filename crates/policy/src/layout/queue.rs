//! The queue of requests that wait for space: bounded in number and time, first come, first served.
//!
//! Only expiry depends on the clock: the owner tries all of them again when a pane exits or a
//! window changes, and calls [`LayoutQueue::expire`] at [`LayoutQueue::next_deadline`].

use std::fmt;
use std::time::Duration;

use paned_model::{Code, PaneId, Refusal, Time};

use super::reason::NotShownReason;

/// The waiting requests, of which each pane has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutQueue<R> {
    entries: Vec<LayoutQueueEntry<R>>,
    max_entries: usize,
    max_wait_ms: u64,
}

/// A waiting request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutQueueEntry<R> {
    /// The pane that waits.
    pub pane: PaneId,
    /// The request.
    pub request: R,
    /// When it was queued.
    pub since: Time,
    /// Why it had to wait at the last attempt.
    pub reason: NotShownReason,
}

/// The queue is full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFull {
    /// How many requests wait.
    pub waiting: usize,
    /// Why the request would have had to wait.
    pub reason: NotShownReason,
}

impl<R> Default for LayoutQueue<R> {
    fn default() -> Self {
        Self::new(20, Duration::from_secs(5 * 60))
    }
}

impl<R> LayoutQueue<R> {
    /// A queue for this many requests, each of which waits this long at most.
    #[must_use]
    pub fn new(max_entries: usize, max_wait: Duration) -> Self {
        let max_wait_ms = u64::try_from(max_wait.as_millis()).unwrap_or(u64::MAX);
        Self { entries: Vec::new(), max_entries, max_wait_ms }
    }

    /// Queues a request. If the pane is queued already, the entry keeps its position and deadline.
    ///
    /// # Errors
    /// When the queue is full.
    pub fn push(
        &mut self,
        pane: PaneId,
        request: R,
        reason: NotShownReason,
        now: Time,
    ) -> Result<(), QueueFull> {
        if let Some(entry) = self.entries.iter_mut().find(|it| it.pane == pane) {
            entry.request = request;
            entry.reason = reason;
            return Ok(());
        }
        if self.entries.len() >= self.max_entries {
            return Err(QueueFull { waiting: self.entries.len(), reason });
        }
        self.entries.push(LayoutQueueEntry { pane, request, since: now, reason });
        Ok(())
    }

    /// Removes the requests that have waited for the maximum time. Early calls do no harm.
    pub fn expire(&mut self, now: Time) -> Vec<LayoutQueueEntry<R>> {
        let max_wait_ms = self.max_wait_ms;
        self.entries.extract_if(.., |entry| now.since(entry.since) >= max_wait_ms).collect()
    }

    /// When the next request expires.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let since = self.entries.iter().map(|entry| entry.since).min()?;
        Some(Time(since.0.saturating_add(self.max_wait_ms)))
    }

    /// Removes the request for a pane.
    pub fn remove(&mut self, pane: &PaneId) -> Option<LayoutQueueEntry<R>> {
        let at = self.entries.iter().position(|entry| entry.pane == *pane)?;
        Some(self.entries.remove(at))
    }

    /// The waiting requests, oldest first; [`LayoutQueueEntry::age`] says how long each has waited.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &LayoutQueueEntry<R>> {
        self.entries.iter()
    }

    /// Whether no request waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<R> LayoutQueueEntry<R> {
    /// How long it has waited.
    #[must_use]
    pub fn age(&self, now: Time) -> Duration {
        Duration::from_millis(now.since(self.since))
    }
}

impl From<QueueFull> for Refusal {
    fn from(full: QueueFull) -> Self {
        Refusal::new(Code::Limit, full.to_string())
    }
}

impl fmt::Display for QueueFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waiting, reason } = self;
        write!(f, "{waiting} requests are already waiting for room, the maximum; {reason}")
    }
}
