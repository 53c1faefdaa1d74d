//! Batches of events: readers with the same position and the same filter share one.
//!
//! Sharing a hundred events with a hundred readers one by one costs as much as writing them to a
//! hundred sockets. A batch is built once and shared.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;

use paned_model::{EventFilter, EventId};

use super::entry::JournalEntry;

/// A batch ends with the event that brings it to this many bytes: bounds what is held and written
/// at once.
pub(super) const MAX_BYTES: usize = 64 << 10;
/// How many steps are cached: readers are at few positions, and a reader alone at its position
/// needs none.
const MAX_STEPS: usize = 16;

/// Some events, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EventBatch {
    entries: Vec<Arc<JournalEntry>>,
}

impl EventBatch {
    /// These events.
    #[must_use]
    pub fn new(entries: Vec<Arc<JournalEntry>>) -> Self {
        Self { entries }
    }
}

impl Deref for EventBatch {
    type Target = [Arc<JournalEntry>];

    fn deref(&self) -> &[Arc<JournalEntry>] {
        &self.entries
    }
}

/// A reader's position and what it wants next.
#[derive(Clone, Copy)]
pub(super) struct JournalCursor<'a> {
    /// The reader has everything up to this event.
    pub(super) after: EventId,
    /// The maximum number of events at once.
    pub(super) max: usize,
    pub(super) include: &'a EventFilter,
}

/// One step of a reader: the next batch and the new position.
#[derive(Clone, Debug)]
pub(super) struct ReadStep {
    pub(super) batch: Arc<EventBatch>,
    /// Everything up to here was scanned.
    pub(super) upto: EventId,
}

/// Cache of the last steps, for the next reader with the same cursor. A value.
#[derive(Default)]
pub(super) struct ReadStepCache(VecDeque<CachedStep>);

struct CachedStep {
    after: EventId,
    max: usize,
    include: EventFilter,
    /// The last event at that time.
    last: EventId,
    step: ReadStep,
}

impl CachedStep {
    /// Whether this reader would find the same by itself, when `last` is the last event.
    fn matches(&self, cursor: &JournalCursor<'_>, last: EventId) -> bool {
        let is_same = self.after == cursor.after && self.max == cursor.max;
        // A step that ended at the then last event could be longer by now, and longer is better.
        let is_whole = self.step.upto < self.last || self.last == last;
        is_same && is_whole && self.include == *cursor.include
    }
}

impl ReadStepCache {
    /// A step that another reader took with the same cursor, unless there is more now.
    pub(super) fn find(&self, cursor: &JournalCursor<'_>, last: EventId) -> Option<ReadStep> {
        self.0
            .iter()
            .rev()
            .find(|cached| cached.matches(cursor, last))
            .map(|cached| cached.step.clone())
    }

    /// Caches a step in place of the oldest.
    pub(super) fn remember(&mut self, cursor: &JournalCursor<'_>, last: EventId, step: &ReadStep) {
        if MAX_STEPS <= self.0.len() {
            self.0.pop_front();
        }
        let JournalCursor { after, max, include } = *cursor;
        self.0.push_back(CachedStep {
            after,
            max,
            include: include.clone(),
            last,
            step: step.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;

    fn batch(ids: impl IntoIterator<Item = u64>) -> EventBatch {
        let entry = |id| JournalEntry::new(EventId(id), Time(0), String::new(), String::new());
        EventBatch::new(ids.into_iter().map(|id| Arc::new(entry(id))).collect())
    }

    /// A step from 3 to `upto` was taken when 9 was the last event, at most 5 at once of `a:*`;
    /// whether it matches this cursor when `last` is the last.
    #[track_caller]
    fn check(upto: u64, cursor: (u64, usize, &str), last: u64, suits: bool) {
        let (step, mut steps) = (
            ReadStep { batch: Arc::new(batch([4])), upto: EventId(upto) },
            ReadStepCache::default(),
        );
        let include = "a:*".parse().unwrap();
        steps.remember(
            &JournalCursor { after: EventId(3), max: 5, include: &include },
            EventId(9),
            &step,
        );
        let (after, max, include) = (EventId(cursor.0), cursor.1, cursor.2.parse().unwrap());
        let found = steps.find(&JournalCursor { after, max, include: &include }, EventId(last));
        assert_eq!(found.is_some(), suits, "{cursor:?} at {last}");
    }

    #[test]
    fn a_step_suits_who_stands_there_and_wants_the_same() {
        check(9, (3, 5, "a:*"), 9, true);
        check(9, (2, 5, "a:*"), 9, false);
        check(9, (3, 4, "a:*"), 9, false);
        check(9, (3, 5, "*"), 9, false);
    }

    #[test]
    fn a_step_to_the_end_suits_nobody_when_there_is_more() {
        check(9, (3, 5, "a:*"), 10, false);
        check(8, (3, 5, "a:*"), 10, true);
    }

    #[test]
    fn only_the_last_steps_are_remembered() {
        let (mut steps, include) = (ReadStepCache::default(), EventFilter::all());
        let cursor = |after| JournalCursor { after: EventId(after), max: 1, include: &include };
        for after in 0..=MAX_STEPS as u64 {
            let step = ReadStep { batch: Arc::default(), upto: EventId(after + 1) };
            steps.remember(&cursor(after), EventId(99), &step);
        }
        let found = |after| steps.find(&cursor(after), EventId(99)).map(|step| step.upto.0);
        assert_eq!((found(0), found(1)), (None, Some(2)));
        assert_eq!(found(MAX_STEPS as u64), Some(MAX_STEPS as u64 + 1));
    }
}
