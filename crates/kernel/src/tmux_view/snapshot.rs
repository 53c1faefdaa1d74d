//! What tmux reports: a window with the owners of its panes, and what has changed since last time.

use std::collections::{BTreeMap, BTreeSet};

use paned_backend::tmux::query::TmuxWindow;
use paned_backend::tmux::{Error, SessionId, SessionName, TmuxPaneView, TmuxSnapshot, WindowId};
use paned_model::{AgentState, Grant, PaneId, Refusal, Size, Time};
use paned_policy::layout::{
    LayoutWindow, ManagedPane, ManagedPaneState, PaneOwner, PaneOwners, SavedRole, TmuxPaneId,
};
use serde_json::Value;

use super::ViewLocation;
use crate::Kernel;
use crate::panes::Pane;

/// A window, and the owners of its panes.
#[derive(Clone, Debug)]
pub(crate) struct WindowSnapshot {
    /// What tmux calls it.
    pub(crate) id: WindowId,
    pub(crate) window: LayoutWindow,
    pub(crate) owners: PaneOwners,
    /// Its panes, with the pane that each of them shows.
    pub(crate) views: Vec<TmuxPaneView>,
    /// Whether a client is attached to its session.
    pub(crate) is_attached: bool,
}

impl WindowSnapshot {
    /// The window of a location; `None` if its session is not there.
    pub(super) fn find(
        kernel: &Kernel,
        snapshot: &TmuxSnapshot,
        location: &ViewLocation,
    ) -> Result<Option<Self>, Refusal> {
        let found = match location {
            ViewLocation::Session { name } => in_session(snapshot, &SessionName::new(name)?),
            ViewLocation::Beside { pane, .. } => {
                Some(beside(snapshot, *pane).ok_or_else(|| location.missing())?)
            }
        };
        found.map(|(window, main)| Self::new(kernel, snapshot, window, main)).transpose()
    }

    /// A window, and beside which of its panes others are placed.
    pub(super) fn new(
        kernel: &Kernel,
        snapshot: &TmuxSnapshot,
        tmux_window: &TmuxWindow,
        main: Option<TmuxPaneId>,
    ) -> Result<Self, Refusal> {
        let views = snapshot.views.iter().filter(|view| view.window == tmux_window.id);
        let views: Vec<TmuxPaneView> = views.cloned().collect();
        let active = views.iter().find(|view| view.active).map(|view| TmuxPaneId(view.id.0));
        let mut window = LayoutWindow::parse(&tmux_window.layout, active).map_err(|error| {
            Refusal::internal(format!(
                "cannot parse the layout that tmux \
                reports ({error:?})"
            ))
        })?;
        window.zoomed = tmux_window.zoomed;
        let owners = owners(kernel, &views, main);
        let is_attached = snapshot.sessions.iter().any(|session| {
            0 < session.attached_clients && views.iter().any(|view| view.session == session.id)
        });
        Ok(Self { id: tmux_window.id, window, owners, views, is_attached })
    }

    /// The session of the window; where it is linked to several, the one of the user's pane.
    pub(super) fn session(&self, location: &ViewLocation) -> Option<SessionId> {
        let beside = match location {
            ViewLocation::Session { .. } => None,
            ViewLocation::Beside { pane, .. } => self.views.iter().find(|view| view.id.0 == *pane),
        };
        beside.or(self.views.first()).map(|view| view.session)
    }

    /// The panes of the window that a grant does not reach.
    pub(super) fn unreachable(&self, kernel: &Kernel, grant: &Grant) -> BTreeSet<PaneId> {
        let shown = self.views.iter().filter_map(|view| view.shows.clone());
        shown.filter(|pane| !kernel.grant_reaches(pane, grant)).collect()
    }

    /// The role of a pane of the window, for a saved layout.
    pub(crate) fn role(&self, kernel: &Kernel, id: TmuxPaneId) -> SavedRole {
        if matches!(self.owners.of(id), PaneOwner::Main) {
            return SavedRole::Main;
        }
        let ours = self.owners.managed(id).and_then(|ours| kernel.panes().get(&ours.pane).ok());
        let title = ours.map(|pane| pane.lock().record.title.text().to_owned());
        SavedRole::Titled(title.unwrap_or_else(|| id.to_string()))
    }
}

