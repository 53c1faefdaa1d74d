//! The table of all panes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Instance, PaneId, PaneRef, Refusal};

use super::activity::OutputActivity;
use super::typing_activity::TypingActivity;
use super::{Pane, PaneChange, PaneObserver};
use crate::Kernel;
use crate::names::missing_pane;

/// How many removed panes are remembered by their lineage.
const MAX_REMOVED: usize = 1000;

/// Every pane by its name.
pub(crate) struct PaneTable {
    panes: Mutex<HashMap<PaneId, Arc<Pane>>>,
    /// The lineages of removed panes, newest first: clients that may reach the panes they were
    /// started from can still read their last events.
    removed_lineages: Mutex<VecDeque<Vec<Instance>>>,
    /// Which panes users type into.
    pub(crate) typing_activity: TypingActivity,
    /// That any pane has printed.
    pub(crate) activity: OutputActivity,
    observers: Vec<Box<dyn PaneObserver>>,
}

impl PaneTable {
    /// An empty table whose panes are observed by these, in this order.
    pub(crate) fn new(observers: Vec<Box<dyn PaneObserver>>) -> Self {
        Self {
            panes: Mutex::default(),
            removed_lineages: Mutex::default(),
            typing_activity: TypingActivity::default(),
            activity: OutputActivity::default(),
            observers,
        }
    }

    /// Tells the observers what happened to a pane.
    pub(crate) fn report(&self, kernel: &Kernel, pane: &Pane, change: &PaneChange<'_>) {
        self.observers.iter().for_each(|observer| observer.observe(kernel, pane, change));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PaneId, Arc<Pane>>> {
        self.panes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a name, unless it is taken or there are too many panes.
    pub(crate) fn insert(&self, pane: Arc<Pane>, limit: usize) -> Result<(), Refusal> {
        let mut panes = self.lock();
        if panes.contains_key(&pane.id) {
            let sentence = name_taken(&pane.id);
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        if limit <= panes.len() {
            let sentence = format!(
                "the limit of {limit} panes is reached; delete some with `pane:remove`, or raise \
                `limits.panes` in config.toml"
            );
            return Err(Refusal::new(Code::Limit, sentence));
        }
        panes.insert(pane.id.clone(), pane);
        Ok(())
    }

    /// Takes this very pane out and puts others in its place, one of which may have its name.
    /// Returns whether it was there and their names were free.
    pub(crate) fn replace(&self, pane: &Arc<Pane>, others: &[&Arc<Pane>]) -> bool {
        let mut panes = self.lock();
        let is_free = |id: &PaneId| *id == pane.id || !panes.contains_key(id);
        let is_listed = panes.get(&pane.id).is_some_and(|found| Arc::ptr_eq(found, pane));
        if !is_listed || !others.iter().all(|other| is_free(&other.id)) {
            return false;
        }
        panes.remove(&pane.id);
        panes.extend(others.iter().map(|other| (other.id.clone(), (*other).clone())));
        true
    }

    /// Removes this very pane; a new one of the same name stays.
    pub(crate) fn remove(&self, pane: &Arc<Pane>) {
        let mut panes = self.lock();
        if panes.get(&pane.id).is_some_and(|found| Arc::ptr_eq(found, pane)) {
            panes.remove(&pane.id);
        }
        // A pane that was started from no other needs no lineage.
        if 1 < pane.lineage.len() {
            let mut removed = self.removed_lineages.lock().unwrap_or_else(PoisonError::into_inner);
            removed.truncate(MAX_REMOVED - 1);
            removed.push_front(pane.lineage.clone());
        }
    }

    /// The pane of this name.
    pub(crate) fn get(&self, id: &PaneId) -> Result<Arc<Pane>, Refusal> {
        self.lock().get(id).cloned().ok_or_else(|| {
            let sentence = format!("no pane `{id}`; `pane:list` lists all panes");
            missing_pane(Code::NotFound, id, sentence)
        })
    }

    pub(crate) fn contains(&self, id: &PaneId) -> bool {
        self.lock().contains_key(id)
    }

    /// All panes, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Pane>> {
        let mut panes: Vec<_> = self.lock().values().cloned().collect();
        panes.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        panes
    }

    /// The instances of the pane that has this name now, of the pane it was started from, and so
    /// on. Empty where there is no such pane.
    pub(crate) fn lineage(&self, id: &PaneId) -> Vec<Instance> {
        self.lock().get(id).map(|pane| pane.lineage.clone()).unwrap_or_default()
    }

    /// The same for this very pane, also after its removal. For one that was removed long ago, only
    /// its own instance.
    pub(crate) fn lineage_of(&self, pane: &PaneRef) -> Vec<Instance> {
        let gone = || {
            let removed = self.removed_lineages.lock().unwrap_or_else(PoisonError::into_inner);
            removed.iter().find(|lineage| lineage.first() == Some(&pane.instance)).cloned()
        };
        let lineage = self.find(pane).map(|pane| pane.lineage.clone()).or_else(gone);
        lineage.unwrap_or_else(|| vec![pane.instance.clone()])
    }

    /// This very pane, if it is still there.
    pub(crate) fn find(&self, pane: &PaneRef) -> Option<Arc<Pane>> {
        self.lock().get(&pane.id).filter(|it| it.instance() == &pane.instance).cloned()
    }
}

/// The sentence for a name that another pane has.
pub(crate) fn name_taken(id: &PaneId) -> String {
    format!(
        "pane `{id}` already exists; choose another id, or set `replace` to stop it and take its place"
    )
}
