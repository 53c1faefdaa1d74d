//! A window as tmux tells it now, and whose its panes are.

use paned_model::{AgentState, Grant, PaneId, Refusal};
use paned_policy::layout::{Limits, Ours, Owner, Owners, Role, State, TmuxId, Window};
use paned_substrate::tmux::command::Target;
use paned_substrate::tmux::query::Window as Told;
use paned_substrate::tmux::{Client, Error, SessionName, View, WindowId};
use serde_json::Value;

use super::wish::Spot;
use crate::Kernel;
use crate::panes::Pane;

/// A window, and whose its panes are.
#[derive(Clone, Debug)]
pub(crate) struct Shot {
    /// What tmux calls it.
    pub(crate) id: WindowId,
    pub(crate) window: Window,
    pub(crate) owners: Owners,
    /// Its panes, with whom they show.
    pub(crate) views: Vec<View>,
}

impl Shot {
    /// Looks at the window of a spot.
    pub(crate) async fn take(
        kernel: &Kernel,
        client: &Client,
        spot: &Spot,
    ) -> Result<Self, Refusal> {
        let all = client.views().await?;
        let (told, main) = match spot {
            Spot::Session { name } => in_session(client, name, &all).await?,
            Spot::Beside { pane, .. } => beside(client, *pane, &all).await?,
        };
        let views: Vec<View> = all.into_iter().filter(|view| view.window == told.id).collect();
        let active = views.iter().find(|view| view.active).map(|view| TmuxId(view.id.0));
        let mut window = Window::parse(&told.layout, active)
            .map_err(|error| Refusal::internal(format!("{error:?} in tmux's own layout")))?;
        window.zoomed = told.zoomed;
        let owners = owners(kernel, &views, main);
        Ok(Self { id: told.id, window, owners, views })
    }

    /// The same, with every pane that a grant does not reach to be left where it is.
    pub(crate) fn keeping_others(mut self, kernel: &Kernel, grant: &Grant) -> Self {
        for id in self.window.panes() {
            let ours = self.owners.ours(id).cloned();
            let other = ours.filter(|ours| !kernel.grant_reaches(&ours.pane, grant));
            if let Some(other) = other {
                self.owners.set(id, Owner::Ours(Ours { persistent: true, ..other }));
            }
        }
        self
    }

    /// The tmux pane that shows this one.
    pub(crate) fn view_of(&self, pane: &PaneId) -> Option<&View> {
        self.views.iter().find(|view| view.shows.as_ref() == Some(pane))
    }

    /// What a pane of the window is, for a layout that is kept.
    pub(crate) fn role(&self, kernel: &Kernel, id: TmuxId) -> Role {
        if matches!(self.owners.of(id), Owner::Main) {
            return Role::Main;
        }
        let ours = self.owners.ours(id).and_then(|ours| kernel.panes().get(&ours.pane).ok());
        let title = ours.map(|pane| pane.lock().record.title.text().to_owned());
        Role::Titled(title.unwrap_or_else(|| id.to_string()))
    }

    /// Whether any pane is smaller than it may be.
    pub(crate) fn is_cramped(&self, limits: &Limits) -> bool {
        self.window.tiles().iter().filter_map(|tile| Some((tile.pane?, tile))).any(|(id, tile)| {
            let least = match self.owners.of(id) {
                Owner::Main => limits.main_pane_min_width,
                Owner::Ours(_) => limits.agent_pane_min_width,
                Owner::Foreign => return false,
            };
            tile.width < least || tile.height < limits.min_height
        })
    }
}

/// The window of a session that has the main pane, or else the one that is looked at.
async fn in_session(
    client: &Client,
    name: &str,
    views: &[View],
) -> Result<(Told, Option<TmuxId>), Error> {
    let session = client.session(&SessionName::new(name)?).await?;
    let windows = client.windows(Some(session.id)).await?;
    let ours = || views.iter().filter(|view| view.session == session.id && view.shows.is_some());
    let main = ours().find(|view| view.main).or_else(|| ours().next());
    let chosen = match main {
        Some(main) => windows.into_iter().find(|window| window.id == main.window),
        None => windows.into_iter().find(|window| window.active),
    };
    let told = chosen.ok_or_else(|| Error::SessionNotFound(name.to_owned()))?;
    Ok((told, main.map(|view| TmuxId(view.id.0))))
}

/// The window of somebody's pane.
async fn beside(
    client: &Client,
    pane: u32,
    views: &[View],
) -> Result<(Told, Option<TmuxId>), Error> {
    let missing = || Error::SessionNotFound(format!("no pane %{pane} on that tmux server"));
    let view = views.iter().find(|view| view.id.0 == pane).ok_or_else(missing)?;
    let windows = client.windows(Some(view.session)).await?;
    let told = windows.into_iter().find(|window| window.id == view.window).ok_or_else(missing)?;
    Ok((told, Some(TmuxId(pane))))
}

fn owners(kernel: &Kernel, views: &[View], main: Option<TmuxId>) -> Owners {
    let mut owners = Owners::default();
    for view in views {
        let id = TmuxId(view.id.0);
        let shown = view.shows.as_ref().and_then(|id| kernel.panes().get(id).ok());
        match shown {
            _ if Some(id) == main => owners.set(id, Owner::Main),
            Some(pane) => owners.set(id, Owner::Ours(ours(&pane))),
            None => {}
        }
    }
    owners
}

/// What is known of a pane that may have to make room.
fn ours(pane: &Pane) -> Ours {
    let state = pane.lock();
    let said = state.meta().get("agent.status").and_then(Value::as_str);
    let (is_live, persistent) = (state.status().is_live(), state.record.persist);
    let ended = state.record.end.map(|end| end.at);
    let judged = state.agent.as_ref().map(|agent| agent.state);
    let doing = match said {
        _ if !is_live => State::Exited,
        _ if judged.is_some() => judged.map_or(State::Unknown, doing),
        Some("idle") => State::Idle,
        Some("running") => State::Busy,
        Some("blocked") => State::Blocked,
        // Nobody says, and that is never taken for idle.
        Some(_) | None => State::Unknown,
    };
    let since = ended.unwrap_or(pane.created_at);
    Ours { pane: pane.id.clone(), state: doing, persistent, since }
}

/// What an agent does, as far as room is concerned. Only one that waits for a prompt may have to go.
fn doing(judged: AgentState) -> State {
    match judged {
        AgentState::Ready | AgentState::Error => State::Idle,
        AgentState::Starting | AgentState::Busy => State::Busy,
        AgentState::Blocked => State::Blocked,
        AgentState::Exited => State::Exited,
        AgentState::Limited | AgentState::Unknown => State::Unknown,
    }
}

/// What to ask of a window.
impl From<&Shot> for Target {
    fn from(shot: &Shot) -> Self {
        Self::Window(shot.id)
    }
}
