//! What is to be shown on one tmux server, what was observed there, and what follows from both. All
//! decisions are here, and nothing waits: the task asks tmux, and does what it is told.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use paned_backend::tmux::operations::{SplitSide, TmuxProgram};
use paned_backend::tmux::{
    SessionId, TmuxPane, TmuxPaneView, TmuxServerAddr, TmuxSnapshot, ViewCommands, WindowId,
};
use paned_model::{Code, PaneId, Refusal, Time, ViewState};
use paned_policy::layout::{
    BalanceRule, Decision, DesiredView, LayoutDirection, LayoutLimits, LayoutQueue, LayoutStep,
    NotShownReason, TmuxPaneId, reconcile,
};
use serde_json::json;

use super::jobs::{ShowJob, ShowJobs, closed_at_once, settle};
use super::records::{SessionInfo, SessionStopRequest, ViewRecords, ViewSessionRecord};
use super::snapshot::{ObservedViews, ViewChanges, WindowSnapshot, next_quiet};
use super::{DEFAULT_SIZE, ShowOutcome, ShowRequest};
use super::{ViewLocation, ViewSpec};
use crate::Kernel;

/// The views on one tmux server.
pub(super) struct ServerViews {
    pub(super) records: ViewRecords,
    pub(super) observed: ObservedViews,
    /// Panes to be shown.
    pub(super) jobs: ShowJobs,
    /// Panes not to be shown any more.
    pub(super) to_hide: BTreeSet<PaneId>,
    /// Windows that have changed, so that a pane may have too little space, or too much.
    to_balance: BTreeMap<WindowId, BalanceRule>,
    /// Whether something was taken away, so that perhaps nothing is left to show.
    pub(super) has_less: bool,
}

/// The next commands, all for one window.
pub(super) struct ViewOps {
    /// The window; `None` for a session that is made.
    pub(super) shot: Option<WindowSnapshot>,
    pub(super) steps: Vec<LayoutStep>,
    /// The pane for which a tmux pane is opened.
    pub(super) opens: Option<ShowJob>,
    /// Whether that is in a new window of the same session.
    pub(super) in_new_window: bool,
}

impl ServerViews {
    pub(super) fn new(
        kernel: Kernel,
        server: TmuxServerAddr,
        sessions: BTreeMap<String, ViewSessionRecord>,
    ) -> Self {
        let view = kernel.setup().tmux_view.as_ref();
        let queue = view.map(|view| LayoutQueue::new(view.max_waiting, view.wait_timeout));
        let records = ViewRecords { kernel, server, sessions };
        let mut views = Self {
            jobs: ShowJobs::new(queue.unwrap_or_default()),
            records,
            observed: ObservedViews::default(),
            to_hide: BTreeSet::new(),
            to_balance: BTreeMap::new(),
            has_less: false,
        };
        views.restore();
        views
    }

    /// Checks whether a pane that was just opened is there, and answers its request.
    pub(super) fn verify(&self, snapshot: &TmuxSnapshot, job: ShowJob, view: TmuxPane) {
        let ShowRequest { pane, location, .. } = &job.request;
        let is_it = |it: &TmuxPaneView| it.id == view && it.shows.as_ref() == Some(pane);
        let outcome = if snapshot.views.iter().any(is_it) {
            self.records.mark_shown(pane, location, view, own_window(snapshot, view));
            Ok(ShowOutcome::Shown(view))
        } else {
            Err(closed_at_once(pane))
        };
        settle(&self.records, job, outcome);
    }

    /// Publishes what has changed.
    pub(super) fn observe(&mut self, snapshot: &TmuxSnapshot) {
        if self.observed.server != Some(snapshot.server) {
            self.on_other_server(snapshot.server);
        }
        let changes = self.observed.update(snapshot);
        for (pane, view) in &self.observed.shown {
            self.records.set_shown(pane, own_window(snapshot, view.id));
        }
        self.jobs.drop_restored(|pane| self.observed.shown.contains_key(pane));
        if self.records.server.is_own() {
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
            if changes.is_first && !self.records.server.is_own() {
                // It may be another server than then, and a user has perhaps not closed it.
                self.records.mark_hidden(&pane);
            } else {
                self.records.mark_closed(&pane);
            }
        }
        self.has_less |= !changes.vanished.is_empty();
        if changes.is_resized || !changes.vanished.is_empty() {
            for window in &snapshot.windows {
                self.to_balance.entry(window.id).or_insert(BalanceRule::IfTight);
            }
            let vanished = changes.vanished.into_values();
            self.to_balance.extend(vanished.map(|window| (window, BalanceRule::Even)));
        }
    }

