//! What has changed on a tmux server since the last look, and what follows from it.

use std::collections::BTreeMap;

use paned_model::{PaneId, Size, ViewState};
use paned_substrate::tmux::query::Session;
use paned_substrate::tmux::{Client, Error, SessionId, TmuxPane, View, WindowId};
use serde_json::json;

use super::session::Kept;
use super::task::Task;
use super::wish::{OnViewClosed, Spot};
use crate::actions;
use crate::dispatch::draft;

/// What was seen last.
#[derive(Default)]
pub(super) struct Seen {
    /// The process of the tmux server.
    pub(super) server: Option<u32>,
    /// Whether anything was seen at all: what is there at the first look is no news.
    is_known: bool,
    pub(super) shown: BTreeMap<PaneId, View>,
    focus: BTreeMap<SessionId, PaneId>,
    pub(super) people: BTreeMap<String, usize>,
    sizes: BTreeMap<SessionId, Size>,
}

impl Seen {
    /// A pane that counts as seen, so that it is missed when it is not there at the next look.
    pub(super) fn expect(&mut self, pane: &PaneId) {
        let view = || View {
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

impl Task {
    /// Asks tmux for everything, and tells what is news.
    pub(super) async fn look(&mut self) {
        let Ok(client) = self.client().await else { return };
        let (sessions, views) = match (client.sessions().await, client.views().await) {
            (Ok(sessions), Ok(views)) => (sessions, views),
            (Err(error), _) | (_, Err(error)) => {
                // It is told as a fact, too.
                tracing::debug!(%error, "cannot look at tmux");
                return;
            }
        };
        if client.server().map(|server| server.pid) != self.seen.server {
            // Another server was started by asking, and shows nothing yet: nobody has closed anything.
            return;
        }
        let is_first = !std::mem::replace(&mut self.seen.is_known, true);
        let shown: BTreeMap<PaneId, View> =
            views.iter().filter_map(|view| Some((view.shows.clone()?, view.clone()))).collect();
        shown.keys().for_each(|pane| self.set_state(pane, ViewState::Shown));
        let before = std::mem::replace(&mut self.seen.shown, shown);
        let gone: Vec<(PaneId, View)> =
            before.into_iter().filter(|(pane, _)| !self.seen.shown.contains_key(pane)).collect();
        self.hear_focus(&views, is_first);
        if self.place.is_own() {
            self.follow(&sessions, &views);
            self.hear_people(&sessions, is_first);
        }
        let resized = self.hear_sizes(&sessions);
        for (pane, _) in &gone {
            self.vanished(pane);
        }
        let stopped = self.place.is_own() && self.hear_stopped(&sessions);
        if !gone.is_empty() || resized {
            let windows: Vec<_> = gone.iter().map(|(_, view)| view.window).collect();
            self.make_room(&client, &windows).await;
        }
        if !gone.is_empty() || stopped {
            self.leave_nothing(&client).await;
        }
    }

    /// After a close in one of these windows, or a resize, there may be room, or too little of it.
    pub(super) async fn make_room(&mut self, client: &Client, windows: &[WindowId]) {
        for spot in self.spots() {
            let Ok(shot) = self.shoot(&spot).await else { continue };
            if (windows.contains(&shot.id) || shot.is_cramped(&self.limits()))
                && let Err(refusal) = self.settle(client, &spot).await
            {
                tracing::debug!(%refusal, "cannot even the panes");
            }
        }
        if !self.queue.is_empty() {
            // Placing looks again when it is done; by then the queue is shorter.
            Box::pin(self.wake()).await;
        }
    }

    /// Every spot here where anything is or was shown.
    fn spots(&self) -> Vec<Spot> {
        let sessions = self.kept.keys().map(|name| Spot::Session { name: name.clone() });
        let panes = self.kernel.panes().list();
        let beside = panes.iter().filter_map(|pane| pane.lock().record.wish.clone());
        let beside = beside.map(|wish| wish.spot).filter(|spot| spot.session().is_none());
        let mut spots: Vec<Spot> = Vec::new();
        for spot in sessions.chain(beside).filter(|spot| self.is_here(spot)) {
            if !spots.contains(&spot) {
                spots.push(spot);
            }
        }
        spots
    }

    /// Closes what is still shown although its program has ended: some people have tmux keep such panes.
    pub(super) async fn close_ended(&mut self) {
        let ended = self.seen.shown.iter().filter(|(id, _)| !self.is_live(id));
        let ended: Vec<TmuxPane> = ended.map(|(_, view)| view.id).collect();
        let Ok(client) = self.client_now() else { return };
        for view in &ended {
            let _ = client.kill_pane(*view).await;
        }
        if !ended.is_empty() {
            self.look().await;
        }
    }

    fn hear_focus(&mut self, views: &[View], is_first: bool) {
        let mut focus = BTreeMap::new();
        for view in views.iter().filter(|view| view.focused) {
            let Some(pane) = view.shows.clone() else { continue };
            if self.seen.focus.get(&view.session) != Some(&pane) && !is_first {
                self.kernel.emit("pane:activated", &self.kernel.about(&pane, json!({})));
            }
            focus.insert(view.session, pane);
        }
        self.seen.focus = focus;
    }

    /// A person may rename a session, or take a pane into another: where a pane is seen is where it belongs.
    fn follow(&mut self, sessions: &[Session], views: &[View]) {
        for view in views {
            let session = sessions.iter().find(|session| session.id == view.session);
            let (Some(session), Some(shows)) = (session, &view.shows) else { continue };
            let Ok(pane) = self.kernel.panes().get(shows) else { continue };
            let spot = Spot::Session { name: session.name.clone() };
            let mut state = pane.lock();
            let Some(wish) = state.record.wish.as_mut().filter(|wish| wish.spot != spot) else {
                continue;
            };
            wish.spot = spot;
            let name = &session.name;
            let told = pane.about(json!({ "session": name, "tmuxPane": view.id.to_string() }));
            let told = draft("pane:shown", &told);
            self.kernel.journal().record(vec![told], vec![state.record.put()]);
            drop(state);
            self.keep(name, session.size);
        }
    }

    /// Remembers a session, so that it comes back with its tmux server; tells one that is new.
    pub(super) fn keep(&mut self, name: &str, size: Size) {
        let tmux = self.client_now().ok().and_then(|client| client.server());
        let known = self.kept.get(name);
        let created_at = known.map_or_else(|| self.kernel.now(), |kept| kept.created_at);
        let started = known.is_none().then(|| draft("session:started", &json!({ "name": name })));
        let tmux = tmux.map_or(0, |server| server.pid);
        let kept = Kept { name: name.to_owned(), size, created_at, tmux };
        self.kernel.journal().record(started.into_iter().collect(), vec![kept.put()]);
        self.kept.insert(kept.name.clone(), kept);
    }

    fn hear_people(&mut self, sessions: &[Session], is_first: bool) {
        let ours = sessions.iter().filter(|session| self.kept.contains_key(&session.name));
        let people: BTreeMap<_, _> =
            ours.map(|session| (session.name.clone(), session.people)).collect();
        let before = std::mem::replace(&mut self.seen.people, people);
        if is_first {
            return;
        }
        for (name, now) in &self.seen.people {
            let then = before.get(name).copied().unwrap_or(0);
            let event = match now.cmp(&then) {
                std::cmp::Ordering::Greater => "session:attached",
                std::cmp::Ordering::Less => "session:detached",
                std::cmp::Ordering::Equal => continue,
            };
            self.kernel.emit(event, &json!({ "name": name, "attached": now }));
        }
    }

    fn hear_sizes(&mut self, sessions: &[Session]) -> bool {
        let sizes: BTreeMap<_, _> =
            sessions.iter().map(|session| (session.id, session.size)).collect();
        let changed = sizes != self.seen.sizes;
        self.seen.sizes = sizes;
        changed
    }

    /// Whether any of ours is there no more.
    fn hear_stopped(&mut self, sessions: &[Session]) -> bool {
        let gone: Vec<_> = self
            .kept
            .keys()
            .filter(|name| !sessions.iter().any(|session| session.name == **name))
            .cloned()
            .collect();
        gone.iter().for_each(|name| self.stopped(name));
        !gone.is_empty()
    }

    pub(super) fn stopped(&mut self, name: &str) {
        if self.kept.remove(name).is_some() {
            let told = draft("session:stopped", &json!({ "name": name }));
            self.kernel.journal().record(vec![told], vec![Kept::delete(name)]);
        }
        self.seen.people.remove(name);
    }

    /// A pane is not shown any more: its program ended, or somebody closed the tmux pane.
    fn vanished(&mut self, id: &PaneId) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let (is_live, on_closed) = {
            let state = pane.lock();
            // The ending is on the tape before the view can go because of it.
            let has_ended = state.output().is_some_and(|output| output.ending().is_some());
            let on_closed = state.record.wish.as_ref().map(|wish| wish.on_closed);
            (state.status().is_live() && !has_ended, on_closed)
        };
        self.set_state(id, ViewState::Hidden);
        self.kernel.emit("pane:hidden", &self.kernel.about(id, json!({})));
        if is_live && on_closed == Some(OnViewClosed::Close) {
            let kernel = self.kernel.clone();
            tokio::spawn(async move {
                if let Err(refusal) = actions::close(&kernel, &pane).await {
                    tracing::warn!(pane = %pane.id, %refusal, "a pane whose view was closed is still there");
                }
            });
        }
    }

    /// A pane is shown here now.
    pub(super) fn shown(&mut self, id: &PaneId, spot: &Spot, view: TmuxPane) {
        self.seen.expect(id);
        self.set_state(id, ViewState::Shown);
        let told = json!({ "session": spot.session(), "tmuxPane": view.to_string() });
        let told = self.kernel.about(id, told);
        self.kernel.emit("pane:shown", &told);
    }

    /// We show a pane no more; that is no reason to end it.
    pub(super) fn hidden(&mut self, id: &PaneId) {
        self.seen.shown.remove(id);
        self.set_state(id, ViewState::Hidden);
        self.kernel.emit("pane:hidden", &self.kernel.about(id, json!({})));
    }

    pub(super) fn set_state(&self, id: &PaneId, to: ViewState) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let mut state = pane.lock();
        let Some(wish) = state.record.wish.as_mut().filter(|wish| wish.state != to) else { return };
        wish.state = to;
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    pub(super) fn is_here(&self, spot: &Spot) -> bool {
        match spot {
            Spot::Session { .. } => self.place.is_own(),
            Spot::Beside { socket, .. } => socket == self.place.socket(),
        }
    }

    /// Ends a tmux server of our own that has nothing to show, and leaves somebody's alone.
    pub(super) async fn leave_nothing(&mut self, client: &Client) {
        if !self.place.is_own() {
            if self.seen.shown.is_empty() && self.queue.is_empty() {
                self.hang_up();
            }
            return;
        }
        if self.kept.is_empty() && client.sessions().await.is_ok_and(|sessions| sessions.is_empty())
        {
            self.hang_up();
            let _ = client.kill_server().await;
        }
    }

    /// A pane has ended, is gone, or has another title.
    pub(super) async fn stirred(&mut self, id: &PaneId) {
        if !self.is_live(id) {
            self.queue.remove(id);
            self.waiting.remove(id);
            if self.seen.shown.contains_key(id) {
                self.look_soon();
            }
        } else if let (Some(view), Ok(client)) = (self.seen.shown.get(id), self.client_now()) {
            self.entitle(&client, id, view.id).await;
            self.look().await;
        }
    }

    /// Gives a tmux pane the title of the pane that it shows.
    pub(super) async fn entitle(&self, client: &Client, id: &PaneId, view: TmuxPane) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let title = pane.lock().record.title.text().to_owned();
        // A view that is gone needs none.
        let _: Result<(), Error> = client.set_title(view, &title).await;
    }
}
