//! What is stored and published of views: where each pane is to be shown and whether it is, and the
//! sessions. With it, everything is shown again when tmux is back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paned_backend::tmux::query::TmuxSession;
use paned_backend::tmux::{TmuxPane, TmuxServerAddr, TmuxSnapshot};
use paned_model::{Code, Grant, PaneId, PaneRef, PaneSet, Refusal, Size, Time, ViewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Kernel;
use crate::journal::{RecordChange, draft};
use crate::names::missing_name;
use crate::panes::view_spec::{OnViewClosed, ViewLocation, ViewSpec};
use crate::panes::{Pane, close};

/// The kind of a session's record in the journal.
pub(crate) const SESSION: &str = "session";

/// A session that was started and not stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ViewSessionRecord {
    pub(crate) name: String,
    pub(crate) size: Size,
    pub(crate) created_at: Time,
    /// The process id of the tmux server it was last seen on: what is missing on another one was
    /// not closed by a user.
    pub(crate) tmux: u32,
    /// Since when new panes are shown in it, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) follows_since: Option<Time>,
}

/// A session, as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionInfo {
    /// Its name.
    pub(crate) name: String,
    /// The socket of the tmux server that it is on: `tmux -S <socket> attach -t <target>`.
    pub(crate) socket: PathBuf,
    /// Its tmux target.
    pub(crate) target: String,
    /// How many clients are attached.
    pub(crate) attached: usize,
    /// The panes that it shows.
    pub(crate) panes: Vec<PaneId>,
    /// The size of its window.
    pub(crate) size: Size,
    /// Whether new panes are shown in it.
    pub(crate) follows: bool,
    /// Whether it is the session of requests that name none.
    #[serde(rename = "default")]
    pub(crate) is_default: bool,
    /// What tmux found wrong in the file of `tmux.config` when it loaded it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) config_errors: Vec<String>,
}

impl SessionInfo {
    /// A session as tmux reports it.
    pub(super) fn new(snapshot: &TmuxSnapshot, session: &TmuxSession, socket: &Path) -> Self {
        let here = snapshot.views.iter().filter(|view| view.session == session.id);
        Self {
            panes: here.filter_map(|view| view.shows.clone()).collect(),
            socket: socket.to_owned(),
            target: session.id.to_string(),
            attached: session.attached_clients,
            size: session.size,
            name: session.name.clone(),
            follows: false,
            is_default: false,
            config_errors: Vec::new(),
        }
    }
}

impl ViewSessionRecord {
    /// The change that stores it.
    pub(crate) fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: SESSION, key: self.name.clone(), value }
    }

    /// The change that deletes it.
    pub(crate) fn delete(name: &str) -> RecordChange {
        RecordChange::Delete { kind: SESSION, key: name.to_owned() }
    }
}

/// A session to be stopped.
#[derive(Clone, Debug)]
pub(crate) struct SessionStopRequest {
    /// Its name.
    pub(crate) name: String,
    /// The grant of the request, which must reach everything in the session.
    pub(crate) grant: Arc<Grant>,
    /// The pane that must not be ended by it.
    pub(crate) spared: Option<PaneRef>,
}

impl SessionStopRequest {
    /// Refuses to stop a session that shows more than the grant reaches, or the pane to be spared.
    /// A tmux pane that shows none of ours is `None`.
    pub(super) fn check(&self, kernel: &Kernel, shown: &[Option<PaneId>]) -> Result<(), Refusal> {
        let reaches = |pane: &PaneId| kernel.grant_reaches(pane, &self.grant);
        let reached = shown.iter().filter(|pane| pane.as_ref().is_some_and(reaches)).count();
        match reached {
            // A tmux pane that shows none of ours is reached only by such grants.
            _ if self.grant.panes == PaneSet::All => self.check_spared(kernel, shown),
            // The same message as for one that does not exist.
            0 => Err(self.missing()),
            all if all == shown.len() => self.check_spared(kernel, shown),
            _ => {
                let sentence = format!(
                    "the session `{}` shows panes that this token does not cover",
                    self.name
                );
                Err(Refusal::new(Code::Forbidden, sentence))
            }
        }
    }

    pub(super) fn missing(&self) -> Refusal {
        self.missing_among(&[])
    }