    fn publish(&self, changes: &ViewChanges) {
        if changes.is_first {
            return;
        }
        for pane in &changes.focused {
            self.records
                .kernel
                .emit("pane:activated", &self.records.kernel.event_payload(pane, json!({})));
        }
        for (name, then, now) in &changes.attached {
            if self.records.server.is_own() && self.records.sessions.contains_key(name) {
                let event = if then < now { "session:attached" } else { "session:detached" };
                self.records.kernel.emit(event, &json!({ "name": name, "attached": now }));
            }
        }
    }

    /// The answer is of another process than the last one. On the one that the records know, what
    /// is missing was closed. On any other nothing was, and everything is shown again.
    fn on_other_server(&mut self, server: u32) {
        let sessions = &self.records.sessions;
        let is_same = self.observed.server.is_none()
            && sessions.values().all(|session| session.tmux == server);
        if !is_same {
            self.on_server_lost();
            self.restore();
        }
        self.observed = ObservedViews::default();
    }

    /// What waits to be shown again is requested again, the oldest session first.
    fn restore(&mut self) {
        let sessions = &self.records.sessions;
        let mut waiting = self.records.remembered();
        waiting.retain(|(_, spec)| spec.state == ViewState::Waiting);
        waiting.sort_by_key(|(_, spec)| Some(sessions.get(spec.location.session()?)?.created_at));
        for (pane, ViewSpec { location, no_room, .. }) in waiting.into_iter().rev() {
            let session = location.session().and_then(|name| sessions.get(name));
            let is_known = match location {
                ViewLocation::Session { .. } => session.is_some(),
                // On another server, an id is of another tmux pane.
                ViewLocation::Beside { .. } => self.observed.server.is_none(),
            };
            if !is_known || !self.records.is_live(&pane) {
                self.records.set_state(&pane, ViewState::Hidden);
                continue;
            }
            self.jobs.push_restored(ShowRequest {
                pane,
                size: session.map_or(DEFAULT_SIZE, |session| session.size),
                location,
                must_be_new: false,
                replace_ok: false,
                no_room,
                grant: self.records.kernel.owner_grant().clone(),
            });
        }
    }

    /// The next commands; requests that need none are answered.
    pub(super) fn reconcile(&mut self, snapshot: &TmuxSnapshot) -> Option<ViewOps> {
        let requested = self.jobs.all().map(|request| request.location.clone());
        let mut locations: Vec<_> = requested.chain(self.records.locations()).collect();
        let mut seen = HashSet::new();
        locations.retain(|location| seen.insert(location.clone()));
        let ops = self
            .closing_ops(snapshot)
            .or_else(|| locations.iter().find_map(|location| self.window_ops(snapshot, location)));
        if ops.is_none() {
            self.to_balance.clear();
        }
        self.delete_missing_sessions(snapshot, ops.as_ref());
        ops
    }

    /// The next commands for the window of a location.
    fn window_ops(&mut self, snapshot: &TmuxSnapshot, location: &ViewLocation) -> Option<ViewOps> {
        let is_here = |job: &ShowJob| job.request.location == *location;
        let shot = match WindowSnapshot::find(&self.records.kernel, snapshot, location) {
            Ok(shot) => shot,
            Err(refusal) => {
                self.jobs.refuse(&self.records, &refusal, is_here);
                return None;
            }
        };
        let Some(shot) = shot else {
            let pane = self.jobs.requests(location).next()?.pane.clone();
            let opens = self.jobs.take(&pane);
            return Some(ViewOps { shot: None, steps: Vec::new(), opens, in_new_window: false });
        };
        let sentence = format!("session `{}` already exists", location.session().unwrap_or(""));
        let exists = Refusal::new(Code::Conflict, sentence);
        self.jobs.refuse(&self.records, &exists, |job| is_here(job) && job.request.must_be_new);
        self.settle_shown(location);
        let mut desired = self.jobs.desired(&self.records.kernel, location, &shot);
        // Once is enough, also if tmux makes something else of it.
        desired.balance = self.to_balance.remove(&shot.id).unwrap_or_default();
        let plan = reconcile(&shot.window, &shot.owners, &desired, &self.limits());
        for (pane, decision) in plan.settled {
            self.jobs.settle_decision(&self.records, &pane, decision, self.records.kernel.now());
        }
        let opens = plan.opens.and_then(|pane| self.jobs.take(&pane));
        let in_new_window = plan.in_new_window;
        let ops = ViewOps { shot: Some(shot), steps: plan.steps, opens, in_new_window };
        (in_new_window || !ops.steps.is_empty()).then_some(ops)
    }

