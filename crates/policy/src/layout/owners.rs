//! Whose the panes of a window are, and which of them may make room for another.

use std::collections::BTreeMap;
use std::fmt;

use paned_model::{PaneId, Time};
use serde::Serialize;

use super::cell::TmuxId;
use super::window::Window;

/// Whose each pane of a window is. One that is not named is somebody else's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners(BTreeMap<TmuxId, Owner>);

/// Whose a pane is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The person's own pane that agent panes are put beside: split, but never below its minimum.
    Main,
    /// A pane that we made.
    Ours(Ours),
    /// Any other pane: never split, moved, resized or closed.
    Foreign,
}

/// A pane that we made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ours {
    /// What it shows.
    pub pane: PaneId,
    /// What its program is doing.
    pub state: State,
    /// Whether it is to stay, whatever it does.
    pub persistent: bool,
    /// Since when it is in this state.
    pub since: Time,
}

/// What a pane's program is doing, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits for something to do.
    Idle,
    /// It works.
    Busy,
    /// It waits for a person.
    Blocked,
    /// It is not ready yet.
    Starting,
    /// It has ended.
    Exited,
    /// Nobody knows, which is never taken for idle.
    Unknown,
}

/// Why the panes that are there may not make room, counted; each pane for the first reason that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Replacing was not allowed at all.
    pub unasked: bool,
    /// They have the focus.
    pub focused: usize,
    /// They are to stay.
    pub persistent: usize,
    /// They work.
    pub busy: usize,
    /// They wait for a person.
    pub blocked: usize,
    /// They are not ready yet.
    pub starting: usize,
    /// Nobody knows what they do.
    pub unknown: usize,
    /// They are smaller than a new pane may be.
    pub small: usize,
}

impl Owners {
    /// Whose a pane is.
    #[must_use]
    pub fn of(&self, pane: TmuxId) -> &Owner {
        self.0.get(&pane).unwrap_or(&Owner::Foreign)
    }

    /// Says whose a pane is from now on.
    pub fn set(&mut self, pane: TmuxId, owner: Owner) {
        self.0.insert(pane, owner);
    }

    /// Forgets a pane.
    pub fn remove(&mut self, pane: TmuxId) {
        self.0.remove(&pane);
    }

    /// The main pane, if it is in the window.
    #[must_use]
    pub fn main(&self, window: &Window) -> Option<TmuxId> {
        window.panes().into_iter().find(|pane| matches!(self.of(*pane), Owner::Main))
    }

    /// What we know about a pane of ours.
    #[must_use]
    pub fn ours(&self, pane: TmuxId) -> Option<&Ours> {
        match self.of(pane) {
            Owner::Ours(ours) => Some(ours),
            Owner::Main | Owner::Foreign => None,
        }
    }

    /// Our panes that may make room, best first: those that have ended, then those idle for longest.
    ///
    /// Never one that works, waits for a person, has the focus, is to stay, starts, or that nobody knows about.
    #[must_use]
    pub fn victims(&self, window: &Window) -> Vec<TmuxId> {
        let mut victims: Vec<_> = window
            .panes()
            .into_iter()
            .filter_map(|id| Some((id, self.ours(id)?)))
            .filter(|(id, ours)| keeps(window, *id, ours).is_none())
            .map(|(id, ours)| (ours.state != State::Exited, ours.since, id))
            .collect();
        victims.sort_unstable();
        victims.into_iter().map(|(_, _, id)| id).collect()
    }

    /// Why each of our panes stays.
    #[must_use]
    pub fn kept(&self, window: &Window) -> Kept {
        let mut kept = Kept::default();
        for id in window.panes() {
            let Some(ours) = self.ours(id) else { continue };
            let count = match keeps(window, id, ours) {
                Some(Keep::Focused) => &mut kept.focused,
                Some(Keep::Persistent) => &mut kept.persistent,
                Some(Keep::Busy) => &mut kept.busy,
                Some(Keep::Blocked) => &mut kept.blocked,
                Some(Keep::Starting) => &mut kept.starting,
                Some(Keep::Unknown) => &mut kept.unknown,
                None => &mut kept.small,
            };
            *count += 1;
        }
        kept
    }
}

impl FromIterator<(TmuxId, Owner)> for Owners {
    fn from_iter<T: IntoIterator<Item = (TmuxId, Owner)>>(owners: T) -> Self {
        Self(owners.into_iter().collect())
    }
}

/// Why a pane stays.
enum Keep {
    Focused,
    Persistent,
    Busy,
    Blocked,
    Starting,
    Unknown,
}

fn keeps(window: &Window, id: TmuxId, ours: &Ours) -> Option<Keep> {
    if window.active == Some(id) {
        return Some(Keep::Focused);
    }
    if ours.persistent {
        return Some(Keep::Persistent);
    }
    match ours.state {
        State::Idle | State::Exited => None,
        State::Busy => Some(Keep::Busy),
        State::Blocked => Some(Keep::Blocked),
        State::Starting => Some(Keep::Starting),
        State::Unknown => Some(Keep::Unknown),
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unasked {
            return f.write_str("replacing one was not allowed");
        }
        let counts = [
            (self.busy, "busy"),
            (self.blocked, "waiting for a person"),
            (self.focused, "focused"),
            (self.persistent, "persistent"),
            (self.starting, "starting"),
            (self.unknown, "in an unknown state"),
            (self.small, "too small for a new one"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        match counts[..] {
            [] => f.write_str("there is none to replace"),
            [..] => write!(f, "none may be replaced: {}", counts.join(", ")),
        }
    }
}