    /// The refusal with the names of sessions that are near, for a grant that reaches all panes.
    pub(super) fn missing_among(&self, sessions: &[&str]) -> Refusal {
        let name = self.name.as_str();
        let sentence = format!("no session `{name}`; `session:list` lists all sessions");
        let reaches_all = self.grant.panes == PaneSet::All;
        missing_name(sentence, name, sessions.iter().copied().filter(|_| reaches_all))
    }

    fn check_spared(&self, kernel: &Kernel, shown: &[Option<PaneId>]) -> Result<(), Refusal> {
        let Some(spared) = &self.spared else { return Ok(()) };
        let is_here = shown.iter().flatten().any(|pane| *pane == spared.id);
        let is_ended =
            |pane: &Pane| pane.lock().record.view.as_ref().is_some_and(ViewSpec::ends_with_session);
        let own = kernel.panes().find(spared).filter(|pane| is_here && is_ended(pane));
        let Some(own) = own else { return Ok(()) };
        let sentence = format!(
            "this would stop pane `{}`, from which the request comes; set `self` to confirm, or \
            set `keepPanes`",
            own.id
        );
        Err(Refusal::new(Code::Conflict, sentence))
    }
}

/// The records of one tmux server.
pub(super) struct ViewRecords {
    pub(super) kernel: Kernel,
    pub(super) server: TmuxServerAddr,
    /// Sessions that were started and not stopped.
    pub(super) sessions: BTreeMap<String, ViewSessionRecord>,
}

impl ViewRecords {
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

    pub(super) fn title(&self, pane: &PaneId) -> String {
        let pane = self.kernel.panes().get(pane);
        pane.map(|pane| pane.lock().record.title.text().to_owned()).unwrap_or_default()
    }

    pub(super) fn set_state(&self, id: &PaneId, to: ViewState) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let mut state = pane.lock();
        let Some(spec) = state.record.view.as_mut().filter(|spec| spec.state != to) else { return };
        spec.state = to;
        spec.window = None;
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    /// A pane is shown, in a window of its own if that has a number.
    pub(super) fn set_shown(&self, id: &PaneId, window: Option<u32>) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let mut state = pane.lock();
        let is_new = |spec: &&mut ViewSpec| {
            spec.state != ViewState::Shown || spec.window != window || spec.reason.is_some()
        };
        let Some(spec) = state.record.view.as_mut().filter(is_new) else { return };
        spec.state = ViewState::Shown;
        spec.window = window;
        spec.reason = None;
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    /// Stores why a pane is not shown.
    fn set_reason(&self, id: &PaneId, reason: &str) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let mut state = pane.lock();
        let Some(spec) = state.record.view.as_mut() else { return };
        spec.reason = Some(reason.to_owned());
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    /// The live panes that were made for a session and are not shown there any more.
    pub(super) fn unseen(&self, location: &ViewLocation) -> Vec<PaneId> {
        let panes = self.kernel.panes().list();
        let is_unseen = |spec: &ViewSpec| {
            spec.location == *location && spec.is_made_for && spec.state == ViewState::Hidden
        };
        let unseen = panes.iter().filter(|pane| {
            let state = pane.lock();
            state.status().is_live() && state.record.view.as_ref().is_some_and(is_unseen)
        });
        unseen.map(|pane| pane.id.clone()).collect()
    }

    /// A pane is shown here now.
    pub(super) fn mark_shown(
        &self,
        id: &PaneId,
        location: &ViewLocation,
        view: TmuxPane,
        window: Option<u32>,
    ) {
        self.set_shown(id, window);
        let mut payload = json!({ "session": location.session(), "tmuxPane": view.to_string() });
        if let Some(window) = window {
            payload["window"] = json!(window);
        }
        self.kernel.emit("pane:shown", &self.kernel.event_payload(id, payload));
    }