    /// Answers the requests for panes that are shown already, in whatever window.
    fn settle_shown(&mut self, location: &ViewLocation) {
        let requested = self.jobs.requests(location);
        let shown = requested.filter_map(|it| self.observed.shown.get_key_value(&it.pane));
        let shown: Vec<_> = shown.map(|(pane, view)| (pane.clone(), view.id)).collect();
        for (pane, view) in shown {
            let reason = NotShownReason::AlreadyShown(TmuxPaneId(view.0));
            let now = self.records.kernel.now();
            self.jobs.settle_decision(&self.records, &pane, Decision::Skip { reason }, now);
        }
    }

    /// Commands that close the views of panes that are not to be shown any more.
    fn closing_ops(&self, snapshot: &TmuxSnapshot) -> Option<ViewOps> {
        let is_unwanted =
            |view: &&TmuxPaneView| view.shows.as_ref().is_some_and(|it| self.to_hide.contains(it));
        let first = snapshot.views.iter().find(is_unwanted)?;
        let window = snapshot.windows.iter().find(|window| window.id == first.window)?;
        let main = Some(TmuxPaneId(first.id.0));
        let shot = WindowSnapshot::new(&self.records.kernel, snapshot, window, main).ok()?;
        let closed = shot.views.iter().filter(is_unwanted).map(|view| TmuxPaneId(view.id.0));
        let desired = DesiredView { closed: closed.collect(), ..DesiredView::default() };
        let plan = reconcile(&shot.window, &shot.owners, &desired, &self.limits());
        let steps = plan.steps;
        Some(ViewOps { shot: Some(shot), steps, opens: None, in_new_window: false })
    }

    /// Forgets the sessions of ours that are gone, unless they are to be made again on another
    /// server.
    fn delete_missing_sessions(&mut self, snapshot: &TmuxSnapshot, ops: Option<&ViewOps>) {
        let next = ops.and_then(|ops| ops.opens.as_ref()).map(|job| &job.request);
        let needed: HashSet<&str> =
            self.jobs.all().chain(next).filter_map(|it| it.location.session()).collect();
        let is_there = |name: &str| snapshot.sessions.iter().any(|session| session.name == name);
        let gone = self.records.sessions.values().filter(|record| {
            let is_same = record.tmux == snapshot.server;
            !is_there(&record.name) && (is_same || !needed.contains(record.name.as_str()))
        });
        let gone: Vec<String> = gone.map(|record| record.name.clone()).collect();
        self.has_less |= !gone.is_empty();
        gone.iter().for_each(|name| self.records.delete_session(name));
    }

    /// Whether something was taken away, and nothing is left to show.
    pub(super) fn is_left_empty(&mut self, snapshot: &TmuxSnapshot) -> bool {
        let has_less = std::mem::take(&mut self.has_less);
        let is_empty = if self.records.server.is_own() {
            self.records.sessions.is_empty() && snapshot.sessions.is_empty()
        } else {
            self.observed.shown.is_empty() && self.jobs.queue.is_empty()
        };
        has_less && is_empty
    }

