//! What was lost and comes back: a tmux server that died, or our own that was away.

use paned_model::{PaneId, Size, ViewState};
use serde_json::json;

use super::look::Seen;
use super::session::Kept;
use super::task::Task;
use super::wish::Spot;
use super::{Showing, USUAL};

/// What was shown here, or waited to be, before our server was started.
pub(super) struct Before {
    pane: PaneId,
    spot: Spot,
    state: ViewState,
}

impl Task {
    /// What the table knows from before we looked.
    pub(super) fn remembered(&self) -> Vec<Before> {
        let mut before = Vec::new();
        for pane in self.kernel.panes().list() {
            let state = pane.lock();
            let wish = state.record.wish.as_ref().filter(|wish| self.is_here(&wish.spot));
            if let Some(wish) = wish.filter(|wish| wish.state != ViewState::Hidden) {
                let (spot, state) = (wish.spot.clone(), wish.state);
                before.push(Before { pane: pane.id.clone(), spot, state });
            }
        }
        before
    }

    /// We talk to a server: the one from before, or another.
    pub(super) async fn met(&mut self, server: u32) {
        let known = self.seen.server.replace(server);
        let is_same = match known {
            Some(known) => known == server,
            None => self.kept.values().all(|kept| kept.tmux == server),
        };
        let before = std::mem::take(&mut self.before);
        if is_same {
            self.recall(&before);
            self.look().await;
            self.forget(&before);
            self.wait_again(before).await;
        } else {
            // Nothing is concluded from looking until all is back.
            self.seen = Seen::default();
            self.restore().await;
            self.seen.server = Some(server);
            self.look().await;
        }
        self.calm();
    }

    /// Our server was away: what our tmux server showed then counts as seen, so that whatever is gone now was
    /// closed.
    fn recall(&mut self, before: &[Before]) {
        if !self.place.is_own() {
            return;
        }
        for Before { pane, .. } in before.iter().filter(|it| it.state == ViewState::Shown) {
            self.seen.expect(pane);
        }
    }

    /// Somebody's server may be another one than then: what it does not show was perhaps not closed by anybody, and
    /// goes on unseen.
    fn forget(&mut self, before: &[Before]) {
        if self.place.is_own() {
            return;
        }
        for Before { pane, .. } in before.iter().filter(|it| it.state == ViewState::Shown) {
            if !self.seen.shown.contains_key(pane) {
                self.hidden(pane);
            }
        }
    }

    /// Who waited for room goes on waiting.
    async fn wait_again(&mut self, before: Vec<Before>) {
        for Before { pane, spot, state } in before {
            let waits = state == ViewState::Waiting && !self.seen.shown.contains_key(&pane);
            if waits && self.is_live(&pane) {
                let kept = spot.session().and_then(|name| self.kept.get(name));
                let size = kept.map_or(USUAL, |kept| kept.size);
                self.show_again(pane, spot, size).await;
            }
        }
    }

    pub(super) fn is_live(&self, pane: &PaneId) -> bool {
        self.kernel.panes().get(pane).is_ok_and(|pane| pane.lock().status().is_live())
    }

    async fn show_again(&mut self, pane: PaneId, spot: Spot, size: Size) {
        let showing = Showing {
            pane,
            spot,
            size,
            is_first: false,
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
    pub(super) fn dark(&mut self) {
        let people = std::mem::take(&mut self.seen.people);
        for (name, _) in people.into_iter().filter(|(_, people)| 0 < *people) {
            self.kernel.emit("session:detached", &json!({ "name": name, "attached": 0 }));
        }
        let to = if self.place.is_own() { ViewState::Waiting } else { ViewState::Hidden };
        let shown = self.remembered().into_iter().filter(|it| it.state == ViewState::Shown);
        shown.for_each(|it| self.set_state(&it.pane, to));
    }

    /// Brings back into view what was in view before the tmux server died.
    async fn restore(&mut self) {
        let mut kept: Vec<Kept> = self.kept.values().cloned().collect();
        kept.sort_by_key(|kept| kept.created_at);
        for Before { pane, spot, .. } in self.remembered() {
            let is_kept = spot.session().is_some_and(|name| self.kept.contains_key(name));
            if !is_kept || !self.is_live(&pane) {
                self.set_state(&pane, ViewState::Hidden);
            }
        }
        for kept in kept {
            let spot = Spot::Session { name: kept.name.clone() };
            let here = self.remembered().into_iter().filter(|it| it.spot == spot);
            let panes: Vec<_> = here.map(|it| it.pane).collect();
            if panes.is_empty() {
                self.stopped(&kept.name);
            }
            for pane in panes {
                self.show_again(pane, spot.clone(), kept.size).await;
            }
        }
    }
}
