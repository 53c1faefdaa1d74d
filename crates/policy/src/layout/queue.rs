//! The queue of requests that wait for space: bounded in number and time, first come, first served.
//! A request that still has to wait does not block the ones behind it.
//!
//! Only expiry depends on the clock: the owner wakes the queue when a pane exits or a window
//! changes, and calls [`LayoutQueue::expire`] at [`LayoutQueue::next_deadline`].

use std::fmt;
use std::time::Duration;

use paned_model::{Code, PaneId, Refusal, Time};
use serde::Serialize;

use super::decide::{Decision, LayoutRequest};
use super::reason::NotShownReason;

/// The waiting requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutQueue {
    entries: Vec<LayoutQueueEntry>,
    max_entries: usize,
    max_wait_ms: u64,
    next: u64,
}

/// A waiting request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayoutQueueEntry {
    /// The request.
    pub request: LayoutRequest,
    /// When it was queued.
    pub since: Time,
    /// Why it had to wait at the last attempt.
    pub reason: NotShownReason,
    /// Its position in order of arrival.
    #[serde(skip)]
    order: u64,
}

/// The queue is full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFull {
    /// How many requests wait.
    pub waiting: usize,
    /// Why the request would have had to wait.
    pub reason: NotShownReason,
}

impl Default for LayoutQueue {
    fn default() -> Self {
        Self::new(20, Duration::from_secs(5 * 60))
    }
}

impl LayoutQueue {
    /// A queue for this many requests, each of which waits this long at most.
    #[must_use]
    pub fn new(max_entries: usize, max_wait: Duration) -> Self {
        let max_wait_ms = u64::try_from(max_wait.as_millis()).unwrap_or(u64::MAX);
        Self { entries: Vec::new(), max_entries, max_wait_ms, next: 0 }
    }

    /// Queues a request. If the pane is queued already, the entry keeps its position and deadline.
    ///
    /// # Errors
    /// When the queue is full.
    pub fn push(
        &mut self,
        request: LayoutRequest,
        reason: NotShownReason,
        now: Time,
    ) -> Result<(), QueueFull> {
        let pane = &request.pane;
        if let Some(entry) = self.entries.iter_mut().find(|it| it.request.pane == *pane) {
            entry.request = request;
            entry.reason = reason;
            return Ok(());
        }
        if self.entries.len() >= self.max_entries {
            return Err(QueueFull { waiting: self.entries.len(), reason });
        }
        self.entries.push(LayoutQueueEntry { request, since: now, reason, order: self.next });
        self.next += 1;
        Ok(())
    }

    /// Puts an entry back at its old position, after its decision could not be carried out.
    pub fn put_back(&mut self, entry: LayoutQueueEntry) {
        let at = self.entries.partition_point(|it| it.order < entry.order);
        self.entries.insert(at, entry);
    }

    /// Removes the first request that can leave the queue, and returns it with its decision.
    ///
    /// Every request is tried in order: one that still has to wait blocks no other. Act on the
    /// result before asking for the next one, because acting changes the window.
    pub fn next_ready(
        &mut self,
        mut decide: impl FnMut(&LayoutQueueEntry) -> Decision,
    ) -> Option<(LayoutQueueEntry, Decision)> {
        for at in 0..self.entries.len() {
            match decide(&self.entries[at]) {
                Decision::Defer { reason } => self.entries[at].reason = reason,
                decision @ (Decision::Spawn { .. }
                | Decision::Replace { .. }
                | Decision::Skip { .. }) => {
                    return Some((self.entries.remove(at), decision));
                }
            }
        }
        None
    }

    /// Removes every request that can leave the queue. For callers whose `decide` takes its earlier
    /// decisions into account.
    pub fn wake(
        &mut self,
        mut decide: impl FnMut(&LayoutQueueEntry) -> Decision,
    ) -> Vec<(LayoutQueueEntry, Decision)> {
        let mut ready = Vec::new();
        for mut entry in std::mem::take(&mut self.entries) {
            match decide(&entry) {
                Decision::Defer { reason } => {
                    entry.reason = reason;
                    self.entries.push(entry);
                }
                decision @ (Decision::Spawn { .. }
                | Decision::Replace { .. }
                | Decision::Skip { .. }) => ready.push((entry, decision)),
            }
        }
        ready
    }

    /// Removes the requests that have waited for the maximum time. Early calls do no harm.
    pub fn expire(&mut self, now: Time) -> Vec<LayoutQueueEntry> {
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
    pub fn remove(&mut self, pane: &PaneId) -> Option<LayoutQueueEntry> {
        let at = self.entries.iter().position(|entry| entry.request.pane == *pane)?;
        Some(self.entries.remove(at))
    }

    /// The waiting requests, oldest first; [`LayoutQueueEntry::age`] says how long each has waited.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &LayoutQueueEntry> {
        self.entries.iter()
    }

    /// Whether no request waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl LayoutQueueEntry {
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
        write!(f, "{waiting} requests wait for room already, as many as may; {reason}")
    }
}
