//! What was recorded and is not committed yet. A value: it neither waits nor wakes.

use std::mem;
use std::sync::Arc;

use paned_model::{EventId, Time};

use super::store::Group;
use super::{Change, Draft, Entry};

/// For how many events there is room at most before they come.
const MAX_AHEAD: usize = 1024;

/// A receipt for one `record`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The last id that was assigned, or the one before when there were no events.
    pub last: EventId,
    pub(super) turn: u64,
}

/// Numbers events and holds them for the writer.
pub(super) struct Queue {
    last: EventId,
    turn: u64,
    waiting: Group,
    ended: bool,
}

impl Queue {
    /// An empty queue that numbers events after `last`.
    pub(super) fn new(last: EventId) -> Self {
        Self { last, turn: 0, waiting: Group::default(), ended: false }
    }

    /// Numbers these events and adds them. Once ended, hands out a ticket that is never honoured.
    pub(super) fn push(&mut self, drafts: Vec<Draft>, changes: Vec<Change>, time: Time) -> Ticket {
        self.turn += 1;
        if !self.ended {
            self.waiting.turn = self.turn;
            self.waiting.changes.extend(changes);
            for Draft { name, payload } in drafts {
                self.last = self.last.next();
                self.waiting.entries.push(Arc::new(Entry::new(self.last, time, name, payload)));
            }
        }
        Ticket { last: self.last, turn: self.turn }
    }

    /// Everything that waits, as one group.
    pub(super) fn take(&mut self) -> Group {
        // The next group is likely to be as large, and to grow costs more than all the rest of a push.
        let entries = Vec::with_capacity(self.waiting.entries.len().min(MAX_AHEAD));
        mem::replace(&mut self.waiting, Group { entries, ..Group::default() })
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.turn == 0
    }

    /// The last id that was assigned, committed or not.
    pub(super) fn last(&self) -> EventId {
        self.last
    }

    /// Takes nothing more in.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether it takes nothing more in.
    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }
}
