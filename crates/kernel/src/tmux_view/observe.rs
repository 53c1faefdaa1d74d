//! What has changed on a tmux server since the last query, and what follows from it.

use std::collections::BTreeMap;

use paned_backend::tmux::query::TmuxSession;
use paned_backend::tmux::{ControlClient, Error, SessionId, TmuxPane, TmuxPaneView, WindowId};
use paned_model::{PaneId, Size, ViewState};
use serde_json::json;

use super::session::ViewSessionRecord;
use super::spec::{OnViewClosed, ViewLocation};
use super::task::TmuxViewTask;
use crate::journal::draft;
use crate::panes::close;

/// The state at the last query.
#[derive(Default)]
pub(super) struct ObservedViews {
    /// The process of the tmux server.
    pub(super) server: Option<u32>,
    /// Whether there was a query at all: what the first one finds is not published as a change.
    is_known: bool,
    pub(super) shown: BTreeMap<PaneId, TmuxPaneView>,
    focus: BTreeMap<SessionId, PaneId>,
    pub(super) attached: BTreeMap<String, usize>,
    sizes: BTreeMap<SessionId, Size>,
}

impl ObservedViews {
    /// Counts a pane as shown, so that it is missed if the next query does not find it.
    pub(super) fn expect(&mut self, pane: &PaneId) {
        let view = || TmuxPaneView {
            id: TmuxPane(u32::MAX),
            window: WindowId(u32::MAX),
            session: SessionId(u32::MAX),
            shows: Some(pane.clone()),
            main: false,
            active: false,
            focused: false,
            size: Size::default(),
        };
        self.shown.entry(pane.clone()).or_insert_with(view);
    }
}

impl TmuxViewTask {
    /// Queries everything from tmux, and publishes what has changed.
    pub(super) async fn observe(&mut self) {
        let Ok(client) = self.client().await else { return };
        let (sessions, views) = match (client.sessions().await, client.views().await) {
            (Ok(sessions), Ok(views)) => (sessions, views),
            (Err(error), _) | (_, Err(error)) => {
                // It is reported as an event, too.
                tracing::debug!(%error, "cannot query tmux");
                return;
            }
        };
        if client.server().map(|server| server.pid) != self.observed.server {
            // The query has started another server, which shows nothing yet: no view was closed.
            return;
        }
        let is_first = !std::mem::replace(&mut self.observed.is_known, true);
        let shown: BTreeMap<PaneId, TmuxPaneView> =
            views.iter().filter_map(|view| Some((view.shows.clone()?, view.clone()))).collect();
        shown.keys().for_each(|pane| self.set_state(pane, ViewState::Shown));
        let before = std::mem::replace(&mut self.observed.shown, shown);
        let gone: Vec<(PaneId, TmuxPaneView)> = before
            .into_iter()
            .filter(|(pane, _)| !self.observed.shown.contains_key(pane))
            .collect();
        self.update_focus(&views, is_first);
        if self.server.is_own() {
            self.update_locations(&sessions, &views);
            self.update_attached(&sessions, is_first);
        }
        let resized = self.update_sizes(&sessions);
        for (pane, _) in &gone {
            self.on_view_gone(pane);
        }
        let stopped = self.server.is_own() && self.update_stopped(&sessions);
        if !gone.is_empty() || resized {
            let windows: Vec<_> = gone.iter().map(|(_, view)| view.window).collect();
            self.make_room(&client, &windows).await;
        }
        if !gone.is_empty() || stopped {
            self.stop_if_empty(&client).await;
        }
    }

    /// After a close in one of these windows, or a resize, there may be more space, or too little.
    pub(super) async fn make_room(&mut self, client: &ControlClient, windows: &[WindowId]) {
        for location in self.locations() {
            let Ok(shot) = self.snapshot(&location).await else { continue };
            if (windows.contains(&shot.id) || shot.is_cramped(&self.limits()))
                && let Err(refusal) = self.rebalance(client, &location).await
            {
                tracing::debug!(%refusal, "cannot rebalance the panes");
            }
        }
        if !self.queue.is_empty() {
            // Boxed because it is recursive: placing queries tmux again. By then the queue is
            // shorter.
            Box::pin(self.retry_waiting()).await;
        }
    }

