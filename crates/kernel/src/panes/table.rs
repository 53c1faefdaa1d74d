//! The table of panes: whose they are and what state they are in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Code, PaneId, Refusal};

use super::Pane;
use super::typists::Typists;

/// Every pane by its name.
#[derive(Default)]
pub(crate) struct Table {
    panes: Mutex<HashMap<PaneId, Arc<Pane>>>,
    /// Where somebody types.
    pub(crate) typists: Typists,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, HashMap<PaneId, Arc<Pane>>> {
        self.panes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a name, unless it is taken or there are too many panes.
    pub(crate) fn insert(&self, pane: Arc<Pane>, limit: usize) -> Result<(), Refusal> {
        let mut panes = self.lock();
        if panes.contains_key(&pane.id) {
            let sentence = format!("there is a pane `{}` already", pane.id);
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        if limit <= panes.len() {
            let sentence =
                format!("there are {limit} panes already; remove some, or raise the limit");
            return Err(Refusal::new(Code::Limit, sentence));
        }
        panes.insert(pane.id.clone(), pane);
        Ok(())
    }

    /// Forgets this very pane; a new one of the same name stays.
    pub(crate) fn remove(&self, pane: &Arc<Pane>) {
        let mut panes = self.lock();
        if panes.get(&pane.id).is_some_and(|found| Arc::ptr_eq(found, pane)) {
            panes.remove(&pane.id);
        }
    }

    /// One of them.
    pub(crate) fn get(&self, id: &PaneId) -> Result<Arc<Pane>, Refusal> {
        self.lock().get(id).cloned().ok_or_else(|| {
            Refusal::not_found(format!("no pane `{id}`; `pane:list` and `paned ls` show them all"))
        })
    }

    pub(crate) fn contains(&self, id: &PaneId) -> bool {
        self.lock().contains_key(id)
    }

    /// All of them, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Pane>> {
        let mut panes: Vec<_> = self.lock().values().cloned().collect();
        panes.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        panes
    }

    /// The pane, the pane it was started from, and so on. Bounded, should they ever form a circle.
    pub(crate) fn lineage(&self, id: &PaneId) -> Vec<PaneId> {
        let parent = |id: &PaneId| self.lock().get(id)?.clone().lock().record.parent.clone();
        std::iter::successors(Some(id.clone()), parent).take(64).collect()
    }
}
