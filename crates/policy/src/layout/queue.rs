//! Requests that wait for room: a few, for a while, first come first served, and nobody holds up those behind.
//!
//! Nothing here runs by a clock but the end of waiting: whoever owns the queue wakes it when a pane exits or a window
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

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayoutQueueEntry {
    /// What is wished.
    pub request: LayoutRequest,
    /// Since when it waits.
    pub since: Time,
    /// Why it had to wait when it was last looked at.
    pub reason: NotShownReason,
    /// Its place in the order of coming.
    #[serde(skip)]
    order: u64,
}

/// No more requests can wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFull {
    /// How many wait.
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
    /// A queue for so many requests, each of which waits so long at most.
    #[must_use]
    pub fn new(max_entries: usize, patience: Duration) -> Self {
        let max_wait_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        Self { entries: Vec::new(), max_entries, max_wait_ms, next: 0 }
    }

    /// Lets a request wait. One for a pane that waits already keeps the place and the end of the first.
    ///
    /// # Errors
    /// When as many wait as can.
    pub fn push(
        &mut self,
        request: LayoutRequest,
        reason: NotShownReason,
        now: Time,
    ) -> Result<(), QueueFull> {
        let pane = &request.pane;
        if let Some(entry) = self.entries.iter_mut().find(|it| it.request.pane == *pane) {
            (entry.request, entry.reason) = (request, reason);
            return Ok(());
        }
        if self.entries.len() >= self.max_entries {
            return Err(QueueFull { waiting: self.entries.len(), reason });
        }
        self.entries.push(LayoutQueueEntry { request, since: now, reason, order: self.next });
        self.next += 1;
        Ok(())
    }

    /// Puts an entry back where it was, after what was decided for it could not be done.
    pub fn put_back(&mut self, entry: LayoutQueueEntry) {
        let at = self.entries.partition_point(|it| it.order < entry.order);
        self.entries.insert(at, entry);
    }

    /// Takes out the first request that need not wait any longer, with what is decided for it.
    ///
    /// Every request is tried in order: one that still has to wait holds up nobody. Act on what comes out before
    /// asking for the next one, because it changes the window.
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

    /// Takes out every request that need not wait any longer. For callers whose `decide` knows what it decided before.
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

    /// Takes out the requests that have waited long enough. Early calls do no harm.
    pub fn expire(&mut self, now: Time) -> Vec<LayoutQueueEntry> {
        let patience = self.max_wait_ms;
        self.entries.extract_if(.., |entry| now.since(entry.since) >= patience).collect()
    }

    /// When the next request has waited long enough.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let since = self.entries.iter().map(|entry| entry.since).min()?;
        Some(Time(since.0.saturating_add(self.max_wait_ms)))
    }

    /// Takes out the request for a pane.
    pub fn remove(&mut self, pane: &PaneId) -> Option<LayoutQueueEntry> {
        let at = self.entries.iter().position(|entry| entry.request.pane == *pane)?;
        Some(self.entries.remove(at))
    }

    /// The requests that wait, first come first; [`LayoutQueueEntry::age`] says for how long.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &LayoutQueueEntry> {
        self.entries.iter()
    }

    /// Whether nobody waits.
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
