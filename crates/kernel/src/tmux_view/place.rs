//! Query, decide, execute, verify: how a pane comes into view.

use paned_backend::tmux::operations::{SplitSide, TmuxProgram, TmuxSplit};
use paned_backend::tmux::{ControlClient, Error, SessionName, TmuxPane};
use paned_model::{Code, PaneId, PaneSet, Refusal, ViewState};
use paned_policy::layout::{
    Decision, LayoutDirection, LayoutLimits, LayoutRequest, LayoutStep, NotShownReason, PaneOwner,
    SavedLayout, TmuxPaneId, decide, plan_all, rebalance, reorder,
};
use serde_json::json;

use super::snapshot::WindowSnapshot;
use super::spec::ViewLocation;
use super::task::TmuxViewTask;
use super::{ShowOutcome, ShowRequest};

/// A target that vanished between the query and the command is worth one more try.
const TRIES: usize = 2;

impl TmuxViewTask {
    /// Shows a pane, or says why not.
    pub(super) async fn show(&mut self, showing: &ShowRequest) -> Result<ShowOutcome, Refusal> {
        let client = self.client().await?;
        let ViewLocation::Session { name } = &showing.location else {
            return self.place_in_window(&client, showing).await;
        };
        let name = SessionName::new(name)?;
        match client.session(&name).await {
            Ok(_) if showing.must_be_new => {
                let sentence = format!("there is a session `{name}` already");
                Err(Refusal::new(Code::Conflict, sentence))
            }
            Ok(_) => self.place_in_window(&client, showing).await,
            Err(Error::SessionNotFound(_) | Error::NoServer(_)) => {
                self.open_session(&client, &name, showing).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn open_session(
        &mut self,
        client: &ControlClient,
        name: &SessionName,
        showing: &ShowRequest,
    ) -> Result<ShowOutcome, Refusal> {
        let made = client.new_session(name, showing.size, &self.program(&showing.pane)).await?;
        client.mark_view(made.pane, &showing.pane).await?;
        client.mark_main(made.pane).await?;
        self.set_title(client, &showing.pane, made.pane).await;
        self.save_session(name.as_str(), showing.size);
        self.mark_shown(&showing.pane, &showing.location, made.pane);
        self.observe().await;
        Ok(ShowOutcome::Shown(made.pane))
    }

    /// Puts a pane into an existing window.
    async fn place_in_window(
        &mut self,
        client: &ControlClient,
        showing: &ShowRequest,
    ) -> Result<ShowOutcome, Refusal> {
        let request = LayoutRequest {
            pane: showing.pane.clone(),
            replace_ok: showing.replace_ok,
            wait_ok: showing.wait_ok,
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let shot = WindowSnapshot::take(&self.kernel, client, &showing.location).await?;
            let shot = shot.pinning_unreachable(&self.kernel, &showing.grant);
            let decision = decide(&shot.window, &shot.owners, &request, &self.limits());
            match self.carry_out(client, showing, &shot, decision).await {
                Err(PlaceFailure::Tmux(Error::SessionNotFound(_) | Error::PaneLimit(_)))
                    if tries < TRIES => {}
                Err(failed) => return Err(failed.into()),
                Ok(placed) => return Ok(placed),
            }
        }
    }

    pub(super) async fn carry_out(
        &mut self,
        client: &ControlClient,
        showing: &ShowRequest,
        shot: &WindowSnapshot,
        decision: Decision,
    ) -> Result<ShowOutcome, PlaceFailure> {
        match &decision {
            Decision::Spawn { .. } | Decision::Replace { .. } => {
                let view = self.execute(client, shot, &decision.steps(), Some(showing)).await?;
                let view = view.ok_or_else(|| PlaceFailure::closed_at_once(&showing.pane))?;
                self.verify(client, showing, view).await
            }
            Decision::Skip { reason: NotShownReason::AlreadyShown(id) } => {
                self.set_state(&showing.pane, ViewState::Shown);
                Ok(ShowOutcome::Shown(TmuxPane(id.0)))
            }
            Decision::Skip { reason } => {
                self.set_state(&showing.pane, ViewState::Hidden);
                Ok(ShowOutcome::Skipped(reason_for(showing, reason)))
            }
            Decision::Defer { reason } => self.defer(showing, reason),
        }
    }

    fn defer(
        &mut self,
        showing: &ShowRequest,
        reason: &NotShownReason,
    ) -> Result<ShowOutcome, PlaceFailure> {
        let ShowRequest { pane, replace_ok, wait_ok, .. } = showing.clone();
        let request = LayoutRequest { pane, replace_ok, wait_ok };
        let now = self.kernel.now();
        self.queue
            .push(request, reason.clone(), now)
            .map_err(|full| PlaceFailure::Refused(full.into()))?;
        self.waiting.insert(showing.pane.clone(), showing.clone());
        let reason = reason_for(showing, reason);
        let payload = self.kernel.event_payload(&showing.pane, json!({ "reason": reason }));
        self.kernel.emit("layout:deferred", &payload);
        Ok(ShowOutcome::Waiting(reason))
    }

    /// Carries out the steps; returns the tmux pane that was created. When it fails, that pane is
    /// removed again.
    pub(super) async fn execute(
        &mut self,
        client: &ControlClient,
        shot: &WindowSnapshot,
        steps: &[LayoutStep],
        showing: Option<&ShowRequest>,
    ) -> Result<Option<TmuxPane>, Error> {
        let mut made = None;
        for step in steps {
            if let Err(error) = self.step(client, shot, step, showing, &mut made).await {
                if let Some(made) = made {
                    let _ = client.kill_pane(made).await;
                }
                return Err(error);
            }
        }
        Ok(made)
    }

    async fn step(
        &mut self,
        client: &ControlClient,
        shot: &WindowSnapshot,
        step: &LayoutStep,
        showing: Option<&ShowRequest>,
        made: &mut Option<TmuxPane>,
    ) -> Result<(), Error> {
        let tmux = |id: &TmuxPaneId| TmuxPane(id.0);
        match (step, showing) {
            (LayoutStep::Split { target, direction, size: _ }, Some(showing)) => {
                let side = match direction {
                    LayoutDirection::Right => SplitSide::Right,
                    LayoutDirection::Down => SplitSide::Below,
                };
                let split = TmuxSplit { side, size: None, focus: false };
                let program = self.program(&showing.pane);
                let new = client.split(tmux(target), split, &program).await?.pane;
                *made = Some(new);
                client.mark_view(new, &showing.pane).await
            }
            (LayoutStep::Split { .. }, None) => Ok(()),
            (LayoutStep::Close(victim), _) => {
                if let Some(ours) = shot.owners.managed(*victim) {
                    self.mark_hidden(&ours.pane.clone());
                }
                client.kill_pane(tmux(victim)).await
            }
            (LayoutStep::Swap(a, b), _) => client.swap(tmux(a), tmux(b)).await,
            (LayoutStep::Arrange(layout), _) => {
                client.select_layout(shot.id, &layout.to_string()).await
            }
            (LayoutStep::Zoom(pane), _) => client.zoom(tmux(pane)).await,
        }
    }

    /// Checks whether it is there now.
    async fn verify(
        &mut self,
        client: &ControlClient,
        showing: &ShowRequest,
        view: TmuxPane,
    ) -> Result<ShowOutcome, PlaceFailure> {
        let after = WindowSnapshot::take(&self.kernel, client, &showing.location).await;
        let is_there =
            after.is_ok_and(|shot| shot.view_of(&showing.pane).is_some_and(|it| it.id == view));
        if !is_there {
            // Its program has ended already, or a user has closed it.
            return Err(PlaceFailure::closed_at_once(&showing.pane));
        }
        self.set_title(client, &showing.pane, view).await;
        if !self.server.is_own() {
            client.watch().await?;
        }
        self.mark_shown(&showing.pane, &showing.location, view);
        self.observe().await;
        Ok(ShowOutcome::Shown(view))
    }

    /// What would be done for these panes, one after the other.
    pub(super) async fn plan(
        &mut self,
        location: &ViewLocation,
        panes: &[PaneId],
        replace_ok: bool,
    ) -> Result<Vec<Decision>, Refusal> {
        let client = self.client().await?;
        let shot = WindowSnapshot::take(&self.kernel, &client, location).await?;
        let request =
            |pane: &PaneId| LayoutRequest { pane: pane.clone(), replace_ok, wait_ok: true };
        let requests: Vec<_> = panes.iter().map(request).collect();
        Ok(plan_all(&shot.window, &shot.owners, &requests, &self.limits()))
    }

    pub(super) async fn snapshot(
        &mut self,
        location: &ViewLocation,
    ) -> Result<WindowSnapshot, Refusal> {
        let client = self.client().await?;
        WindowSnapshot::take(&self.kernel, &client, location).await
    }

    /// Moves the panes of a window to the places of a saved layout. Every pane must have a place
    /// there, and every place a pane.
    pub(super) async fn arrange(
        &mut self,
        location: &ViewLocation,
        saved: &SavedLayout,
    ) -> Result<WindowSnapshot, Refusal> {
        let client = self.client().await?;
        let shot = WindowSnapshot::take(&self.kernel, &client, location).await?;
        let panes = shot.window.panes();
        if panes.iter().any(|id| matches!(shot.owners.of(*id), PaneOwner::Foreign)) {
            let sentence =
                "there are panes that are not ours in the window, and those are not moved";
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        let roles: Vec<_> = panes.iter().map(|id| (shot.role(&self.kernel, *id), *id)).collect();
        let pane_of = |role: &paned_policy::layout::SavedRole| {
            roles.iter().find(|(it, _)| it == role).map(|(_, id)| *id)
        };
        let size = (shot.window.cols(), shot.window.rows());
        let layout = saved
            .fit(size, &self.limits(), pane_of)
            .map_err(|misfit| Refusal::invalid(format!("the layout does not fit: {misfit}")))?;
        let wanted: Vec<TmuxPaneId> = layout.root().panes().into_iter().flatten().collect();
        if wanted.len() != panes.len() || layout.root().panes().len() != panes.len() {
            let sentence = format!(
                "the layout has {} places, and {} of the window's {} panes belong into one",
                layout.root().panes().len(),
                wanted.len(),
                panes.len()
            );
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        let mut steps = reorder(&panes, &wanted);
        steps.push(LayoutStep::Arrange(layout));
        self.execute(&client, &shot, &steps, None).await?;
        self.kernel.emit("layout:changed", &json!({ "session": location.session() }));
        WindowSnapshot::take(&self.kernel, &client, location).await
    }

    /// Balances our panes of a window again.
    pub(super) async fn rebalance(
        &mut self,
        client: &ControlClient,
        location: &ViewLocation,
    ) -> Result<(), Refusal> {
        let shot = WindowSnapshot::take(&self.kernel, client, location).await?;
        let steps = rebalance(&shot.window, &shot.owners, &self.limits());
        self.execute(client, &shot, &steps, None).await?;
        Ok(())
    }

    /// Tries again to show all waiting panes, in their order.
    pub(super) async fn retry_waiting(&mut self) {
        let Ok(client) = self.client().await else { return };
        while let Some(showing) = self.next_ready(&client).await {
            self.waiting.remove(&showing.pane);
            match self.show(&showing).await {
                Ok(ShowOutcome::Shown(_) | ShowOutcome::Waiting(_)) => {}
                Ok(ShowOutcome::Skipped(reason)) => self.expire(&showing.pane, &reason),
                Err(refusal) => self.expire(&showing.pane, &refusal.sentence),
            }
        }
    }

    /// The first request that need not wait any longer. Each is decided in its own window, queried
    /// anew.
    async fn next_ready(&mut self, client: &ControlClient) -> Option<ShowRequest> {
        let waiting: Vec<_> = self.queue.entries().map(|entry| entry.request.clone()).collect();
        for request in waiting {
            let Some(showing) = self.waiting.get(&request.pane).cloned() else {
                self.queue.remove(&request.pane);
                continue;
            };
            let Ok(shot) = WindowSnapshot::take(&self.kernel, client, &showing.location).await
            else {
                let is_over =
                    showing.location.session().is_some_and(|it| !self.sessions.contains_key(it));
                if is_over {
                    // The session is gone: a new one is opened for the pane.
                    self.queue.remove(&request.pane);
                    return Some(showing);
                }
                continue;
            };
            let shot = shot.pinning_unreachable(&self.kernel, &showing.grant);
            let decision = decide(&shot.window, &shot.owners, &request, &self.limits());
            if !matches!(decision, Decision::Defer { .. }) {
                self.queue.remove(&request.pane);
                return Some(showing);
            }
        }
        None
    }

    /// A pane has waited in vain.
    pub(super) fn expire(&mut self, pane: &PaneId, reason: &str) {
        self.waiting.remove(pane);
        self.set_state(pane, ViewState::Hidden);
        let payload = self.kernel.event_payload(pane, json!({ "reason": reason }));
        self.kernel.emit("layout:expired", &payload);
    }

    pub(super) fn limits(&self) -> LayoutLimits {
        self.kernel.setup().tmux_view.as_ref().map(|view| view.limits.clone()).unwrap_or_default()
    }

    /// What a tmux pane runs to show a pane.
    fn program(&self, pane: &PaneId) -> TmuxProgram {
        let attach = self.kernel.setup().tmux_view.as_ref().map(|view| view.attach.clone());
        let argv = attach.unwrap_or_default().into_iter().chain([pane.to_string()]);
        TmuxProgram {
            argv: argv.map(String::into_bytes).collect(),
            // The tmux server may have been started from within a pane and have its variables; a
            // pane cannot show itself.
            env: vec![("PANED_PANE".to_owned(), Vec::new())],
            cwd: Some("/".into()),
        }
    }
}

/// Why a pane is not shown, as far as the grant of the request may know: the counts are of all
/// panes in the window.
fn reason_for(showing: &ShowRequest, reason: &NotShownReason) -> String {
    match showing.grant.panes {
        PaneSet::All => reason.to_string(),
        PaneSet::Only(_) => "there is no room in the window".to_owned(),
    }
}

/// Why a decision was not carried out.
#[derive(Debug)]
pub(super) enum PlaceFailure {
    Tmux(Error),
    Refused(Refusal),
}

impl PlaceFailure {
    fn closed_at_once(pane: &PaneId) -> Self {
        let sentence = format!("the pane `{pane}` was shown and closed again at once");
        Self::Refused(Refusal::new(Code::Gone, sentence))
    }
}

impl From<Error> for PlaceFailure {
    fn from(error: Error) -> Self {
        Self::Tmux(error)
    }
}

impl From<PlaceFailure> for Refusal {
    fn from(failed: PlaceFailure) -> Self {
        match failed {
            PlaceFailure::Tmux(error) => error.into(),
            PlaceFailure::Refused(refusal) => refusal,
        }
    }
}
