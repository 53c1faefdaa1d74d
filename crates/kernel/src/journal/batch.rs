//! Events as readers are given them: one portion for all who stand at the same place and want the same.
//!
//! To share a hundred events with a hundred readers one by one costs as much as to write them to a hundred sockets.
//! A portion is cut once, shown once at each door, and handed on as it is.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use paned_model::{EventFilter, EventId};

use super::entry::{EventEncoding, JournalEntry};

/// A portion ends with the event that brings it to as many bytes: bounds what is held and written at once.
pub(super) const MAX_BYTES: usize = 64 << 10;
/// How many steps are remembered: readers stand at few places, and one who stands alone needs none.
const MAX_STEPS: usize = 16;

/// Some events, in order.
#[derive(Debug, Default)]
pub struct EventBatch {
    entries: Vec<Arc<JournalEntry>>,
    encoded: [OnceLock<Bytes>; EventEncoding::COUNT],
}

impl EventBatch {
    /// These events.
    #[must_use]
    pub fn new(entries: Vec<Arc<JournalEntry>>) -> Self {
        Self { entries, encoded: Default::default() }
    }

    /// All of them as they are shown at a door, one after the other: made by the first who needs it.
    pub fn encoded(&self, door: EventEncoding, show: impl Fn(&JournalEntry) -> &Bytes) -> &Bytes {
        self.encoded[door as usize].get_or_init(|| match self.entries.as_slice() {
            [one] => show(one).clone(),
            entries => {
                let length = entries.iter().map(|entry| show(entry).len()).sum();
                let mut all = Vec::with_capacity(length);
                entries.iter().for_each(|entry| all.extend_from_slice(show(entry)));
                all.into()
            }
        })
    }
}

impl Deref for EventBatch {
    type Target = [Arc<JournalEntry>];

    fn deref(&self) -> &[Arc<JournalEntry>] {
        &self.entries
    }
}

/// How it was shown makes no difference.
impl PartialEq for EventBatch {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for EventBatch {}

/// Where a reader stands and what it wants.
#[derive(Clone, Copy)]
pub(super) struct JournalCursor<'a> {
    /// It has everything up to this one.
    pub(super) after: EventId,
    /// The most events at once.
    pub(super) max: usize,
    pub(super) include: &'a EventFilter,
}

/// What a reader moves on by.
#[derive(Clone, Debug)]
pub(super) struct ReadStep {
    pub(super) portion: Arc<EventBatch>,
    /// Everything up to here was looked at.
    pub(super) upto: EventId,
}

/// The last steps that were taken, for the next reader who stands there and wants the same. A value.
#[derive(Default)]
pub(super) struct ReadStepCache(VecDeque<CachedStep>);

struct CachedStep {
    after: EventId,
    max: usize,
    include: EventFilter,
    /// The last event that there was.
    last: EventId,
    step: ReadStep,
}

impl CachedStep {
    /// Whether it is what this reader would find by itself, when `last` is the last event that there is.
    fn matches(&self, wish: &JournalCursor<'_>, last: EventId) -> bool {
        let is_same = self.after == wish.after && self.max == wish.max;
        // One that ends at the end of the events there were may be longer by now, and longer is better.
        let is_whole = self.step.upto < self.last || self.last == last;
        is_same && is_whole && self.include == *wish.include
    }
}

impl ReadStepCache {
    /// What somebody found before where this reader stands, unless there is more now.
    pub(super) fn find(&self, wish: &JournalCursor<'_>, last: EventId) -> Option<ReadStep> {
        self.0.iter().rev().find(|taken| taken.matches(wish, last)).map(|taken| taken.step.clone())
    }

    /// Remembers what was found, in the place of the oldest.
    pub(super) fn remember(&mut self, wish: &JournalCursor<'_>, last: EventId, step: &ReadStep) {
        if MAX_STEPS <= self.0.len() {
            self.0.pop_front();
        }
        let JournalCursor { after, max, include } = *wish;
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

    fn portion(ids: impl IntoIterator<Item = u64>) -> EventBatch {
        let entry = |id| JournalEntry::new(EventId(id), Time(0), String::new(), String::new());
        EventBatch::new(ids.into_iter().map(|id| Arc::new(entry(id))).collect())
    }

    fn show(entry: &JournalEntry) -> &Bytes {
        entry.encoded(EventEncoding::WebSocket, |entry| Bytes::from(format!("<{}>", entry.id)))
    }

    #[test]
    fn a_portion_is_shown_in_order_and_once() {
        for (ids, expect) in [(0..0, ""), (1..2, "<1>"), (1..4, "<1><2><3>")] {
            let portion = portion(ids);
            assert_eq!(portion.encoded(EventEncoding::WebSocket, show), expect);
            let again =
                portion.encoded(EventEncoding::WebSocket, |_| unreachable!("it was shown already"));
            assert_eq!(again, expect);
        }
    }

    /// A step from 3 to `upto` was taken when 9 was the last event, at most 5 at once of `a:*`; whether it suits
    /// whoever wants this when `last` is the last.
    #[track_caller]
    fn check(upto: u64, wish: (u64, usize, &str), last: u64, suits: bool) {
        let (step, mut steps) = (
            ReadStep { portion: Arc::new(portion([4])), upto: EventId(upto) },
            ReadStepCache::default(),
        );
        let include = "a:*".parse().unwrap();
        steps.remember(
            &JournalCursor { after: EventId(3), max: 5, include: &include },
            EventId(9),
            &step,
        );
        let (after, max, include) = (EventId(wish.0), wish.1, wish.2.parse().unwrap());
        let found = steps.find(&JournalCursor { after, max, include: &include }, EventId(last));
        assert_eq!(found.is_some(), suits, "{wish:?} at {last}");
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
        let wish = |after| JournalCursor { after: EventId(after), max: 1, include: &include };
        for after in 0..=MAX_STEPS as u64 {
            let step = ReadStep { portion: Arc::default(), upto: EventId(after + 1) };
            steps.remember(&wish(after), EventId(99), &step);
        }
        let found = |after| steps.find(&wish(after), EventId(99)).map(|step| step.upto.0);
        assert_eq!((found(0), found(1)), (None, Some(2)));
        assert_eq!(found(MAX_STEPS as u64), Some(MAX_STEPS as u64 + 1));
    }
}
