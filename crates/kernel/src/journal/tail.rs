//! The last committed events, in memory, so that readers near the end cost no query.
//!
//! Bounded in number and in bytes. A value: it neither waits nor wakes.

use std::collections::VecDeque;
use std::sync::Arc;

use paned_model::{EventId, Include};

use super::Entry;

const MAX_ENTRIES: usize = 4096;
const MAX_BYTES: usize = 4 << 20;
/// The most events looked at in one go: bounds how long the tail is locked.
const MAX_LOOK: usize = 1024;
/// What an entry costs besides its text.
const OVERHEAD: usize = 96;

/// Every committed event after `floor`, dense.
pub(super) struct Tail {
    floor: EventId,
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
}

/// What the tail knows about the events after an id.
pub(super) enum Look {
    /// These are next of those that are wanted; everything up to this id was looked at.
    Here(Vec<Arc<Entry>>, EventId),
    /// Ask the store, up to this id.
    Older(EventId),
}

impl Tail {
    /// Holds nothing; everything up to `floor` is in the store or gone.
    pub(super) fn new(floor: EventId) -> Self {
        Self { floor, entries: VecDeque::new(), bytes: 0 }
    }

    /// Adds committed events and drops the oldest beyond the bounds.
    pub(super) fn extend(&mut self, entries: &[Arc<Entry>]) {
        self.bytes += entries.iter().map(|entry| cost(entry)).sum::<usize>();
        self.entries.extend(entries.iter().cloned());
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.entries.pop_front() else {
                return;
            };
            self.bytes -= cost(&oldest);
            self.floor = oldest.id;
        }
    }

    /// The next events after this id that are wanted, at most `max` of them. Only those are shared: to share one and
    /// drop it again costs every reader as much as to be given it.
    pub(super) fn after(&self, id: EventId, max: usize, include: &Include) -> Look {
        let Some(skip) = id.0.checked_sub(self.floor.0) else {
            return Look::Older(self.floor);
        };
        // Dense, so the distance is the index.
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(self.entries.len());
        let (mut wanted, mut seen) = (Vec::new(), id);
        for entry in self.entries.range(skip..).take(MAX_LOOK) {
            seen = entry.id;
            if include.matches(&entry.name) {
                wanted.push(Arc::clone(entry));
                if wanted.len() == max {
                    break;
                }
            }
        }
        Look::Here(wanted, seen)
    }
}

fn cost(entry: &Entry) -> usize {
    entry.name.len() + entry.payload.len() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;

    /// Feeds `count` events of `size` bytes; answers how many are held.
    #[track_caller]
    fn check(count: u64, size: usize, held: usize) {
        let mut tail = Tail::new(EventId(0));
        for id in 1..=count {
            let payload = "x".repeat(size);
            let entry = Entry::new(EventId(id), Time(0), String::new(), payload);
            tail.extend(&[Arc::new(entry)]);
        }
        assert_eq!(tail.entries.len(), held);
        assert_eq!(tail.floor.0 + held as u64, count);
    }

    #[test]
    fn it_is_bounded_in_number_and_in_bytes() {
        check(10, 10, 10);
        check(5000, 10, MAX_ENTRIES);
        check(100, 1 << 20, 3);
        check(3, MAX_BYTES, 0);
    }

    #[test]
    fn what_it_dropped_is_the_stores_to_answer() {
        let tail = Tail::new(EventId(7));
        let all: Include = "*".parse().unwrap();
        assert!(matches!(tail.after(EventId(6), 1, &all), Look::Older(EventId(7))));
        let look = tail.after(EventId(7), 1, &all);
        assert!(matches!(look, Look::Here(none, EventId(7)) if none.is_empty()));
    }

    /// Events are `a` to `e` and wanted by name; after `seen`, at most `max` of them.
    #[track_caller]
    fn check_wanted(include: &str, seen: u64, max: usize, expect: (&[u64], u64)) {
        let mut tail = Tail::new(EventId(0));
        for (id, name) in (1..).zip(["a", "b", "c", "a", "b"]) {
            let entry = Entry::new(EventId(id), Time(0), name.to_owned(), String::new());
            tail.extend(&[Arc::new(entry)]);
        }
        let Look::Here(found, upto) = tail.after(EventId(seen), max, &include.parse().unwrap())
        else {
            panic!("all of them are held");
        };
        let ids: Vec<_> = found.iter().map(|entry| entry.id.0).collect();
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
}
