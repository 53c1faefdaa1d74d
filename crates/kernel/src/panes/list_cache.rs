//! A pane as lists show it: JSON that is cached until the pane changes. Most panes of a long list
//! are idle, so theirs is copied, not made again.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_backend::Damage;
use paned_model::{PaneInfo, Size};

use super::pane::PaneState;
use crate::cached_json::CachedJson;

/// A pane as lists show it.
pub(crate) type PaneJson = CachedJson<PaneInfo>;

/// Values read from the tape: they change without a change of [`PaneState`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputStats {
    pub(crate) size: Size,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
    pub(crate) damage: Option<Damage>,
}

/// A pane's state behind a lock, and its cached JSON for lists.
pub(super) struct PaneStateLock(Mutex<(PaneState, Option<CachedPaneJson>)>);

struct CachedPaneJson {
    json: PaneJson,
    stats: OutputStats,
}

/// A pane's state, locked. Changing it drops the cached JSON.
pub(crate) struct PaneStateGuard<'a>(MutexGuard<'a, (PaneState, Option<CachedPaneJson>)>);

impl PaneStateLock {
    pub(super) fn new(state: PaneState) -> Self {
        Self(Mutex::new((state, None)))
    }

    pub(super) fn lock(&self) -> PaneStateGuard<'_> {
        PaneStateGuard(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PaneStateGuard<'_> {
    /// The pane as lists show it.
    pub(crate) fn listed(&mut self) -> PaneJson {
        let (state, cached) = &mut *self.0;
        let now = state.output_stats();
        if let Some(cached) = cached.as_ref().filter(|cached| cached.stats == now) {
            return cached.json.clone();
        }
        let json =
            PaneJson::new(&state.info_with_tail(now)).expect("our own types always become JSON");
        *cached = Some(CachedPaneJson { json: json.clone(), stats: now });
        json
    }
}

impl Deref for PaneStateGuard<'_> {
    type Target = PaneState;

    fn deref(&self) -> &PaneState {
        &self.0.0
    }
}

impl DerefMut for PaneStateGuard<'_> {
    fn deref_mut(&mut self) -> &mut PaneState {
        let (state, cached) = &mut *self.0;
        *cached = None;
        state
    }
}