    /// All our sessions.
    pub(super) fn sessions(
        &self,
        snapshot: &TmuxSnapshot,
        config_errors: &[String],
    ) -> Vec<SessionInfo> {
        let ours = snapshot.sessions.iter();
        let ours = ours.filter(|session| self.records.sessions.contains_key(&session.name));
        let kernel = &self.records.kernel;
        let following = kernel.tmux_views().following();
        let default = kernel.default_session();
        ours.map(|session| SessionInfo {
            follows: following.as_ref() == Some(&session.name),
            is_default: default == session.name,
            config_errors: config_errors.to_vec(),
            ..SessionInfo::new(snapshot, session, self.records.server.socket())
        })
        .collect()
    }

    /// Counts a session as stopped; returns its id, and the panes that it showed. They are marked
    /// as hidden, and those that waited for it as expired.
    pub(super) fn stop_session(
        &mut self,
        snapshot: &TmuxSnapshot,
        request: &SessionStopRequest,
    ) -> Result<(SessionId, Vec<PaneId>), Refusal> {
        let name = request.name.as_str();
        let location = ViewLocation::Session { name: name.to_owned() };
        let session = snapshot.sessions.iter().find(|session| session.name == name);
        let session = session.ok_or_else(|| location.missing())?.id;
        let here = snapshot.views.iter().filter(|view| view.session == session);
        let shown: Vec<Option<PaneId>> = here.map(|view| view.shows.clone()).collect();
        let waiting = self.jobs.requests(&location).map(|request| request.pane.clone());
        let waiting: Vec<PaneId> = waiting.collect();
        let unseen = self.records.unseen(&location);
        let others = waiting.iter().chain(&unseen).cloned().map(Some);
        let all: Vec<_> = shown.iter().cloned().chain(others).collect();
        request.check(&self.records.kernel, &all)?;
        shown.iter().flatten().for_each(|pane| self.records.mark_hidden(pane));
        for pane in &waiting {
            self.jobs.take(pane);
            self.records.mark_expired(pane, "the session was stopped");
        }
        self.records.delete_session(name);
        self.has_less = true;
        Ok((session, all.into_iter().flatten().collect()))
    }

    /// The tmux commands for steps that make no pane. What they close counts as hidden from here
    /// on, so that it is not taken for closed by a user.
    pub(super) fn commands(
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
                shows.into_iter().for_each(|pane| self.records.mark_closing(pane));
                commands.kill(tmux(closed))
            }
            LayoutStep::Swap(a, b) => commands.swap(tmux(a), tmux(b)),
            LayoutStep::Arrange(layout) => commands.select_layout(shot.id, &layout.to_string()),
            LayoutStep::Zoom(pane) => commands.zoom(tmux(pane)),
        })
    }

    /// The tmux server is gone, and no view was closed.
    pub(super) fn on_server_lost(&mut self) {
        self.records.mark_lost(&std::mem::take(&mut self.observed.attached));
    }

    /// When a shown pane has been quiet for long enough to be replaced by one that waits.
    pub(super) fn next_quiet(&self) -> Option<Time> {
        let shown = self.observed.shown.keys();
        let waits = !self.jobs.queue.is_empty();
        waits.then(|| next_quiet(&self.records.kernel, shown)).flatten()
    }

    pub(super) fn limits(&self) -> LayoutLimits {
        self.records
            .kernel
            .setup()
            .tmux_view
            .as_ref()
            .map(|view| view.limits.clone())
            .unwrap_or_default()
    }

    /// What a tmux pane runs to show a pane.
    pub(super) fn program(&self, pane: &PaneId) -> TmuxProgram {
        let attach = self.records.kernel.setup().tmux_view.as_ref().map(|view| view.attach.clone());
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

/// Where tmux puts the new half of a pane that is split in this direction.
pub(super) fn side(direction: LayoutDirection) -> SplitSide {
    match direction {
        LayoutDirection::Right => SplitSide::Right,
        LayoutDirection::Down => SplitSide::Below,
    }
}

/// The number of the window that a tmux pane has to itself, if it is not the main pane and others
/// are in the same session.
fn own_window(snapshot: &TmuxSnapshot, id: TmuxPane) -> Option<u32> {
    let view = snapshot.views.iter().find(|view| view.id == id && !view.main)?;
    let window = snapshot.windows.iter().find(|window| window.id == view.window)?;
    let session = snapshot.sessions.iter().find(|session| session.id == view.session)?;
    (window.panes == 1 && 1 < session.windows).then_some(window.index)
}