impl ViewLocation {
    /// Why there is nothing.
    pub(super) fn missing(&self) -> Refusal {
        let missing = match self {
            Self::Session { name } => name.clone(),
            Self::Beside { pane, .. } => format!("no tmux pane `%{pane}` on that server"),
        };
        Error::SessionNotFound(missing).into()
    }
}

/// The window of a session that has the main pane, or else the active one.
fn in_session<'a>(
    snapshot: &'a TmuxSnapshot,
    name: &SessionName,
) -> Option<(&'a TmuxWindow, Option<TmuxPaneId>)> {
    let session = snapshot.sessions.iter().find(|session| session.name == name.as_str())?;
    let here = |view: &&TmuxPaneView| view.session == session.id && view.shows.is_some();
    let ours = || snapshot.views.iter().filter(here);
    let main = ours().find(|view| view.main).or_else(|| ours().next());
    let mut windows = snapshot.windows.iter().filter(|window| window.session == session.id);
    let window = match main {
        Some(main) => windows.find(|window| window.id == main.window),
        None => windows.find(|window| window.active),
    };
    Some((window?, main.map(|view| TmuxPaneId(view.id.0))))
}

/// The window of a user's tmux pane.
fn beside(snapshot: &TmuxSnapshot, pane: u32) -> Option<(&TmuxWindow, Option<TmuxPaneId>)> {
    let view = snapshot.views.iter().find(|view| view.id.0 == pane)?;
    let window = snapshot.windows.iter().find(|window| window.id == view.window)?;
    Some((window, Some(TmuxPaneId(pane))))
}

fn owners(kernel: &Kernel, views: &[TmuxPaneView], main: Option<TmuxPaneId>) -> PaneOwners {
    let mut owners = PaneOwners::default();
    for view in views {
        let id = TmuxPaneId(view.id.0);
        let shown = view.shows.as_ref().and_then(|id| kernel.panes().get(id).ok());
        match shown {
            _ if Some(id) == main => owners.set(id, PaneOwner::Main),
            Some(pane) => owners.set(id, PaneOwner::Managed(ours(kernel, &pane))),
            None => {}
        }
    }
    owners
}

/// What the layout needs to know of a pane that may have to make space.
fn ours(kernel: &Kernel, pane: &Pane) -> ManagedPane {
    let known = known(pane);
    let since = quiet_since(kernel, pane).filter(|_| known.state == ManagedPaneState::Unknown);
    match (since, quiet_after(kernel)) {
        (Some(since), Some(after)) if after <= kernel.now().since(since) => {
            ManagedPane { state: ManagedPaneState::Quiet, since, ..known }
        }
        _ => known,
    }
}

/// After how many milliseconds without output a pane may be replaced, if that is allowed.
fn quiet_after(kernel: &Kernel) -> Option<u64> {
    let after = kernel.setup().tmux_view.as_ref()?.quiet_after?;
    u64::try_from(after.as_millis()).ok()
}

/// Since when a pane whose state is not known has printed nothing, where that counts. A rate limit
/// is a state, and its agent will go on.
fn quiet_since(kernel: &Kernel, pane: &Pane) -> Option<Time> {
    quiet_after(kernel)?;
    let (agent, output) = {
        let state = pane.lock();
        (state.agent.as_ref().map(|agent| agent.state), state.output()?)
    };
    if agent == Some(AgentState::Limited) {
        return None;
    }
    let last = output.end().checked_sub(1).map(|last| output.time(last));
    match last {
        None => Some(pane.created_at),
        Some(read) => Some(read.ok()?.ok()?.time),
    }
}

/// When the first of these panes has been quiet for long enough, if none has yet.
pub(super) fn next_quiet<'a>(
    kernel: &Kernel,
    panes: impl Iterator<Item = &'a PaneId>,
) -> Option<Time> {
    let after = quiet_after(kernel)?;
    let panes = panes.filter_map(|id| kernel.panes().get(id).ok());
    let unknown = panes.filter(|pane| known(pane).state == ManagedPaneState::Unknown);
    let due = unknown.filter_map(|pane| Some(Time(quiet_since(kernel, &pane)?.0 + after)));
    due.filter(|due| kernel.now() < *due).min()
}

