//! Restores views: after a tmux server died, or after our own server was stopped.

use paned_model::{PaneId, Size, ViewState};
use serde_json::json;

use super::observe::ObservedViews;
use super::session::ViewSessionRecord;
use super::spec::ViewLocation;
use super::task::TmuxViewTask;
use super::{DEFAULT_SIZE, ShowRequest};

/// What was shown here, or waited to be, before our server was started.
pub(super) struct RememberedView {
    pane: PaneId,
    location: ViewLocation,
    state: ViewState,
}

impl TmuxViewTask {
    /// The views on this tmux server that the records have.
    pub(super) fn remembered(&self) -> Vec<RememberedView> {
        let mut before = Vec::new();
        for pane in self.kernel.panes().list() {
            let state = pane.lock();
            let spec = state.record.view.as_ref().filter(|spec| self.is_here(&spec.location));
            if let Some(spec) = spec.filter(|spec| spec.state != ViewState::Hidden) {
                before.push(RememberedView {
                    pane: pane.id.clone(),
                    location: spec.location.clone(),
                    state: spec.state,
                });
            }
        }
        before
    }

    /// Connected to a tmux server: the one from before, or another.
    pub(super) async fn on_connected(&mut self, server: u32) {
        let known = self.observed.server.replace(server);
        let is_same = match known {
            Some(known) => known == server,
            None => self.sessions.values().all(|session| session.tmux == server),
        };
        let before = std::mem::take(&mut self.to_restore);
        if is_same {
            self.expect_shown(&before);
            self.observe().await;
            self.hide_missing(&before);
            self.requeue(before).await;
        } else {
            // Nothing counts as closed until everything is restored.
            self.observed = ObservedViews::default();
            self.restore().await;
            self.observed.server = Some(server);
            self.observe().await;
        }
        self.reset_backoff();
    }

    /// Our server was stopped: what our tmux server showed then counts as seen, so that what is
    /// gone now was closed.
    fn expect_shown(&mut self, before: &[RememberedView]) {
        if !self.server.is_own() {
            return;
        }
        for RememberedView { pane, .. } in before.iter().filter(|it| it.state == ViewState::Shown) {
            self.observed.expect(pane);
        }
    }

    /// A user's tmux server may be another one than then: what it does not show was perhaps not
    /// closed by a user, and keeps running hidden.
    fn hide_missing(&mut self, before: &[RememberedView]) {
        if self.server.is_own() {
            return;
        }
        for RememberedView { pane, .. } in before.iter().filter(|it| it.state == ViewState::Shown) {
            if !self.observed.shown.contains_key(pane) {
                self.mark_hidden(pane);
            }
        }
    }

    /// Panes that waited for space wait again.
    async fn requeue(&mut self, before: Vec<RememberedView>) {
        for RememberedView { pane, location, state } in before {
            let waits = state == ViewState::Waiting && !self.observed.shown.contains_key(&pane);
            if waits && self.is_live(&pane) {
                let session = location.session().and_then(|name| self.sessions.get(name));
                let size = session.map_or(DEFAULT_SIZE, |session| session.size);
                self.show_again(pane, location, size).await;
            }
        }
    }

    pub(super) fn is_live(&self, pane: &PaneId) -> bool {
        self.kernel.panes().get(pane).is_ok_and(|pane| pane.lock().status().is_live())
    }

    async fn show_again(&mut self, pane: PaneId, location: ViewLocation, size: Size) {
        let showing = ShowRequest {
            pane,
            location,
            size,
            must_be_new: false,
            replace_ok: false,
            wait_ok: true,
            grant: self.kernel.owner_grant().clone(),
        };
        // Boxed because it is recursive: showing queries tmux, but never gets back here before it
        // is done.
        if let Err(refusal) = Box::pin(self.show(&showing)).await {
            tracing::warn!(pane = %showing.pane, %refusal, "cannot show a pane again");
            self.set_state(&showing.pane, ViewState::Hidden);
        }
    }

    /// The tmux server is gone, and no view was closed. On our own server, views wait to be shown
    /// again.
    pub(super) fn on_server_lost(&mut self) {
        let attached = std::mem::take(&mut self.observed.attached);
        for (name, _) in attached.into_iter().filter(|(_, attached)| 0 < *attached) {
            self.kernel.emit("session:detached", &json!({ "name": name, "attached": 0 }));
        }
        let to = if self.server.is_own() { ViewState::Waiting } else { ViewState::Hidden };
        let shown = self.remembered().into_iter().filter(|it| it.state == ViewState::Shown);
        shown.for_each(|it| self.set_state(&it.pane, to));
    }

    /// Shows again what was shown before the tmux server died.
    async fn restore(&mut self) {
        let mut sessions: Vec<ViewSessionRecord> = self.sessions.values().cloned().collect();
        sessions.sort_by_key(|session| session.created_at);
        for RememberedView { pane, location, .. } in self.remembered() {
            let is_known = location.session().is_some_and(|name| self.sessions.contains_key(name));
            if !is_known || !self.is_live(&pane) {
                self.set_state(&pane, ViewState::Hidden);
            }
        }
        for session in sessions {
            let location = ViewLocation::Session { name: session.name.clone() };
            let here = self.remembered().into_iter().filter(|it| it.location == location);
            let panes: Vec<_> = here.map(|it| it.pane).collect();
            if panes.is_empty() {
                self.session_stopped(&session.name);
            }
            for pane in panes {
                self.show_again(pane, location.clone(), session.size).await;
            }
        }
    }
}
