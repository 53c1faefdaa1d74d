//! What was lost and comes back: a tmux server that died, or our own that was away.

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
    /// What the table knows from before we looked.
    pub(super) fn remembered(&self) -> Vec<RememberedView> {
        let mut before = Vec::new();
        for pane in self.kernel.panes().list() {
            let state = pane.lock();
            let wish = state.record.view.as_ref().filter(|wish| self.is_here(&wish.location));
            if let Some(wish) = wish.filter(|wish| wish.state != ViewState::Hidden) {
                let (spot, state) = (wish.location.clone(), wish.state);
                before.push(RememberedView { pane: pane.id.clone(), location: spot, state });
            }
        }
        before
    }

    /// We talk to a server: the one from before, or another.
    pub(super) async fn on_connected(&mut self, server: u32) {
        let known = self.observed.server.replace(server);
        let is_same = match known {
            Some(known) => known == server,
            None => self.sessions.values().all(|kept| kept.tmux == server),
        };
        let before = std::mem::take(&mut self.to_restore);
        if is_same {
            self.expect_shown(&before);
            self.observe().await;
            self.hide_missing(&before);
            self.requeue(before).await;
        } else {
            // Nothing is concluded from looking until all is back.
            self.observed = ObservedViews::default();
            self.restore().await;
            self.observed.server = Some(server);
            self.observe().await;
        }
        self.reset_backoff();
    }

    /// Our server was away: what our tmux server showed then counts as seen, so that whatever is gone now was
    /// closed.
    fn expect_shown(&mut self, before: &[RememberedView]) {
        if !self.server.is_own() {
            return;
        }
        for RememberedView { pane, .. } in before.iter().filter(|it| it.state == ViewState::Shown) {
            self.observed.expect(pane);
        }
    }

    /// Somebody's server may be another one than then: what it does not show was perhaps not closed by anybody, and
    /// goes on unseen.
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

    /// Who waited for room goes on waiting.
    async fn requeue(&mut self, before: Vec<RememberedView>) {
        for RememberedView { pane, location: spot, state } in before {
            let waits = state == ViewState::Waiting && !self.observed.shown.contains_key(&pane);
            if waits && self.is_live(&pane) {
                let kept = spot.session().and_then(|name| self.sessions.get(name));
                let size = kept.map_or(DEFAULT_SIZE, |kept| kept.size);
                self.show_again(pane, spot, size).await;
            }
        }
    }

    pub(super) fn is_live(&self, pane: &PaneId) -> bool {
        self.kernel.panes().get(pane).is_ok_and(|pane| pane.lock().status().is_live())
    }

    async fn show_again(&mut self, pane: PaneId, spot: ViewLocation, size: Size) {
        let showing = ShowRequest {
            pane,
            location: spot,
            size,
            must_be_new: false,
            replace_ok: false,
            wait_ok: true,
            grant: self.kernel.owner_grant().clone(),
        };
        // Looking follows showing, so it never comes back here before it is done.
        if let Err(refusal) = Box::pin(self.show(&showing)).await {
            tracing::warn!(pane = %showing.pane, %refusal, "cannot be shown again");
            self.set_state(&showing.pane, ViewState::Hidden);
        }
    }

    /// Nothing can be seen any more, and nobody closed anything. On our own server it waits to be seen again.
    pub(super) fn on_server_lost(&mut self) {
        let people = std::mem::take(&mut self.observed.attached);
        for (name, _) in people.into_iter().filter(|(_, people)| 0 < *people) {
            self.kernel.emit("session:detached", &json!({ "name": name, "attached": 0 }));
        }
        let to = if self.server.is_own() { ViewState::Waiting } else { ViewState::Hidden };
        let shown = self.remembered().into_iter().filter(|it| it.state == ViewState::Shown);
        shown.for_each(|it| self.set_state(&it.pane, to));
    }

    /// Brings back into view what was in view before the tmux server died.
    async fn restore(&mut self) {
        let mut kept: Vec<ViewSessionRecord> = self.sessions.values().cloned().collect();
        kept.sort_by_key(|kept| kept.created_at);
        for RememberedView { pane, location: spot, .. } in self.remembered() {
            let is_kept = spot.session().is_some_and(|name| self.sessions.contains_key(name));
            if !is_kept || !self.is_live(&pane) {
                self.set_state(&pane, ViewState::Hidden);
            }
        }
        for kept in kept {
            let spot = ViewLocation::Session { name: kept.name.clone() };
            let here = self.remembered().into_iter().filter(|it| it.location == spot);
            let panes: Vec<_> = here.map(|it| it.pane).collect();
            if panes.is_empty() {
                self.session_stopped(&kept.name);
            }
            for pane in panes {
                self.show_again(pane, spot.clone(), kept.size).await;
            }
        }
    }
}