    /// We close the view of a pane. If its program has ended, tmux or `paned attach` was slower
    /// than we are: it was shown until its exit, and the next run of it is shown again.
    pub(super) fn mark_closing(&self, id: &PaneId) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        if !is_running(&pane) {
            set_shown_until_exit(&pane);
        }
        self.mark_hidden(id);
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
        self.set_reason(id, reason);
        let payload = self.kernel.event_payload(id, json!({ "reason": reason }));
        self.kernel.emit("layout:deferred", &payload);
    }

    /// A pane has waited in vain.
    pub(super) fn mark_expired(&self, id: &PaneId, reason: &str) {
        self.set_state(id, ViewState::Hidden);
        self.set_reason(id, reason);
        let payload = self.kernel.event_payload(id, json!({ "reason": reason }));
        self.kernel.emit("layout:expired", &payload);
    }

    /// A pane is not shown any more: its program ended, or a user closed the tmux pane.
    pub(super) fn mark_closed(&self, id: &PaneId) {
        let Ok(pane) = self.kernel.panes().get(id) else { return };
        let is_running = is_running(&pane);
        if !is_running {
            set_shown_until_exit(&pane);
        }
        self.mark_hidden(id);
        let on_closed = pane.lock().record.view.as_ref().map(|spec| spec.on_closed);
        if is_running && on_closed == Some(OnViewClosed::Close) {
            let kernel = self.kernel.clone();
            tokio::spawn(async move {
                if let Err(refusal) = close::close(&kernel, &pane).await {
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
            let before = pane.lock().record.view.as_ref().map(|spec| spec.location.clone());
            let Some(before) = before.filter(|before| *before != location) else { continue };
            let name = &session.name;
            // First, so that a client that sees the new name has its next pane shown there.
            self.save_session(name, session.size, snapshot.server);
            self.inherit_following(snapshot, &before, name);
            let mut state = pane.lock();
            let Some(spec) = &mut state.record.view else { continue };
            spec.location = location;
            let payload =
                pane.event_payload(json!({ "session": name, "tmuxPane": view.id.to_string() }));
            let event = draft("pane:shown", &payload);
            self.kernel.journal().record(vec![event], vec![state.record.put()]);
        }
    }

    /// New panes are shown in a session that was renamed, if they were before.
    fn inherit_following(&mut self, snapshot: &TmuxSnapshot, before: &ViewLocation, to: &str) {
        let Some(before) = before.session() else { return };
        let is_there = snapshot.sessions.iter().any(|session| session.name == before);
        let since = self.sessions.get(before).and_then(|record| record.follows_since);
        if let (false, Some(since)) = (is_there, since) {
            self.follow(to, Some(since));
            self.follow(before, None);
        }
    }

    /// New panes are shown in a session from now on. The last one counts, also if two are started
    /// within a millisecond.
    pub(super) fn follow_from_now(&mut self, name: &str) {
        let last = self.sessions.values().filter_map(|session| session.follows_since).max();
        let since = self.kernel.now().max(last.map_or(Time(0), |last| Time(last.0 + 1)));
        self.follow(name, Some(since));
    }

    /// New panes are shown in a session since this time, or no longer.
    fn follow(&mut self, name: &str, since: Option<Time>) {
        let Some(record) = self.sessions.get_mut(name) else { return };
        record.follows_since = since;
        self.kernel.journal().record(Vec::new(), vec![record.put()]);
        self.kernel.tmux_views().set_following(name, since);
    }

    /// Stores a session, so that it is restored with its tmux server; publishes one that is new.
    pub(super) fn save_session(&mut self, name: &str, size: Size, tmux: u32) {
        let known = self.sessions.get(name);
        let created_at = known.map_or_else(|| self.kernel.now(), |record| record.created_at);
        let started = known.is_none().then(|| draft("session:started", &json!({ "name": name })));
        let follows_since = known.and_then(|record| record.follows_since);
        let name = name.to_owned();
        let record = ViewSessionRecord { name, size, created_at, tmux, follows_since };
        self.kernel.journal().record(started.into_iter().collect(), vec![record.put()]);
        self.sessions.insert(record.name.clone(), record);
    }

    /// A session is over.
    pub(super) fn delete_session(&mut self, name: &str) {
        if self.sessions.remove(name).is_some() {
            self.kernel.tmux_views().set_following(name, None);
            let event = draft("session:stopped", &json!({ "name": name }));
            self.kernel.journal().record(vec![event], vec![ViewSessionRecord::delete(name)]);
        }
    }
}

/// Whether the program of a pane runs. Its exit is on the tape before a view can close because of
/// it, and may not be in the table yet.
fn is_running(pane: &Pane) -> bool {
    let state = pane.lock();
    let has_ended = state.output().is_some_and(|output| output.ending().is_some());
    state.status().is_live() && !has_ended
}

fn set_shown_until_exit(pane: &Pane) {
    if let Some(view) = &mut pane.lock().record.view {
        view.shown_until_exit = true;
    }
}
