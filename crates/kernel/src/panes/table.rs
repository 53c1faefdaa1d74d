//! The table of panes: whose they are and what state they are in.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Instance, PaneId, PaneRef, Refusal};

use super::Pane;
use super::typing_activity::TypingActivity;

/// How many panes that are gone are remembered by their lineage.
const MAX_REMOVED: usize = 1000;

/// Every pane by its name.
#[derive(Default)]
pub(crate) struct PaneTable {
    panes: Mutex<HashMap<PaneId, Arc<Pane>>>,
    /// The lineages of panes that are gone, newest first: their last events are still to be read by those who reach the
    /// panes they were started from.
    removed_lineages: Mutex<VecDeque<Vec<Instance>>>,
    /// Where somebody types.
    pub(crate) typing_activity: TypingActivity,
}

impl PaneTable {
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
            let sentence = format!(
                "there are {limit} panes already; remove some, or raise `panes` in `[limits]` of config.toml"
            );
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
        // A pane that was started from no other needs nothing to be recognised by.
        if 1 < pane.lineage.len() {
            let mut departed = self.removed_lineages.lock().unwrap_or_else(PoisonError::into_inner);
            departed.truncate(MAX_REMOVED - 1);
            departed.push_front(pane.lineage.clone());
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

    /// The instances of the pane that has this name now, of the pane it was started from, and so on. Empty where there is
    /// no such pane.
    pub(crate) fn lineage(&self, id: &PaneId) -> Vec<Instance> {
        self.lock().get(id).map(|pane| pane.lineage.clone()).unwrap_or_default()
    }

    /// The same for this very pane, also after it is gone: of one that went long ago, itself alone.
    pub(crate) fn lineage_of(&self, pane: &PaneRef) -> Vec<Instance> {
        let gone = || {
            let departed = self.removed_lineages.lock().unwrap_or_else(PoisonError::into_inner);
            departed.iter().find(|lineage| lineage.first() == Some(&pane.instance)).cloned()
        };
        let lineage = self.find(pane).map(|pane| pane.lineage.clone()).or_else(gone);
        lineage.unwrap_or_else(|| vec![pane.instance.clone()])
    }

    /// This very pane, if it is still there.
    pub(crate) fn find(&self, pane: &PaneRef) -> Option<Arc<Pane>> {
        self.lock().get(&pane.id).filter(|it| it.instance() == &pane.instance).cloned()
    }
}
