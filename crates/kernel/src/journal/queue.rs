//! The queue of recorded events that are not committed yet. A value: it neither waits nor wakes.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use paned_model::{EventId, Time};

use super::store::CommitGroup;
use super::{EventDraft, JournalEntry, RecordChange};

/// The maximum capacity reserved for the next group.
const MAX_PREALLOCATED: usize = 1024;
/// Bytes of events held in memory while the store refuses them; later ones are counted and dropped.
const MAX_STALLED_BYTES: usize = 64 << 20;
/// The event that replaces a withdrawn one, so that ids stay dense and none is reused.
const WITHDRAWN: &str = "journal:withdrawn";
/// The event that says how many events were dropped while the journal could not be written.
const DROPPED: &str = "journal:dropped";

/// A receipt for one `record`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitTicket {
    /// The last id that was assigned, or the one before when there were no events. Must not be
    /// published before it is committed.
    pub last: EventId,
    /// How many events it is for.
    count: u64,
    pub(super) sequence: u64,
}

/// Where an uncommitted `record` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// In the group that the writer is committing: that attempt decides.
    InAttempt,
    /// In the queue.
    Waiting,
}

/// Numbers events and holds them for the writer.
pub(super) struct JournalQueue {
    last: EventId,
    sequence: u64,
    waiting: CommitGroup,
    /// The sequence number of the group that the writer is committing.
    in_flight: Option<u64>,
    /// Set while the store refuses writes.
    stalled: Option<StalledWrites>,
    ended: bool,
}

/// What is held and dropped while the store refuses writes.
#[derive(Default)]
struct StalledWrites {
    bytes: usize,
    dropped: u64,
}

impl JournalQueue {
    /// An empty queue that numbers events after `last`.
    pub(super) fn new(last: EventId) -> Self {
        let waiting = CommitGroup::default();
        Self { last, sequence: 0, waiting, in_flight: None, stalled: None, ended: false }
    }

    /// Numbers these events and adds them. Once ended, returns a ticket that is never committed.
    pub(super) fn push(
        &mut self,
        drafts: Vec<EventDraft>,
        changes: Vec<RecordChange>,
        time: Time,
    ) -> CommitTicket {
        self.sequence += 1;
        let before = self.last;
        if !self.ended {
            self.waiting.sequence = self.sequence;
            let sequence = self.sequence;
            self.waiting.changes.extend(changes.into_iter().map(|change| (sequence, change)));
            for draft in drafts {
                self.add(draft, time);
            }
        }
        CommitTicket { last: self.last, count: self.last.0 - before.0, sequence: self.sequence }
    }

    fn add(&mut self, EventDraft { name, payload }: EventDraft, time: Time) {
        if let Some(stall) = &mut self.stalled {
            if MAX_STALLED_BYTES <= stall.bytes {
                stall.dropped += 1;
                return;
            }
            stall.bytes += name.len() + payload.len();
        }
        self.last = self.last.next();
        self.waiting.entries.push(Arc::new(JournalEntry::new(self.last, time, name, payload)));
    }

    /// Everything in the queue, as one group.
    pub(super) fn take(&mut self) -> CommitGroup {
        // The next group is likely to be as large, and growing costs more than all the rest of a
        // push.
        let entries = Vec::with_capacity(self.waiting.entries.len().min(MAX_PREALLOCATED));
        mem::replace(&mut self.waiting, CommitGroup { entries, ..CommitGroup::default() })
    }

    /// The same, for an attempt to commit it: [`Self::finish`] or [`Self::put_back`] ends the
    /// attempt.
    pub(super) fn attempt(&mut self) -> CommitGroup {
        let group = self.take();
        self.in_flight = Some(group.sequence);
        group
    }

    /// The attempt succeeded. Records how many events were dropped before it.
    pub(super) fn finish(&mut self, time: Time) {
        self.in_flight = None;
        let dropped = self.stalled.take().map_or(0, |stall| stall.dropped);
        if 0 < dropped {
            let payload = format!("{{\"events\":{dropped}}}");
            self.push(vec![EventDraft { name: DROPPED.to_owned(), payload }], Vec::new(), time);
        }
    }

