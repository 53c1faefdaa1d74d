//! A pane as lists show it: as JSON that is kept until the pane changes. Most panes of a long list are idle, and theirs
//! is copied, not made again.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::{PaneInfo, Size};
use paned_substrate::Damage;

use super::pane::State;
use crate::ready::Ready;
use crate::registry::Context;

/// A pane as lists show it.
pub(crate) type Listed = Ready<PaneInfo>;

/// What the tape knows first: it changes without anybody changing the state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) size: Size,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
    pub(crate) damage: Option<Damage>,
}

/// The panes that a caller reaches and that are picked, oldest first.
pub(crate) fn list(context: &Context, picks: impl Fn(&State) -> bool) -> Vec<Listed> {
    let Context { kernel, caller, .. } = context;
    let panes = kernel.panes().list();
    let reached = panes.iter().filter(|pane| kernel.reaches(&pane.id, caller));
    let listed = reached.filter_map(|pane| {
        let mut pane = pane.lock();
        picks(&pane).then(|| pane.listed())
    });
    listed.collect()
}

/// A pane's state behind a lock, and what was made of it for lists.
pub(super) struct Kept(Mutex<(State, Option<Made>)>);

struct Made {
    json: Listed,
    of: Printed,
}

/// A pane's state, locked. Whoever changes it makes that forgotten.
pub(crate) struct Locked<'a>(MutexGuard<'a, (State, Option<Made>)>);

impl Kept {
    pub(super) fn new(state: State) -> Self {
        Self(Mutex::new((state, None)))
    }

    pub(super) fn lock(&self) -> Locked<'_> {
        Locked(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Locked<'_> {
    /// The pane as lists show it.
    pub(crate) fn listed(&mut self) -> Listed {
        let (state, made) = &mut *self.0;
        let now = state.printed();
        if let Some(made) = made.as_ref().filter(|made| made.of == now) {
            return made.json.clone();
        }
        let json = Listed::new(&state.info(now)).expect("our own types always become JSON");
        *made = Some(Made { json: json.clone(), of: now });
        json
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0.0
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        let (state, made) = &mut *self.0;
        *made = None;
        state
    }
}
