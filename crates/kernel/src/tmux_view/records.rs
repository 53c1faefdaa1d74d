//! What is stored and published of views: where each pane is to be shown and whether it is, and the
//! sessions. With it, everything is shown again when tmux is back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use paned_backend::tmux::{TmuxPane, TmuxServerAddr, TmuxSnapshot};
use paned_model::{PaneId, PaneView, Size, ViewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::session::ViewSessionRecord;
use crate::dispatch::draft;
use crate::{Kernel, actions};

/// How a pane is to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ViewSpec {
    pub(crate) location: ViewLocation,
    pub(crate) on_closed: OnViewClosed,
    pub(crate) state: ViewState,
}

/// Where to show it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ViewLocation {
    /// In a session of our own tmux server.
    Session { name: String },
    /// In the window of a user's tmux pane, beside it.
    Beside { socket: PathBuf, pane: u32 },
}

/// What happens to a pane when a person closes the tmux pane that shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OnViewClosed {
    /// Its program is ended, and it is forgotten.
    #[default]
    Close,
    /// It goes on unseen.
    Detach,
}

impl ViewSpec {
    pub(crate) fn new(location: ViewLocation, on_closed: OnViewClosed) -> Self {
        Self { location, on_closed, state: ViewState::Waiting }
    }
}

impl From<&ViewSpec> for PaneView {
    fn from(spec: &ViewSpec) -> Self {
        let (session, socket, beside) = match &spec.location {
            ViewLocation::Session { name } => (Some(name.clone()), None, None),
            ViewLocation::Beside { socket, pane } => {
                (None, Some(socket.display().to_string()), Some(format!("%{pane}")))
            }
        };
        Self { session, socket, beside, state: spec.state }
    }
}

impl ViewLocation {
    /// The name of the session, where it is one of ours.
    pub(crate) fn session(&self) -> Option<&str> {
        match self {
            Self::Session { name } => Some(name),
            Self::Beside { .. } => None,
        }
    }
}

/// The records of one tmux server.
pub(super) struct ViewRecords {
    kernel: Kernel,
    server: TmuxServerAddr,
    /// Sessions that were started and not stopped.
    pub(super) sessions: BTreeMap<String, ViewSessionRecord>,
}

impl ViewRecords {
    pub(super) fn new(
        kernel: Kernel,
        server: TmuxServerAddr,
        sessions: BTreeMap<String, ViewSessionRecord>,
    ) -> Self {
        Self { kernel, server, sessions }
    }

    /// The panes that are shown on this tmux server, or wait to be.
    pub(super) fn remembered(&self) -> Vec<(PaneId, ViewSpec)> {
        let panes = self.kernel.panes().list();
        let specs =
            panes.iter().filter_map(|it| Some((it.id.clone(), it.lock().record.view.clone()?)));
        let is_visible =
            |spec: &ViewSpec| self.is_here(&spec.location) && spec.state != ViewState::Hidden;
        specs.filter(|(_, spec)| is_visible(spec)).collect()
    }

    /// Every location on this server where anything is or was shown.
    pub(super) fn locations(&self) -> Vec<ViewLocation> {
        let sessions =
            self.sessions.keys().map(|name| ViewLocation::Session { name: name.clone() });
        let panes = self.kernel.panes().list();
        let specs = panes.iter().filter_map(|pane| pane.lock().record.view.clone());
        let beside = specs.map(|spec| spec.location).filter(|it| it.session().is_none());
        sessions.chain(beside).filter(|location| self.is_here(location)).collect()
    }

    fn is_here(&self, location: &ViewLocation) -> bool {
        match location {
            ViewLocation::Session { .. } => self.server.is_own(),
            ViewLocation::Beside { socket, .. } => socket == self.server.socket(),
        }
    }

    pub(super) fn is_live(&self, pane: &PaneId) -> bool {
        self.kernel.panes().get(pane).is_ok_and(|pane| pane.lock().status().is_live())
    }

    pub(super) fn spec(&self, pane: &PaneId) -> Option<ViewSpec> {
        self.kernel.panes().get(pane).ok()?.lock().record.view.clone()
    }

    pub(super) fn title(&self, pane: &PaneId) -> String {
        let pane = self.kernel.panes().get(pane);
        pane.map(|pane| pane.lock().record.title.text().to_owned()).unwrap_or_default()
    }

    pub(super) fn set_state(&self, id: &PaneId, to: ViewState) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let mut state = pane.lock();
        let Some(spec) = state.record.view.as_mut().filter(|spec| spec.state != to) else { return };
        spec.state = to;
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    /// A pane is shown here now.
    pub(super) fn mark_shown(&self, id: &PaneId, location: &ViewLocation, view: TmuxPane) {
        self.set_state(id, ViewState::Shown);
        let payload = json!({ "session": location.session(), "tmuxPane": view.to_string() });
        self.kernel.emit("pane:shown", &self.kernel.event_payload(id, payload));
    }