    /// The attempt failed: the group goes back to the front of the queue. Of changes to the same
    /// record only the last is kept.
    pub(super) fn put_back(&mut self, mut group: CommitGroup) {
        self.in_flight = None;
        let later = self.take();
        let weight =
            |entries: &[Arc<JournalEntry>]| entries.iter().map(|entry| entry.weight()).sum();
        let stall = self.stalled.get_or_insert_default();
        group.sequence = group.sequence.max(later.sequence);
        group.entries.extend(later.entries);
        group.changes.extend(later.changes);
        keep_last(&mut group.changes);
        stall.bytes = weight(&group.entries);
        self.waiting = group;
    }

    /// Where an uncommitted `record` is.
    pub(super) fn position(&self, ticket: CommitTicket) -> Position {
        match self.in_flight {
            Some(sequence) if ticket.sequence <= sequence => Position::InAttempt,
            Some(_) | None => Position::Waiting,
        }
    }

    /// Withdraws a queued `record`: its changes are dropped, and each of its events becomes
    /// [`WITHDRAWN`]. A change that it had superseded does not come back: a caller that undoes a
    /// change to an older record writes that record again.
    pub(super) fn withdraw(&mut self, ticket: CommitTicket) {
        self.waiting.changes.retain(|(sequence, _)| *sequence != ticket.sequence);
        let first = ticket.last.0 - ticket.count;
        for entry in &mut self.waiting.entries {
            if first < entry.id.0 && entry.id <= ticket.last {
                let name = WITHDRAWN.to_owned();
                let payload = "{}".to_owned();
                *entry = Arc::new(JournalEntry::new(entry.id, entry.time, name, payload));
            }
        }
    }

    /// Whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.sequence == 0
    }

    /// The last id that was assigned, committed or not.
    pub(super) fn last(&self) -> EventId {
        self.last
    }

    /// Accepts nothing more.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether it accepts nothing more.
    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }
}

/// Drops changes that a later one to the same record supersedes.
fn keep_last(changes: &mut Vec<(u64, RecordChange)>) {
    let mut seen = HashSet::new();
    changes.reverse();
    changes.retain(|(_, change)| {
        seen.insert(match change {
            RecordChange::Put { kind, key, .. } | RecordChange::Delete { kind, key } => {
                (*kind, key.clone())
            }
            RecordChange::Redact { pane } => ("", pane.clone()),
        })
    });
    changes.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &str, value: &str) -> RecordChange {
        RecordChange::Put { kind: "k", key: key.to_owned(), value: value.to_owned() }
    }

    fn push(queue: &mut JournalQueue, names: &str, changes: Vec<RecordChange>) -> CommitTicket {
        let draft = |name: &str| EventDraft { name: name.to_owned(), payload: "{}".to_owned() };
        queue.push(names.split_whitespace().map(draft).collect(), changes, Time(0))
    }

    fn names(group: &CommitGroup) -> Vec<String> {
        group.entries.iter().map(|entry| format!("{} {}", entry.id, entry.name)).collect()
    }

    #[test]
    fn what_is_withdrawn_leaves_its_ids_and_nothing_else() {
        let mut queue = JournalQueue::new(EventId(0));
        push(&mut queue, "a", vec![put("x", "1")]);
        let group = queue.attempt();
        let ticket = push(&mut queue, "b c", vec![put("y", "1")]);
        push(&mut queue, "d", vec![put("x", "2")]);
        assert_eq!(queue.position(ticket), Position::Waiting);
        queue.put_back(group);
        queue.withdraw(ticket);
        let group = queue.attempt();
        let expect = ["1 a", "2 journal:withdrawn", "3 journal:withdrawn", "4 d"];
        assert_eq!(names(&group), expect);
        assert_eq!(group.changes, [(3, put("x", "2"))]);
        assert_eq!(queue.position(ticket), Position::InAttempt);
    }

    #[test]
    fn memory_is_bounded_while_the_store_refuses_and_what_is_dropped_is_counted() {
        let mut queue = JournalQueue::new(EventId(0));
        push(&mut queue, "a", vec![]);
        let group = queue.attempt();
        queue.put_back(group);
        let long =
            || EventDraft { name: "b".to_owned(), payload: "x".repeat(MAX_STALLED_BYTES / 2) };
        for _ in 0..4 {
            queue.push(vec![long()], vec![put("x", "1")], Time(0));
        }
        let group = queue.attempt();
        assert_eq!((group.entries.len(), queue.last()), (3, EventId(3)));
        queue.finish(Time(0));
        let told = queue.take();
        assert_eq!(names(&told), ["4 journal:dropped"]);
        assert_eq!(told.entries[0].payload, r#"{"events":2}"#);
    }
}