/// The same, as far as its program or a profile tells.
fn known(pane: &Pane) -> ManagedPane {
    let state = pane.lock();
    let reported = state.meta().get("agent.status").and_then(Value::as_str);
    let is_live = state.status().is_live();
    let persistent = state.record.persist;
    let ended = state.record.end.map(|end| end.at);
    let agent_state = state.agent.as_ref().map(|agent| agent.state);
    let pane_state = match reported {
        _ if !is_live => ManagedPaneState::Exited,
        _ if agent_state.is_some() => agent_state.map_or(ManagedPaneState::Unknown, layout_state),
        Some("idle") => ManagedPaneState::Idle,
        Some("running") => ManagedPaneState::Busy,
        Some("blocked") => ManagedPaneState::Blocked,
        // No status is reported, and that never counts as idle.
        Some(_) | None => ManagedPaneState::Unknown,
    };
    let since = ended.unwrap_or(pane.created_at);
    ManagedPane { pane: pane.id.clone(), state: pane_state, persistent, since }
}

/// The state of an agent for the layout. Only one that waits for a prompt may be closed for another
/// pane.
fn layout_state(state: AgentState) -> ManagedPaneState {
    match state {
        AgentState::Ready | AgentState::Error => ManagedPaneState::Idle,
        AgentState::Starting | AgentState::Busy => ManagedPaneState::Busy,
        AgentState::Blocked => ManagedPaneState::Blocked,
        AgentState::Exited => ManagedPaneState::Exited,
        AgentState::Limited | AgentState::Unknown => ManagedPaneState::Unknown,
    }
}

/// What the last query found.
#[derive(Default)]
pub(super) struct ObservedViews {
    /// The process of the tmux server.
    pub(super) server: Option<u32>,
    pub(super) shown: BTreeMap<PaneId, TmuxPaneView>,
    /// How many clients are attached, by session.
    pub(super) attached: BTreeMap<String, usize>,
    focus: BTreeMap<SessionId, PaneId>,
    sizes: BTreeMap<SessionId, Size>,
}

/// What is different from the last query.
pub(super) struct ViewChanges {
    /// Whether there was no last query: what the first one finds is not published as a change.
    pub(super) is_first: bool,
    /// The panes that are not shown any more, and the windows that they were in.
    pub(super) vanished: BTreeMap<PaneId, WindowId>,
    /// Whether any window has another size.
    pub(super) is_resized: bool,
    /// The panes that got the focus.
    pub(super) focused: Vec<PaneId>,
    /// The sessions with another number of clients: how many it was, and how many it is.
    pub(super) attached: Vec<(String, usize, usize)>,
}

impl ObservedViews {
    /// Replaces it by what a query has found.
    pub(super) fn update(&mut self, snapshot: &TmuxSnapshot) -> ViewChanges {
        let shows = |view: &TmuxPaneView| Some((view.shows.clone()?, view.clone()));
        let focus = |view: &TmuxPaneView| Some((view.session, view.shows.clone()?));
        let sessions = snapshot.sessions.iter();
        let now = Self {
            server: Some(snapshot.server),
            shown: snapshot.views.iter().filter_map(shows).collect(),
            attached: sessions
                .clone()
                .map(|session| (session.name.clone(), session.attached_clients))
                .collect(),
            focus: snapshot.views.iter().filter(|view| view.focused).filter_map(focus).collect(),
            sizes: sessions.map(|session| (session.id, session.size)).collect(),
        };
        let before = std::mem::replace(self, now);
        let vanished = before.shown.iter().filter(|(pane, _)| !self.shown.contains_key(*pane));
        let focused =
            self.focus.iter().filter(|(session, pane)| before.focus.get(session) != Some(*pane));
        let attached = self.attached.iter().filter_map(|(name, now)| {
            let then = before.attached.get(name).copied().unwrap_or(0);
            (then != *now).then(|| (name.clone(), then, *now))
        });
        ViewChanges {
            is_first: before.server.is_none(),
            vanished: vanished.map(|(pane, view)| (pane.clone(), view.window)).collect(),
            is_resized: before.sizes != self.sizes,
            focused: focused.map(|(_, pane)| pane.clone()).collect(),
            attached: attached.collect(),
        }
    }
}