    /// Every location on this server where anything is or was shown.
    fn locations(&self) -> Vec<ViewLocation> {
        let sessions =
            self.sessions.keys().map(|name| ViewLocation::Session { name: name.clone() });
        let panes = self.kernel.panes().list();
        let beside = panes.iter().filter_map(|pane| pane.lock().record.view.clone());
        let beside =
            beside.map(|spec| spec.location).filter(|location| location.session().is_none());
        let mut locations: Vec<ViewLocation> = Vec::new();
        for location in sessions.chain(beside).filter(|location| self.is_here(location)) {
            if !locations.contains(&location) {
                locations.push(location);
            }
        }
        locations
    }

    /// Closes views whose program has ended: some users have tmux keep such panes.
    pub(super) async fn close_ended(&mut self) {
        let ended = self.observed.shown.iter().filter(|(id, _)| !self.is_live(id));
        let ended: Vec<TmuxPane> = ended.map(|(_, view)| view.id).collect();
        let Ok(client) = self.client_now() else { return };
        for view in &ended {
            let _ = client.kill_pane(*view).await;
        }
        if !ended.is_empty() {
            self.observe().await;
        }
    }

    fn update_focus(&mut self, views: &[TmuxPaneView], is_first: bool) {
        let mut focus = BTreeMap::new();
        for view in views.iter().filter(|view| view.focused) {
            let Some(pane) = view.shows.clone() else { continue };
            if self.observed.focus.get(&view.session) != Some(&pane) && !is_first {
                self.kernel.emit("pane:activated", &self.kernel.event_payload(&pane, json!({})));
            }
            focus.insert(view.session, pane);
        }
        self.observed.focus = focus;
    }

    /// A user may rename a session, or move a pane into another: a pane belongs where it is shown.
    fn update_locations(&mut self, sessions: &[TmuxSession], views: &[TmuxPaneView]) {
        for view in views {
            let session = sessions.iter().find(|session| session.id == view.session);
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
            self.save_session(name, session.size);
        }
    }

    /// Stores a session, so that it is restored with its tmux server; publishes one that is new.
    pub(super) fn save_session(&mut self, name: &str, size: Size) {
        let tmux = self.client_now().ok().and_then(|client| client.server());
        let known = self.sessions.get(name);
        let created_at = known.map_or_else(|| self.kernel.now(), |record| record.created_at);
        let started = known.is_none().then(|| draft("session:started", &json!({ "name": name })));
        let tmux = tmux.map_or(0, |server| server.pid);
        let record = ViewSessionRecord { name: name.to_owned(), size, created_at, tmux };
        self.kernel.journal().record(started.into_iter().collect(), vec![record.put()]);
        self.sessions.insert(record.name.clone(), record);
    }

    fn update_attached(&mut self, sessions: &[TmuxSession], is_first: bool) {
        let ours = sessions.iter().filter(|session| self.sessions.contains_key(&session.name));
        let attached: BTreeMap<_, _> =
            ours.map(|session| (session.name.clone(), session.attached_clients)).collect();
        let before = std::mem::replace(&mut self.observed.attached, attached);
        if is_first {
            return;
        }
        for (name, now) in &self.observed.attached {
            let then = before.get(name).copied().unwrap_or(0);
            let event = match now.cmp(&then) {
                std::cmp::Ordering::Greater => "session:attached",
                std::cmp::Ordering::Less => "session:detached",
                std::cmp::Ordering::Equal => continue,
            };
            self.kernel.emit(event, &json!({ "name": name, "attached": now }));
        }
    }

    fn update_sizes(&mut self, sessions: &[TmuxSession]) -> bool {
        let sizes: BTreeMap<_, _> =
            sessions.iter().map(|session| (session.id, session.size)).collect();
        let changed = sizes != self.observed.sizes;
        self.observed.sizes = sizes;
        changed
    }

