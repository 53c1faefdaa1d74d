//! How to undo an action whose change cannot be written to the journal: the records to withdraw,
//! and how to restore the previous state.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use crate::journal::CommitTicket;

type Restore = Box<dyn FnOnce() + Send>;

/// The steps that undo one run of an action. Empty for actions whose effects cannot be undone.
#[derive(Clone, Default)]
pub(crate) struct Undo {
    steps: Arc<Mutex<Vec<(CommitTicket, Restore)>>>,
}

impl Undo {
    /// If what was recorded with this ticket cannot be written, it is withdrawn and then `restore`
    /// is called.
    pub(crate) fn add(&self, ticket: CommitTicket, restore: impl FnOnce() + Send + 'static) {
        self.lock().push((ticket, Box::new(restore)));
    }

    /// The records to withdraw first.
    pub(crate) fn tickets(&self) -> Vec<CommitTicket> {
        self.lock().iter().map(|(ticket, _)| *ticket).collect()
    }

    /// Restores the previous state, the last change first.
    pub(crate) fn restore(&self) {
        let steps = mem::take(&mut *self.lock());
        steps.into_iter().rev().for_each(|(_, restore)| restore());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(CommitTicket, Restore)>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
