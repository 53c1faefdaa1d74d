//! The last committed events, in memory, so that readers near the end cost no query.
//!
//! Bounded in number and in bytes. A value: it neither waits nor wakes.

use std::collections::VecDeque;
use std::sync::Arc;

use paned_model::EventId;

use super::Entry;

const MAX_ENTRIES: usize = 4096;
const MAX_BYTES: usize = 4 << 20;
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
    /// These are next.
    Here(Vec<Arc<Entry>>),
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

    /// The next `max` events after this id.
    pub(super) fn after(&self, id: EventId, max: usize) -> Look {
        let Some(skip) = id.0.checked_sub(self.floor.0) else {
            return Look::Older(self.floor);
        };
        // Dense, so the distance is the index.
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(self.entries.len());
        Look::Here(self.entries.range(skip..).take(max).cloned().collect())
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
        assert!(matches!(tail.after(EventId(6), 1), Look::Older(EventId(7))));
        assert!(matches!(tail.after(EventId(7), 1), Look::Here(none) if none.is_empty()));
    }
}