    /// Whether any of our sessions is gone.
    fn update_stopped(&mut self, sessions: &[TmuxSession]) -> bool {
        let gone: Vec<_> = self
            .sessions
            .keys()
            .filter(|name| !sessions.iter().any(|session| session.name == **name))
            .cloned()
            .collect();
        gone.iter().for_each(|name| self.session_stopped(name));
        !gone.is_empty()
    }

    pub(super) fn session_stopped(&mut self, name: &str) {
        if self.sessions.remove(name).is_some() {
            let event = draft("session:stopped", &json!({ "name": name }));
            self.kernel.journal().record(vec![event], vec![ViewSessionRecord::delete(name)]);
        }
        self.observed.attached.remove(name);
    }

    /// A pane is not shown any more: its program ended, or a user closed the tmux pane.
    fn on_view_gone(&mut self, id: &PaneId) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let (is_live, on_closed) = {
            let state = pane.lock();
            // The exit is on the tape before the view can close because of it.
            let has_ended = state.output().is_some_and(|output| output.ending().is_some());
            let on_closed = state.record.view.as_ref().map(|spec| spec.on_closed);
            (state.status().is_live() && !has_ended, on_closed)
        };
        self.set_state(id, ViewState::Hidden);
        self.kernel.emit("pane:hidden", &self.kernel.event_payload(id, json!({})));
        if is_live && on_closed == Some(OnViewClosed::Close) {
            let kernel = self.kernel.clone();
            tokio::spawn(async move {
                if let Err(refusal) = close::close(&kernel, &pane).await {
                    tracing::warn!(pane = %pane.id, %refusal, "cannot close a pane whose view was closed");
                }
            });
        }
    }

    /// A pane is shown here now.
    pub(super) fn mark_shown(&mut self, id: &PaneId, location: &ViewLocation, view: TmuxPane) {
        self.observed.expect(id);
        self.set_state(id, ViewState::Shown);
        let payload = json!({ "session": location.session(), "tmuxPane": view.to_string() });
        let payload = self.kernel.event_payload(id, payload);
        self.kernel.emit("pane:shown", &payload);
    }

    /// We stop showing a pane; that is no reason to end it.
    pub(super) fn mark_hidden(&mut self, id: &PaneId) {
        self.observed.shown.remove(id);
        self.set_state(id, ViewState::Hidden);
        self.kernel.emit("pane:hidden", &self.kernel.event_payload(id, json!({})));
    }

    pub(super) fn set_state(&self, id: &PaneId, to: ViewState) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let mut state = pane.lock();
        let Some(spec) = state.record.view.as_mut().filter(|spec| spec.state != to) else { return };
        spec.state = to;
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    pub(super) fn is_here(&self, location: &ViewLocation) -> bool {
        match location {
            ViewLocation::Session { .. } => self.server.is_own(),
            ViewLocation::Beside { socket, .. } => socket == self.server.socket(),
        }
    }

    /// Stops our own tmux server if it has nothing to show. From a user's server it only
    /// disconnects.
    pub(super) async fn stop_if_empty(&mut self, client: &ControlClient) {
        if !self.server.is_own() {
            if self.observed.shown.is_empty() && self.queue.is_empty() {
                self.disconnect();
            }
            return;
        }
        if self.sessions.is_empty()
            && client.sessions().await.is_ok_and(|sessions| sessions.is_empty())
        {
            self.disconnect();
            let _ = client.kill_server().await;
        }
    }

    /// A pane has ended, was removed, or has another title.
    pub(super) async fn pane_changed(&mut self, id: &PaneId) {
        if !self.is_live(id) {
            self.queue.remove(id);
            self.waiting.remove(id);
            if self.observed.shown.contains_key(id) {
                self.observe_soon();
            }
        } else if let (Some(view), Ok(client)) = (self.observed.shown.get(id), self.client_now()) {
            self.set_title(&client, id, view.id).await;
            self.observe().await;
        }
    }

    /// Gives a tmux pane the title of the pane that it shows.
    pub(super) async fn set_title(&self, client: &ControlClient, id: &PaneId, view: TmuxPane) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let title = pane.lock().record.title.text().to_owned();
        // A view that is gone needs none.
        let _: Result<(), Error> = client.set_title(view, &title).await;
    }
}
