//! Query, decide, execute, verify: how a pane comes into view.

use paned_model::{Code, PaneId, PaneSet, Refusal, ViewState};
use paned_policy::layout::{
    Decision, Direction, Limits, Owner, Reason, Request, Saved, Step, TmuxId, decide, plan_all,
    reorder, settle,
};
use paned_substrate::tmux::act::{Program, Side, Split};
use paned_substrate::tmux::{Client, Error, SessionName, TmuxPane};
use serde_json::json;

use super::scene::Shot;
use super::task::Task;
use super::wish::Spot;
use super::{Placed, Showing};

/// A target that vanished between the question and the deed is worth one more try.
const TRIES: usize = 2;

impl Task {
    /// Shows a pane, or says why not.
    pub(super) async fn show(&mut self, showing: &Showing) -> Result<Placed, Refusal> {
        let client = self.client().await?;
        let Spot::Session { name } = &showing.spot else {
            return self.fit(&client, showing).await;
        };
        let name = SessionName::new(name)?;
        match client.session(&name).await {
            Ok(_) if showing.is_first => {
                let sentence = format!("there is a session `{name}` already");
                Err(Refusal::new(Code::Conflict, sentence))
            }
            Ok(_) => self.fit(&client, showing).await,
            Err(Error::SessionNotFound(_) | Error::NoServer(_)) => {
                self.open_session(&client, &name, showing).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn open_session(
        &mut self,
        client: &Client,
        name: &SessionName,
        showing: &Showing,
    ) -> Result<Placed, Refusal> {
        let made = client.new_session(name, showing.size, &self.program(&showing.pane)).await?;
        client.note_view(made.pane, &showing.pane).await?;
        client.note_main(made.pane).await?;
        self.entitle(client, &showing.pane, made.pane).await;
        self.keep(name.as_str(), showing.size);
        self.shown(&showing.pane, &showing.spot, made.pane);
        self.look().await;
        Ok(Placed::Shown(made.pane))
    }

    /// Puts a pane into a window that is there.
    async fn fit(&mut self, client: &Client, showing: &Showing) -> Result<Placed, Refusal> {
        let request = Request {
            pane: showing.pane.clone(),
            replace_ok: showing.replace_ok,
            wait_ok: showing.wait_ok,
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let shot = Shot::take(&self.kernel, client, &showing.spot).await?;
            let shot = shot.keeping_others(&self.kernel, &showing.grant);
            let decision = decide(&shot.window, &shot.owners, &request, &self.limits());
            match self.carry_out(client, showing, &shot, decision).await {
                Err(Failed::Tmux(Error::SessionNotFound(_) | Error::PaneLimit(_)))
                    if tries < TRIES => {}
                Err(failed) => return Err(failed.into()),
                Ok(placed) => return Ok(placed),
            }
        }
    }

    pub(super) async fn carry_out(
        &mut self,
        client: &Client,
        showing: &Showing,
        shot: &Shot,
        decision: Decision,
    ) -> Result<Placed, Failed> {
        match &decision {
            Decision::Spawn { .. } | Decision::Replace { .. } => {
                let view = self.execute(client, shot, &decision.steps(), Some(showing)).await?;
                let view = view.ok_or_else(|| Failed::unseen(&showing.pane))?;
                self.verify(client, showing, view).await
            }
            Decision::Skip { reason: Reason::Shown(id) } => {
                self.set_state(&showing.pane, ViewState::Shown);
                Ok(Placed::Shown(TmuxPane(id.0)))
            }
            Decision::Skip { reason } => {
                self.set_state(&showing.pane, ViewState::Hidden);
                Ok(Placed::Skipped(reason_for(showing, reason)))
            }
            Decision::Defer { reason } => self.defer(showing, reason),
        }
    }

    fn defer(&mut self, showing: &Showing, reason: &Reason) -> Result<Placed, Failed> {
        let Showing { pane, replace_ok, wait_ok, .. } = showing.clone();
        let request = Request { pane, replace_ok, wait_ok };
        let now = self.kernel.now();
        self.queue.push(request, reason.clone(), now).map_err(|full| Failed::Said(full.into()))?;
        self.waiting.insert(showing.pane.clone(), showing.clone());
        let reason = reason_for(showing, reason);
        let told = self.kernel.about(&showing.pane, json!({ "reason": reason }));
        self.kernel.emit("layout:deferred", &told);
        Ok(Placed::Waits(reason))
    }

    /// Does what was decided; answers the tmux pane that was made. When it fails, what it made is gone again.
    pub(super) async fn execute(
        &mut self,
        client: &Client,
        shot: &Shot,
        steps: &[Step],
        showing: Option<&Showing>,
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
        client: &Client,
        shot: &Shot,
        step: &Step,
        showing: Option<&Showing>,
        made: &mut Option<TmuxPane>,
    ) -> Result<(), Error> {
        let tmux = |id: &TmuxId| TmuxPane(id.0);
        match (step, showing) {
            (Step::Split { target, direction, size: _ }, Some(showing)) => {
                let side = match direction {
                    Direction::Right => Side::Right,
                    Direction::Down => Side::Below,
                };
                let split = Split { side, size: None, focus: false };
                let program = self.program(&showing.pane);
                let new = client.split(tmux(target), split, &program).await?.pane;
                *made = Some(new);
                client.note_view(new, &showing.pane).await
            }
            (Step::Split { .. }, None) => Ok(()),
            (Step::Close(victim), _) => {
                if let Some(ours) = shot.owners.ours(*victim) {
                    self.hidden(&ours.pane.clone());
                }
                client.kill_pane(tmux(victim)).await
            }
            (Step::Swap(a, b), _) => client.swap(tmux(a), tmux(b)).await,
            (Step::Arrange(layout), _) => client.select_layout(shot.id, &layout.to_string()).await,
            (Step::Zoom(pane), _) => client.zoom(tmux(pane)).await,
        }
    }

    /// Looks whether it is there now.
    async fn verify(
        &mut self,
        client: &Client,
        showing: &Showing,
        view: TmuxPane,
    ) -> Result<Placed, Failed> {
        let after = Shot::take(&self.kernel, client, &showing.spot).await;
        let is_there =
            after.is_ok_and(|shot| shot.view_of(&showing.pane).is_some_and(|it| it.id == view));
        if !is_there {
            // Its program has ended already, or a person was quicker.
            return Err(Failed::unseen(&showing.pane));
        }
        self.entitle(client, &showing.pane, view).await;
        if !self.place.is_own() {
            client.watch().await?;
        }
        self.shown(&showing.pane, &showing.spot, view);
        self.look().await;
        Ok(Placed::Shown(view))
    }

    /// What would be done for these panes, one after the other.
    pub(super) async fn plan(
        &mut self,
        spot: &Spot,
        panes: &[PaneId],
        replace_ok: bool,
    ) -> Result<Vec<Decision>, Refusal> {
        let client = self.client().await?;
        let shot = Shot::take(&self.kernel, &client, spot).await?;
        let request = |pane: &PaneId| Request { pane: pane.clone(), replace_ok, wait_ok: true };
        let requests: Vec<_> = panes.iter().map(request).collect();
        Ok(plan_all(&shot.window, &shot.owners, &requests, &self.limits()))
    }

    pub(super) async fn shoot(&mut self, spot: &Spot) -> Result<Shot, Refusal> {
        let client = self.client().await?;
        Shot::take(&self.kernel, &client, spot).await
    }

    /// Brings the panes of a window into the places of a layout that was kept. Every pane must have a place there,
    /// and every place a pane.
    pub(super) async fn arrange(&mut self, spot: &Spot, saved: &Saved) -> Result<Shot, Refusal> {
        let client = self.client().await?;
        let shot = Shot::take(&self.kernel, &client, spot).await?;
        let panes = shot.window.panes();
        if panes.iter().any(|id| matches!(shot.owners.of(*id), Owner::Foreign)) {
            let sentence =
                "there are panes that are not ours in the window, and those are not moved";
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        let roles: Vec<_> = panes.iter().map(|id| (shot.role(&self.kernel, *id), *id)).collect();
        let playing = |role: &paned_policy::layout::Role| {
            roles.iter().find(|(it, _)| it == role).map(|(_, id)| *id)
        };
        let size = (shot.window.cols(), shot.window.rows());
        let layout = saved
            .fit(size, &self.limits(), playing)
            .map_err(|misfit| Refusal::invalid(format!("the layout does not fit: {misfit}")))?;
        let wanted: Vec<TmuxId> = layout.root().panes().into_iter().flatten().collect();
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
        steps.push(Step::Arrange(layout));
        self.execute(&client, &shot, &steps, None).await?;
        self.kernel.emit("layout:changed", &json!({ "session": spot.session() }));
        Shot::take(&self.kernel, &client, spot).await
    }

    /// Makes our panes of a window even again.
    pub(super) async fn settle(&mut self, client: &Client, spot: &Spot) -> Result<(), Refusal> {
        let shot = Shot::take(&self.kernel, client, spot).await?;
        let steps = settle(&shot.window, &shot.owners, &self.limits());
        self.execute(client, &shot, &steps, None).await?;
        Ok(())
    }

    /// Gives whoever waits a chance, all of them, in their order.
    pub(super) async fn wake(&mut self) {
        let Ok(client) = self.client().await else { return };
        while let Some(showing) = self.next_ready(&client).await {
            self.waiting.remove(&showing.pane);
            match self.show(&showing).await {
                Ok(Placed::Shown(_) | Placed::Waits(_)) => {}
                Ok(Placed::Skipped(reason)) => self.gave_up(&showing.pane, &reason),
                Err(refusal) => self.gave_up(&showing.pane, &refusal.sentence),
            }
        }
    }

    /// The first that need not wait any longer. Each is decided in its own window, asked anew.
    async fn next_ready(&mut self, client: &Client) -> Option<Showing> {
        let waiting: Vec<_> = self.queue.entries().map(|entry| entry.request.clone()).collect();
        for request in waiting {
            let Some(showing) = self.waiting.get(&request.pane).cloned() else {
                self.queue.remove(&request.pane);
                continue;
            };
            let Ok(shot) = Shot::take(&self.kernel, client, &showing.spot).await else {
                let is_over = showing.spot.session().is_some_and(|it| !self.kept.contains_key(it));
                if is_over {
                    // Whoever waited for room in a session has all of it.
                    self.queue.remove(&request.pane);
                    return Some(showing);
                }
                continue;
            };
            let shot = shot.keeping_others(&self.kernel, &showing.grant);
            let decision = decide(&shot.window, &shot.owners, &request, &self.limits());
            if !matches!(decision, Decision::Defer { .. }) {
                self.queue.remove(&request.pane);
                return Some(showing);
            }
        }
        None
    }

    /// Somebody waited in vain.
    pub(super) fn gave_up(&mut self, pane: &PaneId, reason: &str) {
        self.waiting.remove(pane);
        self.set_state(pane, ViewState::Hidden);
        let told = self.kernel.about(pane, json!({ "reason": reason }));
        self.kernel.emit("layout:expired", &told);
    }

    pub(super) fn limits(&self) -> Limits {
        self.kernel.setup().stage.as_ref().map(|stage| stage.limits.clone()).unwrap_or_default()
    }

    /// What a tmux pane runs to show a pane.
    fn program(&self, pane: &PaneId) -> Program {
        let attach = self.kernel.setup().stage.as_ref().map(|stage| stage.attach.clone());
        let words = attach.unwrap_or_default().into_iter().chain([pane.to_string()]);
        Program {
            argv: words.map(String::into_bytes).collect(),
            // The tmux server may have been started from within a pane, which cannot show itself.
            env: vec![("PANED_PANE".to_owned(), Vec::new())],
            cwd: Some("/".into()),
        }
    }
}

/// Why a pane is not shown, as far as the grant it is shown by may know: the counts are of all panes in the window.
fn reason_for(showing: &Showing, reason: &Reason) -> String {
    match showing.grant.panes {
        PaneSet::All => reason.to_string(),
        PaneSet::Only(_) => "there is no room in the window".to_owned(),
    }
}

/// Why a decision was not carried out.
#[derive(Debug)]
pub(super) enum Failed {
    Tmux(Error),
    Said(Refusal),
}

impl Failed {
    fn unseen(pane: &PaneId) -> Self {
        let sentence = format!("the pane `{pane}` was shown and closed again at once");
        Self::Said(Refusal::new(Code::Gone, sentence))
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Tmux(error)
    }
}

impl From<Failed> for Refusal {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Tmux(error) => error.into(),
            Failed::Said(refusal) => refusal,
        }
    }
}
