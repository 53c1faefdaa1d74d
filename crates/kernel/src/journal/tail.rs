//! The last committed events, in memory, so that readers near the end cost no query.
//!
//! Bounded in number and in bytes. A value: it neither waits nor wakes.

use std::collections::VecDeque;
use std::sync::Arc;

use paned_model::EventId;

use super::JournalEntry;
use super::batch::{EventBatch, JournalCursor, MAX_BYTES as MAX_BATCH_BYTES, ReadStep};

/// Several times the events in flight under full load: readers that are not further behind never
/// query the store.
const MAX_ENTRIES: usize = 16 << 10;
const MAX_BYTES: usize = 4 << 20;
/// The maximum number of events scanned at once: bounds how long the tail is locked.
const MAX_SCAN: usize = 1024;

/// Every committed event after `floor`, dense.
pub(super) struct JournalTail {
    floor: EventId,
    entries: VecDeque<Arc<JournalEntry>>,
    bytes: usize,
}

/// What the tail knows about the events after an id.
pub(super) enum TailRead {
    /// The next events that pass the filter.
    InMemory(ReadStep),
    /// Ask the store, up to this id.
    InStore(EventId),
}

impl JournalTail {
    /// Holds nothing; everything up to `floor` is in the store or gone.
    pub(super) fn new(floor: EventId) -> Self {
        Self { floor, entries: VecDeque::new(), bytes: 0 }
    }

    /// Adds committed events. Returns the oldest beyond the bounds, to be dropped outside of the
    /// lock.
    #[must_use]
    pub(super) fn extend(&mut self, entries: &[Arc<JournalEntry>]) -> Vec<Arc<JournalEntry>> {
        self.bytes += entries.iter().map(|entry| entry.weight()).sum::<usize>();
        self.entries.extend(entries.iter().cloned());
        let mut dropped = Vec::new();
        while (self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES)
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes -= oldest.weight();
            self.floor = oldest.id;
            dropped.push(oldest);
        }
        dropped
    }

    /// The last committed event.
    pub(super) fn last(&self) -> EventId {
        // Dense, so the count is the distance.
        EventId(self.floor.0 + self.entries.len() as u64)
    }

    /// The next events that pass the filter. Only those are cloned: cloning and dropping an
    /// unwanted one costs every reader as much as a wanted one.
    pub(super) fn read_after(&self, cursor: &JournalCursor<'_>) -> TailRead {
        let Some(skip) = cursor.after.0.checked_sub(self.floor.0) else {
            return TailRead::InStore(self.floor);
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(self.entries.len());
        let mut wanted = Vec::new();
        let mut bytes = 0;
        let mut upto = cursor.after;
        for entry in self.entries.range(skip..).take(MAX_SCAN) {
            upto = entry.id;
            if cursor.include.matches(&entry.name) {
                wanted.push(Arc::clone(entry));
                bytes += entry.weight();
            }
            if wanted.len() == cursor.max || MAX_BATCH_BYTES <= bytes {
                break;
            }
        }
        TailRead::InMemory(ReadStep { batch: Arc::new(EventBatch::new(wanted)), upto })
    }
}

#[cfg(test)]
mod tests {
    use paned_model::{EventFilter, Time};

    use super::*;

    /// Feeds `count` events of `size` bytes; answers how many are held.
    #[track_caller]
    fn check(count: u64, size: usize, held: usize) {
        let mut tail = JournalTail::new(EventId(0));
        for id in 1..=count {
            let payload = "x".repeat(size);
            let entry = JournalEntry::new(EventId(id), Time(0), String::new(), payload);
            drop(tail.extend(&[Arc::new(entry)]));
        }
        assert_eq!(tail.entries.len(), held);
        assert_eq!(tail.floor.0 + held as u64, count);
    }

    #[test]
    fn it_is_bounded_in_number_and_in_bytes() {
        check(10, 10, 10);
        check(20_000, 10, MAX_ENTRIES);
        check(100, 1 << 20, 3);
        check(3, MAX_BYTES, 0);
    }

    #[test]
    fn what_it_dropped_is_the_stores_to_answer() {
        let tail = JournalTail::new(EventId(7));
        let step = |after| {
            tail.read_after(&JournalCursor {
                after: EventId(after),
                max: 1,
                include: &EventFilter::all(),
            })
        };
        assert!(matches!(step(6), TailRead::InStore(EventId(7))));
        let TailRead::InMemory(ReadStep { batch, upto }) = step(7) else { panic!("it is held") };
        assert_eq!((batch.len(), upto), (0, EventId(7)));
    }

    /// Events are `a` to `e` and wanted by name; after `seen`, at most `max` of them.
    #[track_caller]
    fn check_wanted(include: &str, seen: u64, max: usize, expect: (&[u64], u64)) {
        let mut tail = JournalTail::new(EventId(0));
        for (id, name) in (1..).zip(["a", "b", "c", "a", "b"]) {
            let entry = JournalEntry::new(EventId(id), Time(0), name.to_owned(), String::new());
            drop(tail.extend(&[Arc::new(entry)]));
        }
        let cursor =
            JournalCursor { after: EventId(seen), max, include: &include.parse().unwrap() };
        let TailRead::InMemory(ReadStep { batch, upto }) = tail.read_after(&cursor) else {
            panic!("all of them are held");
        };
        let ids: Vec<_> = batch.iter().map(|entry| entry.id.0).collect();
        assert_eq!((ids.as_slice(), upto.0), expect);
    }

    #[test]
    fn only_what_is_wanted_is_given_and_the_rest_is_passed_over() {
        check_wanted("*", 0, 9, (&[1, 2, 3, 4, 5], 5));
        check_wanted("*", 1, 2, (&[2, 3], 3));
        check_wanted("a", 0, 9, (&[1, 4], 5));
        check_wanted("a", 0, 1, (&[1], 1));
        check_wanted("a", 1, 1, (&[4], 4));
        check_wanted("c", 3, 9, (&[], 5));
        check_wanted("", 0, 9, (&[], 5));
    }

    #[test]
    fn a_portion_has_an_end_however_long_its_events_are() {
        let mut tail = JournalTail::new(EventId(0));
        for id in 1..=9 {
            let payload = "x".repeat(MAX_BATCH_BYTES / 2);
            let entry = JournalEntry::new(EventId(id), Time(0), String::new(), payload);
            drop(tail.extend(&[Arc::new(entry)]));
        }
        let cursor = JournalCursor { after: EventId(3), max: 99, include: &EventFilter::all() };
        let TailRead::InMemory(ReadStep { batch, upto }) = tail.read_after(&cursor) else {
            panic!("it is held")
        };
        assert_eq!((batch.len(), upto), (2, EventId(5)));
        assert_eq!(tail.last(), EventId(9));
    }
}
