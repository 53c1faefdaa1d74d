//! A window as tmux reports it now, and the owners of its panes.

use paned_backend::tmux::command::TmuxTarget;
use paned_backend::tmux::query::TmuxWindow;
use paned_backend::tmux::{ControlClient, Error, SessionName, TmuxPaneView, WindowId};
use paned_model::{AgentState, Grant, PaneId, Refusal};
use paned_policy::layout::{
    LayoutLimits, LayoutWindow, ManagedPane, ManagedPaneState, PaneOwner, PaneOwners, SavedRole,
    TmuxPaneId,
};
use serde_json::Value;

use super::spec::ViewLocation;
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
}

impl WindowSnapshot {
    /// Queries the window of a location.
    pub(crate) async fn take(
        kernel: &Kernel,
        client: &ControlClient,
        location: &ViewLocation,
    ) -> Result<Self, Refusal> {
        let all = client.views().await?;
        let (tmux_window, main) = match location {
            ViewLocation::Session { name } => in_session(client, name, &all).await?,
            ViewLocation::Beside { pane, .. } => beside(client, *pane, &all).await?,
        };
        let views: Vec<TmuxPaneView> =
            all.into_iter().filter(|view| view.window == tmux_window.id).collect();
        let active = views.iter().find(|view| view.active).map(|view| TmuxPaneId(view.id.0));
        let mut window = LayoutWindow::parse(&tmux_window.layout, active)
            .map_err(|error| Refusal::internal(format!("{error:?} in tmux's own layout")))?;
        window.zoomed = tmux_window.zoomed;
        let owners = owners(kernel, &views, main);
        Ok(Self { id: tmux_window.id, window, owners, views })
    }

    /// The same, with every pane pinned that a grant does not reach.
    pub(crate) fn pinning_unreachable(mut self, kernel: &Kernel, grant: &Grant) -> Self {
        for id in self.window.panes() {
            let ours = self.owners.managed(id).cloned();
            let other = ours.filter(|ours| !kernel.grant_reaches(&ours.pane, grant));
            if let Some(other) = other {
                self.owners.set(id, PaneOwner::Managed(ManagedPane { persistent: true, ..other }));
            }
        }
        self
    }

    /// The tmux pane that shows this one.
    pub(crate) fn view_of(&self, pane: &PaneId) -> Option<&TmuxPaneView> {
        self.views.iter().find(|view| view.shows.as_ref() == Some(pane))
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

    /// Whether any pane is smaller than it may be.
    pub(crate) fn is_cramped(&self, limits: &LayoutLimits) -> bool {
        self.window.tiles().iter().filter_map(|tile| Some((tile.pane?, tile))).any(|(id, tile)| {
            let least = match self.owners.of(id) {
                PaneOwner::Main => limits.main_pane_min_width,
                PaneOwner::Managed(_) => limits.agent_pane_min_width,
                PaneOwner::Foreign => return false,
            };
            tile.width < least || tile.height < limits.min_height
        })
    }
}

/// The window of a session that has the main pane, or else the active one.
async fn in_session(
    client: &ControlClient,
    name: &str,
    views: &[TmuxPaneView],
) -> Result<(TmuxWindow, Option<TmuxPaneId>), Error> {
    let session = client.session(&SessionName::new(name)?).await?;
    let windows = client.windows(Some(session.id)).await?;
    let ours = || views.iter().filter(|view| view.session == session.id && view.shows.is_some());
    let main = ours().find(|view| view.main).or_else(|| ours().next());
    let chosen = match main {
        Some(main) => windows.into_iter().find(|window| window.id == main.window),
        None => windows.into_iter().find(|window| window.active),
    };
    let window = chosen.ok_or_else(|| Error::SessionNotFound(name.to_owned()))?;
    Ok((window, main.map(|view| TmuxPaneId(view.id.0))))
}

/// The window of a user's tmux pane.
async fn beside(
    client: &ControlClient,
    pane: u32,
    views: &[TmuxPaneView],
) -> Result<(TmuxWindow, Option<TmuxPaneId>), Error> {
    let missing = || Error::SessionNotFound(format!("no pane %{pane} on that tmux server"));
    let view = views.iter().find(|view| view.id.0 == pane).ok_or_else(missing)?;
    let windows = client.windows(Some(view.session)).await?;
    let window = windows.into_iter().find(|window| window.id == view.window).ok_or_else(missing)?;
    Ok((window, Some(TmuxPaneId(pane))))
}

fn owners(kernel: &Kernel, views: &[TmuxPaneView], main: Option<TmuxPaneId>) -> PaneOwners {
    let mut owners = PaneOwners::default();
    for view in views {
        let id = TmuxPaneId(view.id.0);
        let shown = view.shows.as_ref().and_then(|id| kernel.panes().get(id).ok());
        match shown {
            _ if Some(id) == main => owners.set(id, PaneOwner::Main),
            Some(pane) => owners.set(id, PaneOwner::Managed(ours(&pane))),
            None => {}
        }
    }
    owners
}

/// What the layout needs to know of a pane that may have to make space.
fn ours(pane: &Pane) -> ManagedPane {
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

/// The target of tmux commands for this window.
impl From<&WindowSnapshot> for TmuxTarget {
    fn from(shot: &WindowSnapshot) -> Self {
        Self::Window(shot.id)
    }
}
