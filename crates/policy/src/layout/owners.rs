//! The owner of each pane of a window, and which panes may be replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use paned_model::{PaneId, Time};
use serde::Serialize;

use super::cell::TmuxPaneId;
use super::window::LayoutWindow;

/// The owner of each pane of a window. A pane without an entry is foreign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaneOwners(BTreeMap<TmuxPaneId, PaneOwner>);

/// Whose a pane is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneOwner {
    /// The user's own pane that agent panes are put beside: split, but never below its minimum.
    Main,
    /// A pane that we made.
    Managed(ManagedPane),
    /// Any other pane: never split, moved, resized or closed by us.
    Foreign,
}

/// A pane that we made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedPane {
    /// The paned pane that it shows.
    pub pane: PaneId,
    /// What its program is doing.
    pub state: ManagedPaneState,
    /// Whether it must stay, whatever its state.
    pub persistent: bool,
    /// Since when it is in this state.
    pub since: Time,
}

/// What a pane's program is doing, as far as the layout needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagedPaneState {
    /// It waits for work.
    Idle,
    /// It works.
    Busy,
    /// It waits for the user.
    Blocked,
    /// It is not ready yet.
    Starting,
    /// It has exited.
    Exited,
    /// Its state is not known, and it has printed nothing for as long as the user has set.
    Quiet,
    /// Its state is not known; it never counts as idle.
    Unknown,
}

/// Why the existing panes may not be replaced, counted; each pane for the first reason that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blockers {
    /// Replacing was not allowed at all.
    pub replace_forbidden: bool,
    /// They have the focus.
    pub focused: usize,
    /// They are persistent.
    pub persistent: usize,
    /// They work.
    pub busy: usize,
    /// They wait for the user.
    pub blocked: usize,
    /// They are not ready yet.
    pub starting: usize,
    /// Their state is not known.
    pub unknown: usize,
    /// They are smaller than a new pane may be.
    pub small: usize,
}

impl PaneOwners {
    /// Whose a pane is.
    #[must_use]
    pub fn of(&self, pane: TmuxPaneId) -> &PaneOwner {
        self.0.get(&pane).unwrap_or(&PaneOwner::Foreign)
    }

    /// Sets the owner of a pane.
    pub fn set(&mut self, pane: TmuxPaneId, owner: PaneOwner) {
        self.0.insert(pane, owner);
    }

    /// The same, with these panes persistent.
    #[must_use]
    pub fn with_persistent(&self, panes: &BTreeSet<PaneId>) -> Self {
        let mut owners = self.clone();
        for owner in owners.0.values_mut() {
            if let PaneOwner::Managed(ours) = owner {
                ours.persistent |= panes.contains(&ours.pane);
            }
        }
        owners
    }

    /// The main pane, if it is in the window.
    #[must_use]
    pub fn main(&self, window: &LayoutWindow) -> Option<TmuxPaneId> {
        window.panes().into_iter().find(|pane| matches!(self.of(*pane), PaneOwner::Main))
    }

    /// A pane's entry, if we manage it.
    #[must_use]
    pub fn managed(&self, pane: TmuxPaneId) -> Option<&ManagedPane> {
        match self.of(pane) {
            PaneOwner::Managed(ours) => Some(ours),
            PaneOwner::Main | PaneOwner::Foreign => None,
        }
    }

    /// The managed panes that may be replaced, best first: exited ones, then those idle for
    /// longest, then those quiet for longest.
    ///
    /// Never one that is busy, waits for the user, has the focus, is persistent, is starting or has
    /// an unknown state.
    #[must_use]
    pub fn victims(&self, window: &LayoutWindow) -> Vec<TmuxPaneId> {
        let mut victims: Vec<_> = window
            .panes()
            .into_iter()
            .filter_map(|id| Some((id, self.managed(id)?)))
            .filter(|(id, ours)| blocker(window, *id, ours).is_none())
            .map(|(id, ours)| (rank(ours.state), ours.since, id))
            .collect();
        victims.sort_unstable();
        victims.into_iter().map(|(_, _, id)| id).collect()
    }

    /// Why each managed pane stays.
    #[must_use]
    pub fn kept(&self, window: &LayoutWindow) -> Blockers {
        let mut kept = Blockers::default();
        for id in window.panes() {
            let Some(ours) = self.managed(id) else { continue };
            let count = match blocker(window, id, ours) {
                Some(Blocker::Focused) => &mut kept.focused,
                Some(Blocker::Persistent) => &mut kept.persistent,
                Some(Blocker::Busy) => &mut kept.busy,
                Some(Blocker::Blocked) => &mut kept.blocked,
                Some(Blocker::Starting) => &mut kept.starting,
                Some(Blocker::Unknown) => &mut kept.unknown,
                None => &mut kept.small,
            };
            *count += 1;
        }
        kept
    }
}

impl FromIterator<(TmuxPaneId, PaneOwner)> for PaneOwners {
    fn from_iter<T: IntoIterator<Item = (TmuxPaneId, PaneOwner)>>(owners: T) -> Self {
        Self(owners.into_iter().collect())
    }
}

/// Which panes are replaced first.
fn rank(state: ManagedPaneState) -> u8 {
    match state {
        ManagedPaneState::Exited => 0,
        ManagedPaneState::Idle => 1,
        _ => 2,
    }
}

/// Why a pane may not be replaced.
enum Blocker {
    Focused,
    Persistent,
    Busy,
    Blocked,
    Starting,
    Unknown,
}

fn blocker(window: &LayoutWindow, id: TmuxPaneId, ours: &ManagedPane) -> Option<Blocker> {
    if window.active == Some(id) {
        return Some(Blocker::Focused);
    }
    if ours.persistent {
        return Some(Blocker::Persistent);
    }
    match ours.state {
        ManagedPaneState::Idle | ManagedPaneState::Exited | ManagedPaneState::Quiet => None,
        ManagedPaneState::Busy => Some(Blocker::Busy),
        ManagedPaneState::Blocked => Some(Blocker::Blocked),
        ManagedPaneState::Starting => Some(Blocker::Starting),
        ManagedPaneState::Unknown => Some(Blocker::Unknown),
    }
}

impl fmt::Display for Blockers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.replace_forbidden {
            return f.write_str("replacing one is not allowed");
        }
        let counts = [
            (self.busy, "busy"),
            (self.blocked, "waiting for a user"),
            (self.focused, "focused"),
            (self.persistent, "persistent"),
            (self.starting, "starting"),
            (self.unknown, "in an unknown state"),
            (self.small, "too small for a new one"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        match counts[..] {
            [] => f.write_str("none can be replaced"),
            [..] => write!(f, "none can be replaced: {}", counts.join(", ")),
        }
    }
}
