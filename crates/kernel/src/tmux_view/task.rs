//! The task that owns the connection to one tmux server: one request or event after the other, and
//! after each the loop of [`TmuxViewTask::converge`]. Nothing of what tmux has is patched here: after
//! every change and every error it is queried again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use paned_backend::tmux::operations::{SplitSide, TmuxProgram};
use paned_backend::tmux::query::TmuxSession;
use paned_backend::tmux::{
    self, ControlClient, Error, NewView, SessionName, TmuxEvent, TmuxEvents, TmuxPane,
    TmuxPaneView, TmuxServerAddr, TmuxSnapshot, ViewCommands, WindowId,
};
use paned_model::{Code, PaneId, Refusal, ViewState};
use paned_policy::layout::{
    Decision, DesiredView, LayoutDirection, LayoutLimits, LayoutQueue, LayoutRequest, LayoutStep,
    SavedLayout, TmuxPaneId, plan_all, reconcile,
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::jobs::{ShowJob, ShowJobs, ShowOrigin, closed_at_once, settle};
use super::records::{ViewLocation, ViewRecords, ViewSpec};
use super::session::{SessionInfo, SessionStopRequest, ViewSessionRecord};
use super::snapshot::{ObservedViews, ViewChanges, WindowSnapshot};
use super::{DEFAULT_SIZE, ShowOutcome, ShowRequest, ViewRequest};
use crate::Kernel;

/// How soon sessions are restored after their tmux server died, and the longest delay if it dies
/// again and again.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// How long a tmux server of our own is kept without anything to show.
const IDLE: Duration = Duration::from_secs(2);
/// How many commands that show no pane may fail before the loop ends.
const MAX_FAILURES: usize = 2;
/// After so many queries others get their turn; what is left is done a little later.
const MAX_PASSES: usize = 200;

pub(super) struct TmuxViewTask {
    kernel: Kernel,
    server: TmuxServerAddr,
    connection: Option<ViewConnection>,
    records: ViewRecords,
    observed: ObservedViews,
    /// Panes to be shown.
    jobs: ShowJobs,
    /// Panes not to be shown any more.
    to_hide: BTreeSet<PaneId>,
    /// Whether something was taken away, so that perhaps nothing is left to show.
    has_less: bool,
    restore_at: Option<Instant>,
    observe_at: Option<Instant>,
    /// When our tmux server is stopped because it shows nothing, or this task ends for a server
    /// that is not ours.
    idle_at: Option<Instant>,
    is_over: bool,
    backoff: Duration,
}

struct ViewConnection {
    client: ControlClient,
    events: TmuxEvents,
}

enum TmuxViewEvent {
    Request(Option<ViewRequest>),
    Tmux(Option<TmuxEvent>),
    Deadline,
}

/// The next commands, all for one window.
struct ViewOps {
    /// The window; `None` for a session that is made.
    shot: Option<WindowSnapshot>,
    steps: Vec<LayoutStep>,
    /// The pane for which a tmux pane is opened.
    opens: Option<ShowJob>,
}

impl TmuxViewTask {
    pub(super) fn new(
        kernel: Kernel,
        server: TmuxServerAddr,
        sessions: BTreeMap<String, ViewSessionRecord>,
    ) -> Self {
        let view = kernel.setup().tmux_view.as_ref();
        let queue = view.map(|view| LayoutQueue::new(view.max_waiting, view.wait_timeout));
        let records = ViewRecords::new(kernel.clone(), server.clone(), sessions);
        Self {
            jobs: ShowJobs::new(queue.unwrap_or_default(), records.remembered()),
            kernel,
            server,
            connection: None,
            records,
            observed: ObservedViews::default(),
            to_hide: BTreeSet::new(),
            has_less: false,
            restore_at: None,
            observe_at: None,
            idle_at: None,
            is_over: false,
            backoff: FIRST_BACKOFF,
        }
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<ViewRequest>) {
        if !self.records.sessions.is_empty() || !self.jobs.to_restore.is_empty() {
            self.reconnect().await;
            self.schedule_idle();
        }
        loop {
            if self.is_over {
                // What is in the inbox is still done; later requests get a new task.
                inbox.close();
            }
            let deadline = self.deadline();
            let event = tokio::select! {
                request = inbox.recv() => TmuxViewEvent::Request(request),
                event = next(&mut self.connection) => TmuxViewEvent::Tmux(event),
                () = until(deadline) => TmuxViewEvent::Deadline,
            };
            match event {
                TmuxViewEvent::Request(Some(request)) => self.handle_request(request).await,
                TmuxViewEvent::Request(None) => return,
                TmuxViewEvent::Tmux(Some(event)) => self.on_tmux(event).await,
                TmuxViewEvent::Tmux(None) => self.connection = None,
                TmuxViewEvent::Deadline => {
                    self.on_deadline().await;
                    continue;
                }
            }
            self.schedule_idle();
        }
    }

    async fn handle_request(&mut self, request: ViewRequest) {
        match request {
            ViewRequest::Ready(answer) => drop(answer.send(self.client().await.map(drop))),
            ViewRequest::Show(request, answer) => {
                self.jobs.push(request, answer);
                let _ = self.converge().await;
            }
            ViewRequest::Plan(location, panes, replace_ok, answer) => {
                drop(answer.send(self.plan(&location, &panes, replace_ok).await));
            }
            ViewRequest::Snapshot(location, answer) => {
                drop(answer.send(self.snapshot(&location).await.map(|(_, shot)| shot)));
            }
            ViewRequest::Arrange(location, saved, answer) => {
                drop(answer.send(self.arrange(&location, &saved).await));
            }
            ViewRequest::Sessions(answer) => drop(answer.send(self.sessions().await)),
            ViewRequest::Stop(request, answer) => drop(answer.send(self.stop(&request).await)),
            ViewRequest::Activate(pane, answer) => drop(answer.send(self.activate(&pane).await)),
            ViewRequest::Hide(pane, answer) => drop(answer.send(self.hide(&pane).await)),
            ViewRequest::PaneChanged(pane) => self.on_pane_changed(&pane).await,
        }
    }

    async fn on_tmux(&mut self, event: TmuxEvent) {
        match event {
            TmuxEvent::Connected(_)
            | TmuxEvent::Notice(_)
            | TmuxEvent::Changed
            | TmuxEvent::Resync => {
                // One query covers all that is coming.
                let events = self.connection.as_ref().map(|connection| &connection.events);
                if events.is_none_or(TmuxEvents::is_empty) {
                    let _ = self.converge().await;
                }
            }
            TmuxEvent::ClientLost(reason) => tracing::warn!(%reason, "lost the connection to tmux"),
            TmuxEvent::ServerGone(reason) => {
                tracing::warn!(%reason, "the tmux server is gone; programs keep running");
                self.on_server_lost();
                if self.records.sessions.is_empty() && self.server.is_own() {
                    // Any query would start it again, for nothing.
                    self.disconnect();
                } else if !self.records.sessions.is_empty() {
                    self.reconnect_later();
                }
            }
        }
    }

    /// A pane has ended, was removed, or has another title.
    async fn on_pane_changed(&mut self, pane: &PaneId) {
        let view = self.observed.shown.get(pane).map(|view| view.id);
        if !self.records.is_live(pane) {
            self.jobs.queue.remove(pane);
            if view.is_some() {
                self.observe_soon();
            }
        } else if let (Some(view), Some(connection)) = (view, &self.connection) {
            let title = ViewCommands::default().title(view, &self.records.title(pane));
            // A view that is gone needs none.
            let _ = connection.client.run_views(&title).await;
            let _ = self.converge().await;
        }
    }

    /// Handles all deadlines that have passed.
    async fn on_deadline(&mut self) {
        let has_passed =
            |at: &mut Option<Instant>| at.take_if(|at| *at <= Instant::now()).is_some();
        let now = self.kernel.now();
        for entry in self.jobs.queue.expire(now) {
            let waited = entry.age(now).as_secs();
            let reason = format!("it waited for {waited} seconds: {}", entry.reason);
            self.records.mark_expired(&entry.pane, &reason);
        }
        if has_passed(&mut self.observe_at) {
            // Views whose program has ended are closed: some users have tmux keep such panes.
            let ended = self.observed.shown.keys().filter(|pane| !self.records.is_live(pane));
            self.to_hide = ended.cloned().collect();
            let _ = self.converge().await;
            self.to_hide.clear();
        }
        if has_passed(&mut self.restore_at) {
            self.reconnect().await;
        }
        if has_passed(&mut self.idle_at) {
            if !self.server.is_own() {
                self.is_over = self.records.remembered().is_empty() && self.jobs.queue.is_empty();
            } else if self.connection.is_some() {
                self.has_less = true;
                let _ = self.converge().await;
            }
        }
    }

    /// Queries tmux, publishes what has changed, and applies what is to be changed, until there is
    /// nothing to do.
    async fn converge(&mut self) -> Result<(), Refusal> {
        let converged = self.run_passes().await;
        if let Err(refusal) = &converged {
            // A lost connection is reported as an event, too.
            tracing::debug!(%refusal, "cannot query or change tmux");
            self.jobs.interrupt_all(&self.records, refusal);
        }
        converged
    }

    async fn run_passes(&mut self) -> Result<(), Refusal> {
        let mut uneven = BTreeSet::new();
        let mut opened = None;
        let mut failures = 0;
        for pass in 0.. {
            let queried = self.query().await;
            self.verify(opened.take(), &queried);
            let (client, snapshot) = queried?;
            self.observe(&snapshot, &mut uneven);
            if pass == MAX_PASSES {
                self.observe_soon();
                break;
            }
            let ops = self.reconcile(&snapshot, &uneven);
            self.delete_missing_sessions(&snapshot, ops.as_ref());
            let Some(ops) = ops else {
                self.stop_if_empty(&client, &snapshot).await;
                return Ok(());
            };
            if let Some(shot) = &ops.shot {
                uneven.remove(&shot.id);
            }
            match (self.apply(&client, &ops).await, ops.opens) {
                (Ok(Some(view)), Some(job)) => opened = Some((job, view)),
                (Err(error), Some(job)) => self.jobs.retry(&self.records, job, error),
                (Err(error), None) if failures == MAX_FAILURES => return Err(error.into()),
                (Err(_), None) => failures += 1,
                (Ok(_), _) => {}
            }
        }
        Ok(())
    }

    async fn query(&mut self) -> Result<(ControlClient, TmuxSnapshot), Refusal> {
        let client = self.client().await?;
        let snapshot = client.snapshot().await?;
        Ok((client, snapshot))
    }

    /// Checks whether a pane that was just opened is there.
    fn verify(
        &mut self,
        opened: Option<(ShowJob, TmuxPane)>,
        queried: &Result<(ControlClient, TmuxSnapshot), Refusal>,
    ) {
        let Some((job, view)) = opened else { return };
        let snapshot = match queried {
            Ok((_, snapshot)) => snapshot,
            Err(refusal) => return self.jobs.interrupt(&self.records, job, refusal),
        };
        let ShowRequest { pane, location, .. } = &job.request;
        let is_it = |it: &TmuxPaneView| it.id == view && it.shows.as_ref() == Some(pane);
        if snapshot.views.iter().any(is_it) {
            self.records.mark_shown(pane, location, view);
            settle(&self.records, job, Ok(ShowOutcome::Shown(view)));
        } else {
            let refusal = closed_at_once(pane);
            settle(&self.records, job, Err(refusal));
        }
    }

    /// Publishes what has changed, and adds the windows whose panes are to be made even.
    fn observe(&mut self, snapshot: &TmuxSnapshot, uneven: &mut BTreeSet<WindowId>) {
        if self.observed.server != Some(snapshot.server) {
            self.on_other_server(snapshot.server);
        }
        let changes = self.observed.update(snapshot);
        self.observed.shown.keys().for_each(|pane| self.records.set_state(pane, ViewState::Shown));
        self.restore();
        if self.server.is_own() {
            self.records.follow_moves(snapshot);
        }
        self.publish(&changes);
        for (pane, spec) in self.records.remembered() {
            // While the server did not answer, it waited to be shown again.
            let was_shown = spec.state == ViewState::Shown
                || (changes.vanished.contains_key(&pane) && !self.jobs.is_new(&pane));
            if !was_shown || self.observed.shown.contains_key(&pane) {
                continue;
            }
            self.has_less = true;
            if changes.is_first && !self.server.is_own() {
                // It may be another server than then, and a user has perhaps not closed it.
                self.records.mark_hidden(&pane);
            } else {
                self.records.mark_closed(&pane);
            }
        }
        self.has_less |= !changes.vanished.is_empty();
        if changes.is_resized || !changes.vanished.is_empty() {
            uneven.extend(self.cramped(snapshot));
        }
        uneven.extend(changes.vanished.into_values());
    }

    fn publish(&self, changes: &ViewChanges) {
        if changes.is_first {
            return;
        }
        for pane in &changes.focused {
            self.kernel.emit("pane:activated", &self.kernel.event_payload(pane, json!({})));
        }
        for (name, then, now) in &changes.attached {
            if self.server.is_own() && self.records.sessions.contains_key(name) {
                let event = if then < now { "session:attached" } else { "session:detached" };
                self.kernel.emit(event, &json!({ "name": name, "attached": now }));
            }
        }
    }

    /// The windows with a pane that is smaller than it may be.
    fn cramped(&self, snapshot: &TmuxSnapshot) -> Vec<WindowId> {
        let limits = self.limits();
        let window = |at: &ViewLocation| WindowSnapshot::find(&self.kernel, snapshot, at).ok()?;
        let shots = self.records.locations();
        let shots = shots.iter().filter_map(window).filter(|shot| shot.is_cramped(&limits));
        shots.map(|shot| shot.id).collect()
    }

    /// The answer is of another process than the last one. On the one that the records know, what
    /// is missing was closed. On any other nothing was, and everything is shown again.
    fn on_other_server(&mut self, server: u32) {
        let sessions = &self.records.sessions;
        let is_same = self.observed.server.is_none()
            && sessions.values().all(|session| session.tmux == server);
        if !is_same {
            self.on_server_lost();
            self.jobs.to_restore = self.records.remembered();
        }
        if !is_same && !self.server.is_own() {
            // The tmux pane that they waited beside is gone, and its id may be another one's.
            let waiting = std::mem::take(&mut self.jobs.to_restore);
            waiting.iter().for_each(|(pane, _)| self.records.set_state(pane, ViewState::Hidden));
        }
        self.observed = ObservedViews::default();
        self.backoff = FIRST_BACKOFF;
    }

    /// What waits to be shown again is requested again, the oldest session first.
    fn restore(&mut self) {
        let sessions = &self.records.sessions;
        let mut before = std::mem::take(&mut self.jobs.to_restore);
        before.retain(|(pane, spec)| {
            spec.state == ViewState::Waiting && !self.observed.shown.contains_key(pane)
        });
        before.sort_by_key(|(_, spec)| Some(sessions.get(spec.location.session()?)?.created_at));
        for (pane, ViewSpec { location, .. }) in before.into_iter().rev() {
            let session = location.session().and_then(|name| sessions.get(name));
            if !self.records.is_live(&pane) || (session.is_none() && self.server.is_own()) {
                self.records.set_state(&pane, ViewState::Hidden);
                continue;
            }
            self.jobs.push_restored(ShowRequest {
                pane,
                size: session.map_or(DEFAULT_SIZE, |session| session.size),
                location,
                must_be_new: false,
                replace_ok: false,
                wait_ok: true,
                grant: self.kernel.owner_grant().clone(),
            });
        }
    }

    /// The next commands; requests that need none are answered.
    fn reconcile(
        &mut self,
        snapshot: &TmuxSnapshot,
        uneven: &BTreeSet<WindowId>,
    ) -> Option<ViewOps> {
        if let Some(closing) = self.closing_ops(snapshot) {
            return Some(closing);
        }
        let requested = self.jobs.all().map(|request| request.location.clone());
        let mut locations: Vec<_> = requested.chain(self.records.locations()).collect();
        let mut seen = HashSet::new();
        locations.retain(|location| seen.insert(location.clone()));
        locations.iter().find_map(|location| self.window_ops(snapshot, location, uneven))
    }

    /// The next commands for the window of a location.
    fn window_ops(
        &mut self,
        snapshot: &TmuxSnapshot,
        location: &ViewLocation,
        uneven: &BTreeSet<WindowId>,
    ) -> Option<ViewOps> {
        let is_here = |request: &ShowRequest| request.location == *location;
        let shot = match WindowSnapshot::find(&self.kernel, snapshot, location) {
            Ok(shot) => shot,
            Err(refusal) => {
                self.jobs.refuse(&self.records, &refusal, is_here);
                return None;
            }
        };
        let Some(shot) = shot else {
            let pane = self.jobs.requests(location).next()?.pane.clone();
            return Some(ViewOps { shot: None, steps: Vec::new(), opens: self.jobs.take(&pane) });
        };
        let sentence = format!("there is a session `{}` already", location.session().unwrap_or(""));
        let exists = Refusal::new(Code::Conflict, sentence);
        self.jobs.refuse(&self.records, &exists, |it| is_here(it) && it.must_be_new);
        let mut desired = self.jobs.desired(&self.kernel, location, &shot);
        desired.even = uneven.contains(&shot.id);
        let plan = reconcile(&shot.window, &shot.owners, &desired, &self.limits());
        for (pane, decision) in plan.settled {
            self.jobs.settle_decision(&self.records, &pane, decision, self.kernel.now());
        }
        let opens = plan.opens.and_then(|pane| self.jobs.take(&pane));
        (!plan.steps.is_empty()).then_some(ViewOps { shot: Some(shot), steps: plan.steps, opens })
    }

    /// Commands that close the views of panes that are not to be shown any more.
    fn closing_ops(&self, snapshot: &TmuxSnapshot) -> Option<ViewOps> {
        let is_unwanted =
            |view: &&TmuxPaneView| view.shows.as_ref().is_some_and(|it| self.to_hide.contains(it));
        let first = snapshot.views.iter().find(is_unwanted)?;
        let window = snapshot.windows.iter().find(|window| window.id == first.window)?;
        let main = Some(TmuxPaneId(first.id.0));
        let shot = WindowSnapshot::new(&self.kernel, snapshot, window, main).ok()?;
        let closed = shot.views.iter().filter(is_unwanted).map(|view| TmuxPaneId(view.id.0));
        let desired = DesiredView { closed: closed.collect(), ..DesiredView::default() };
        let plan = reconcile(&shot.window, &shot.owners, &desired, &self.limits());
        Some(ViewOps { shot: Some(shot), steps: plan.steps, opens: None })
    }

    /// Applies commands: in one line, and in a second one if a new tmux pane is to be marked.
    async fn apply(
        &mut self,
        client: &ControlClient,
        ops: &ViewOps,
    ) -> Result<Option<TmuxPane>, Error> {
        let Some(job) = &ops.opens else {
            let commands = self.commands(ViewCommands::default(), ops.shot.as_ref(), &ops.steps);
            return client.run_views(&commands).await.map(|()| None);
        };
        let ShowRequest { pane, location, size, .. } = &job.request;
        let name = location.session().map(SessionName::new).transpose()?;
        let is_split = |step: &LayoutStep| matches!(step, LayoutStep::Split { .. });
        let at = ops.steps.iter().position(is_split).unwrap_or(0);
        let (before, after) = ops.steps.split_at(at);
        let place = match (after.first(), &name) {
            (Some(LayoutStep::Split { target, direction }), _) => {
                NewView::Split(TmuxPane(target.0), side(*direction))
            }
            (_, Some(name)) => NewView::Session(name, *size),
            (_, None) => return Ok(None),
        };
        let before = self.commands(ViewCommands::default(), ops.shot.as_ref(), before);
        let made = client.open_view(before, place, &self.program(pane)).await?;
        let marks = ViewCommands::default().mark_view(made.pane, pane, &self.records.title(pane));
        let marks = match place {
            NewView::Session(name, _) => marks.mark_main(made, name),
            NewView::Split(..) => self.commands(marks, ops.shot.as_ref(), after),
        };
        let marks = if self.server.is_own() { marks } else { marks.watch() };
        if let Err(error) = client.run_views(&marks).await {
            let _ = client.kill_pane(made.pane).await;
            return Err(error);
        }
        if let (None, Some(name), Some(server)) =
            (&ops.shot, location.session(), self.observed.server)
        {
            self.records.save_session(name, *size, server);
        }
        Ok(Some(made.pane))
    }

    /// The tmux commands for steps that make no pane. What they close counts as hidden from here on,
    /// so that it is not taken for closed by a user.
    fn commands(
        &self,
        first: ViewCommands,
        shot: Option<&WindowSnapshot>,
        steps: &[LayoutStep],
    ) -> ViewCommands {
        let Some(shot) = shot else { return first };
        let tmux = |id: &TmuxPaneId| TmuxPane(id.0);
        steps.iter().fold(first, |commands, step| match step {
            LayoutStep::Split { .. } => commands,
            LayoutStep::Close(closed) => {
                let view = shot.views.iter().find(|view| view.id.0 == closed.0);
                let shows = view.and_then(|view| view.shows.as_ref());
                shows.into_iter().for_each(|pane| self.records.mark_hidden(pane));
                commands.kill(tmux(closed))
            }
            LayoutStep::Swap(a, b) => commands.swap(tmux(a), tmux(b)),
            LayoutStep::Arrange(layout) => commands.select_layout(shot.id, &layout.to_string()),
            LayoutStep::Zoom(pane) => commands.zoom(tmux(pane)),
        })
    }

    /// Forgets the sessions of ours that are gone, unless a pane is about to be shown in it.
    fn delete_missing_sessions(&mut self, snapshot: &TmuxSnapshot, ops: Option<&ViewOps>) {
        let job = ops.and_then(|ops| ops.opens.as_ref());
        let job = job.filter(|job| !matches!(job.origin, ShowOrigin::Queue));
        let reopened = job.and_then(|job| job.request.location.session());
        let is_there = |name: &str| snapshot.sessions.iter().any(|session| session.name == name);
        let names = self.records.sessions.keys();
        let gone = names.filter(|name| {
            !is_there(name) && reopened != Some(name.as_str()) && !self.jobs.needs(name)
        });
        let gone: Vec<String> = gone.cloned().collect();
        self.has_less |= !gone.is_empty();
        gone.iter().for_each(|name| self.records.delete_session(name));
    }

    /// Stops our own tmux server if it has nothing to show any more. From a user's server it only
    /// disconnects.
    async fn stop_if_empty(&mut self, client: &ControlClient, snapshot: &TmuxSnapshot) {
        if !std::mem::take(&mut self.has_less) {
            return;
        }
        if !self.server.is_own() {
            if self.observed.shown.is_empty() && self.jobs.queue.is_empty() {
                self.disconnect();
            }
        } else if self.records.sessions.is_empty() && snapshot.sessions.is_empty() {
            self.disconnect();
            let _ = client.kill_server().await;
        }
    }

    /// What would be done for these panes, one after the other.
    async fn plan(
        &mut self,
        location: &ViewLocation,
        panes: &[PaneId],
        replace_ok: bool,
    ) -> Result<Vec<Decision>, Refusal> {
        let (_, shot) = self.snapshot(location).await?;
        let request =
            |pane: &PaneId| LayoutRequest { pane: pane.clone(), replace_ok, wait_ok: true };
        let requests: Vec<_> = panes.iter().map(request).collect();
        Ok(plan_all(&shot.window, &shot.owners, &requests, &self.limits()))
    }

    /// The window of a location.
    async fn snapshot(
        &mut self,
        location: &ViewLocation,
    ) -> Result<(ControlClient, WindowSnapshot), Refusal> {
        let (client, snapshot) = self.query().await?;
        let found = WindowSnapshot::find(&self.kernel, &snapshot, location)?;
        Ok((client, found.ok_or_else(|| location.missing())?))
    }

    /// Moves the panes of a window to the places of a saved layout.
    async fn arrange(
        &mut self,
        location: &ViewLocation,
        saved: &SavedLayout,
    ) -> Result<WindowSnapshot, Refusal> {
        let (client, shot) = self.snapshot(location).await?;
        let role = |id| shot.role(&self.kernel, id);
        let steps = saved.steps(&shot.window, &shot.owners, &self.limits(), role)?;
        client.run_views(&self.commands(ViewCommands::default(), Some(&shot), &steps)).await?;
        self.kernel.emit("layout:changed", &json!({ "session": location.session() }));
        Ok(self.snapshot(location).await?.1)
    }

    /// All our sessions.
    async fn sessions(&mut self) -> Result<Vec<SessionInfo>, Refusal> {
        // A query would start a server for nothing.
        if self.records.sessions.is_empty() {
            return Ok(Vec::new());
        }
        let (_, snapshot) = self.query().await?;
        let info = |session: &TmuxSession| {
            let here = snapshot.views.iter().filter(|view| view.session == session.id);
            SessionInfo {
                panes: here.filter_map(|view| view.shows.clone()).collect(),
                socket: self.server.socket().to_owned(),
                target: session.id.to_string(),
                attached: session.attached_clients,
                size: session.size,
                name: session.name.clone(),
            }
        };
        let ours = snapshot.sessions.iter();
        let ours = ours.filter(|session| self.records.sessions.contains_key(&session.name));
        Ok(ours.map(info).collect())
    }

    /// Ends a session and returns the panes that it showed. They are marked as hidden; the caller
    /// ends them.
    async fn stop(&mut self, request: &SessionStopRequest) -> Result<Vec<PaneId>, Refusal> {
        let name = request.name.as_str();
        if !self.records.sessions.contains_key(name) {
            return Err(request.missing());
        }
        let location = ViewLocation::Session { name: name.to_owned() };
        let (client, snapshot) = self.query().await?;
        let session = snapshot.sessions.iter().find(|session| session.name == name);
        let session = session.ok_or_else(|| location.missing())?.id;
        let here = snapshot.views.iter().filter(|view| view.session == session);
        let shown: Vec<Option<PaneId>> = here.map(|view| view.shows.clone()).collect();
        let waiting = self.jobs.requests(&location).map(|request| request.pane.clone());
        let waiting: Vec<PaneId> = waiting.collect();
        request.check(
            &self.kernel,
            &shown.iter().cloned().chain(waiting.iter().cloned().map(Some)).collect::<Vec<_>>(),
        )?;
        for pane in &waiting {
            self.jobs.queue.remove(pane);
            self.records.mark_expired(pane, "the session was stopped");
        }
        let shown: Vec<PaneId> = shown.into_iter().flatten().collect();
        shown.iter().for_each(|pane| self.records.mark_hidden(pane));
        self.records.delete_session(name);
        self.has_less = true;
        client.kill_session(session).await?;
        let _ = self.converge().await;
        Ok(shown.into_iter().chain(waiting).collect())
    }

    /// Gives a pane the focus.
    async fn activate(&mut self, pane: &PaneId) -> Result<(), Refusal> {
        let (client, view) = self.view(pane).await?;
        client.select_pane(view).await?;
        let _ = self.converge().await;
        Ok(())
    }

    /// Stops showing a pane.
    async fn hide(&mut self, pane: &PaneId) -> Result<(), Refusal> {
        if self.jobs.queue.remove(pane).is_some() {
            self.records.set_state(pane, ViewState::Hidden);
            return Ok(());
        }
        self.view(pane).await?;
        self.to_hide.insert(pane.clone());
        let hidden = self.converge().await;
        self.to_hide.clear();
        hidden
    }

    /// The tmux pane that shows a pane.
    async fn view(&mut self, pane: &PaneId) -> Result<(ControlClient, TmuxPane), Refusal> {
        let (client, snapshot) = self.query().await?;
        let view = snapshot.views.iter().find(|view| view.shows.as_ref() == Some(pane));
        let missing = || Refusal::not_found(format!("the pane `{pane}` is shown nowhere in tmux"));
        Ok((client, view.ok_or_else(missing)?.id))
    }

    /// The connection, made when it is first needed.
    async fn client(&mut self) -> Result<ControlClient, Refusal> {
        if let Some(connection) = &self.connection {
            return Ok(connection.client.clone());
        }
        let (client, events) = tmux::connect(self.server.clone()).await?;
        self.connection = Some(ViewConnection { client: client.clone(), events });
        Ok(client)
    }

    /// Closes the connection; the next request that needs tmux connects again.
    fn disconnect(&mut self) {
        self.connection = None;
        self.observed = ObservedViews::default();
    }

    /// A query starts a server of our own, and shows everything again.
    async fn reconnect(&mut self) {
        if let Err(refusal) = self.converge().await {
            tracing::warn!(%refusal, "cannot restore sessions yet");
            self.on_server_lost();
            if self.server.is_own() {
                self.reconnect_later();
            }
        }
    }

    fn reconnect_later(&mut self) {
        self.restore_at = Some(Instant::now() + self.backoff);
        self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
    }

    /// The tmux server is gone, and no view was closed.
    fn on_server_lost(&mut self) {
        self.records.mark_lost(&std::mem::take(&mut self.observed.attached));
    }

    /// Queries again soon: tmux does not report everything on servers that are not ours.
    fn observe_soon(&mut self) {
        self.observe_at.get_or_insert(Instant::now() + FIRST_BACKOFF);
    }

    /// Sets the deadline after a request or an event: soon if our tmux server has nothing to show.
    /// For a server that is not ours, it is the time to check whether anything of ours is shown
    /// there.
    fn schedule_idle(&mut self) {
        if !self.server.is_own() {
            self.idle_at.get_or_insert(Instant::now() + IDLE);
            return;
        }
        let is_idle = self.records.sessions.is_empty() && self.connection.is_some();
        self.idle_at = is_idle.then(|| Instant::now() + IDLE);
    }

    fn deadline(&self) -> Option<Instant> {
        let now = self.kernel.now();
        let expires = self.jobs.queue.next_deadline().map(|at| {
            // A millisecond more, so that it has passed by then.
            Instant::now() + Duration::from_millis(at.since(now) + 1)
        });
        let deadlines = [expires, self.restore_at, self.observe_at, self.idle_at];
        deadlines.into_iter().flatten().min()
    }

    fn limits(&self) -> LayoutLimits {
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

fn side(direction: LayoutDirection) -> SplitSide {
    match direction {
        LayoutDirection::Right => SplitSide::Right,
        LayoutDirection::Down => SplitSide::Below,
    }
}

async fn next(connection: &mut Option<ViewConnection>) -> Option<TmuxEvent> {
    match connection {
        Some(connection) => connection.events.recv().await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