    /// We stop showing a pane; that is no reason to end it.
    pub(super) fn mark_hidden(&self, id: &PaneId) {
        if self.kernel.panes().get(id).is_err() {
            return;
        }
        self.set_state(id, ViewState::Hidden);
        self.kernel.emit("pane:hidden", &self.kernel.event_payload(id, json!({})));
    }

    /// A pane has to wait for space.
    pub(super) fn mark_deferred(&self, id: &PaneId, reason: &str) {
        let payload = self.kernel.event_payload(id, json!({ "reason": reason }));
        self.kernel.emit("layout:deferred", &payload);
    }

    /// A pane has waited in vain.
    pub(super) fn mark_expired(&self, id: &PaneId, reason: &str) {
        self.set_state(id, ViewState::Hidden);
        let payload = self.kernel.event_payload(id, json!({ "reason": reason }));
        self.kernel.emit("layout:expired", &payload);
    }

    /// A pane is not shown any more: its program ended, or a user closed the tmux pane.
    pub(super) fn mark_closed(&self, id: &PaneId) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let (is_live, on_closed) = {
            let state = pane.lock();
            // The exit is on the tape before the view can close because of it.
            let has_ended = state.output().is_some_and(|output| output.ending().is_some());
            let on_closed = state.record.view.as_ref().map(|spec| spec.on_closed);
            (state.status().is_live() && !has_ended, on_closed)
        };
        self.mark_hidden(id);
        if is_live && on_closed == Some(OnViewClosed::Close) {
            let kernel = self.kernel.clone();
            tokio::spawn(async move {
                if let Err(refusal) = actions::close(&kernel, &pane).await {
                    tracing::warn!(pane = %pane.id, %refusal, "cannot close a pane whose view was closed");
                }
            });
        }
    }

    /// The tmux server is gone, and no view was closed. On our own server, views wait to be shown
    /// again.
    pub(super) fn mark_lost(&self, attached: &BTreeMap<String, usize>) {
        let ours = attached.iter().filter(|(name, _)| self.sessions.contains_key(*name));
        for (name, _) in ours.filter(|(_, attached)| 0 < **attached) {
            self.kernel.emit("session:detached", &json!({ "name": name, "attached": 0 }));
        }
        let to = if self.server.is_own() { ViewState::Waiting } else { ViewState::Hidden };
        let remembered = self.remembered();
        let shown = remembered.iter().filter(|(_, spec)| spec.state == ViewState::Shown);
        shown.for_each(|(pane, _)| self.set_state(pane, to));
    }

    /// A user may rename a session, or move a pane into another: a pane belongs where it is shown.
    pub(super) fn follow_moves(&mut self, snapshot: &TmuxSnapshot) {
        for view in &snapshot.views {
            let session = snapshot.sessions.iter().find(|session| session.id == view.session);
            let (Some(session), Some(shows)) = (session, &view.shows) else { continue };
            let Ok(pane) = self.kernel.panes().get(shows) else { continue };
            let location = ViewLocation::Session { name: session.name.clone() };
            let mut state = pane.lock();
            let Some(spec) = state.record.view.as_mut().filter(|spec| spec.location != location)
            else {
                continue;
            };
            spec.location = location;
            let name = &session.name;
            let payload =
                pane.event_payload(json!({ "session": name, "tmuxPane": view.id.to_string() }));
            let event = draft("pane:shown", &payload);
            self.kernel.journal().record(vec![event], vec![state.record.put()]);
            drop(state);
            self.save_session(name, session.size, snapshot.server);
        }
    }

    /// Stores a session, so that it is restored with its tmux server; publishes one that is new.
    pub(super) fn save_session(&mut self, name: &str, size: Size, tmux: u32) {
        let known = self.sessions.get(name);
        let created_at = known.map_or_else(|| self.kernel.now(), |record| record.created_at);
        let started = known.is_none().then(|| draft("session:started", &json!({ "name": name })));
        let record = ViewSessionRecord { name: name.to_owned(), size, created_at, tmux };
        self.kernel.journal().record(started.into_iter().collect(), vec![record.put()]);
        self.sessions.insert(record.name.clone(), record);
    }

    /// A session is over.
    pub(super) fn delete_session(&mut self, name: &str) {
        if self.sessions.remove(name).is_some() {
            let event = draft("session:stopped", &json!({ "name": name }));
            self.kernel.journal().record(vec![event], vec![ViewSessionRecord::delete(name)]);
        }
    }
}
