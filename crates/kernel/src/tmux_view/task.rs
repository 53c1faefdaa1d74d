//! The task that owns the connection to one tmux server: one request or event after the other, and
//! after each the loop of [`TmuxViewTask::converge`]. Nothing of what tmux has is patched here:
//! after every change and every error it is queried again.

use std::collections::BTreeMap;
use std::time::Duration;

use paned_backend::tmux::{
    self, ControlClient, Error, NewView, SessionName, TmuxEvent, TmuxEvents, TmuxPane,
    TmuxServerAddr, TmuxSnapshot, ViewCommands,
};
use paned_model::{PaneId, Refusal, Time, ViewState};
use paned_policy::layout::{Decision, LayoutRequest, LayoutStep, SavedLayout, plan_all};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::ViewLocation;
use super::reconcile::{ServerViews, ViewOps, side};
use super::records::{SessionInfo, SessionStopRequest, ViewSessionRecord};
use super::snapshot::{ObservedViews, WindowSnapshot};
use super::{ShowRequest, ViewRequest};
use crate::Kernel;

/// How soon sessions are restored after their tmux server died, and the longest delay if it dies
/// again and again.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// How long a tmux server of our own is kept without anything to show.
const IDLE: Duration = Duration::from_secs(2);
/// How many commands that show no pane may fail before the loop ends.
const MAX_FAILURES: usize = 2;
/// The most characters of a title that a window is named by.
const MAX_WINDOW_NAME: usize = 20;
/// After so many queries others get their turn; what is left is done a little later.
const MAX_PASSES: usize = 200;

pub(super) struct TmuxViewTask {
    views: ServerViews,
    connection: Option<ViewConnection>,
    restore_at: Option<Instant>,
    observe_at: Option<Instant>,
    /// When a pane has been quiet for long enough to make room.
    quiet_at: Option<Instant>,
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

impl TmuxViewTask {
    pub(super) fn new(
        kernel: Kernel,
        server: TmuxServerAddr,
        sessions: BTreeMap<String, ViewSessionRecord>,
    ) -> Self {
        Self {
            views: ServerViews::new(kernel, server, sessions),
            connection: None,
            restore_at: None,
            observe_at: None,
            quiet_at: None,
            idle_at: None,
            is_over: false,
            backoff: FIRST_BACKOFF,
        }
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<ViewRequest>) {
        if !self.views.records.remembered().is_empty() || !self.views.records.sessions.is_empty() {
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
                self.views.jobs.push(request, answer);
                let _ = self.converge().await;
            }
            ViewRequest::Plan(location, requests, answer) => {
                drop(answer.send(self.plan(&location, &requests).await));
            }
            ViewRequest::Snapshot(location, answer) => {
                drop(answer.send(self.snapshot(&location).await.map(|(_, shot)| shot)));
            }
            ViewRequest::Arrange(location, saved, answer) => {
                drop(answer.send(self.arrange(&location, &saved).await));
            }
            ViewRequest::Follow(name, answer) => {
                self.views.records.follow_from_now(&name);
                drop(answer.send(Ok(())));
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
                self.views.on_server_lost();
                if self.views.records.sessions.is_empty() && self.views.records.server.is_own() {
                    // Any query would start it again, for nothing.
                    self.disconnect();
                } else if !self.views.records.sessions.is_empty() {
                    self.reconnect_later();
                }
            }
        }
    }

    /// A pane has ended, was removed, or has another title.
    async fn on_pane_changed(&mut self, pane: &PaneId) {
        let view = self.views.observed.shown.get(pane).map(|view| view.id);
        if !self.views.records.is_live(pane) {
            self.views.jobs.take(pane);
            if view.is_some() {
                self.observe_soon();
            }
        } else if let (Some(view), Some(connection)) = (view, &self.connection) {
            let title = ViewCommands::default().title(view, &self.views.records.title(pane));
            // A view that is gone needs none.
            let _ = connection.client.run_views(&title).await;
            let _ = self.converge().await;
        }
    }

    /// Handles all deadlines that have passed.
    async fn on_deadline(&mut self) {
        let has_passed =
            |at: &mut Option<Instant>| at.take_if(|at| *at <= Instant::now()).is_some();
        let now = self.views.records.kernel.now();
        for entry in self.views.jobs.queue.expire(now) {
            let waited = entry.age(now).as_secs();
            let reason = format!("no room after waiting {waited} s: {}", entry.reason);
            self.views.records.mark_expired(&entry.pane, &reason);
        }
        if has_passed(&mut self.observe_at) | has_passed(&mut self.quiet_at) {
            // Views whose program has ended are closed: some users have tmux keep such panes.
            let ended =
                self.views.observed.shown.keys().filter(|pane| !self.views.records.is_live(pane));
            self.views.to_hide = ended.cloned().collect();
            let _ = self.converge().await;
            self.views.to_hide.clear();
        }
        if has_passed(&mut self.restore_at) {
            self.reconnect().await;
        }
        if has_passed(&mut self.idle_at) {
            if !self.views.records.server.is_own() {
                self.is_over =
                    self.views.records.remembered().is_empty() && self.views.jobs.queue.is_empty();
            } else if self.connection.is_some() {
                self.views.has_less = true;
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
            self.views.jobs.refuse(&self.views.records, refusal, |job| job.answer.is_some());
        }
        converged
    }

    async fn run_passes(&mut self) -> Result<(), Refusal> {
        let mut opened = None;
        let mut failures = 0;
        for pass in 0.. {
            let queried = self.query().await;
            match (opened.take(), &queried) {
                (Some((job, view)), Ok((_, snapshot))) => self.views.verify(snapshot, job, view),
                (Some((job, _)), Err(_)) => self.views.jobs.put_back(job),
                (None, _) => {}
            }
            let (client, snapshot) = queried?;
            self.backoff = FIRST_BACKOFF;
            self.views.observe(&snapshot);
            if pass == MAX_PASSES {
                self.observe_soon();
                break;
            }
            let Some(ops) = self.views.reconcile(&snapshot) else {
                self.stop_if_empty(&client, &snapshot).await;
                break;
            };
            match (self.apply(&client, &ops).await, ops.opens) {
                (Ok(view), Some(job)) => opened = view.map(|view| (job, view)),
                (Err(error), Some(job)) => self.views.jobs.retry(&self.views.records, job, error),
                (Err(error), None) if failures == MAX_FAILURES => return Err(error.into()),
                (Err(_), None) => failures += 1,
                (Ok(_), None) => {}
            }
        }
        Ok(())
    }

    async fn query(&mut self) -> Result<(ControlClient, TmuxSnapshot), Refusal> {
        let client = self.client().await?;
        let snapshot = client.snapshot().await?;
        Ok((client, snapshot))
    }

    /// Applies commands: in one line, and in a second one if a new tmux pane is to be marked.
    async fn apply(
        &mut self,
        client: &ControlClient,
        ops: &ViewOps,
    ) -> Result<Option<TmuxPane>, Error> {
        let Some(job) = &ops.opens else {
            let commands =
                self.views.commands(ViewCommands::default(), ops.shot.as_ref(), &ops.steps);
            return client.run_views(&commands).await.map(|()| None);
        };
        let ShowRequest { pane, location, size, .. } = &job.request;
        let name = location.session().map(SessionName::new).transpose()?;
        let is_split = |step: &LayoutStep| matches!(step, LayoutStep::Split { .. });
        let at = ops.steps.iter().position(is_split).unwrap_or(0);
        let (before, after) = ops.steps.split_at(at);
        let window = ops.shot.as_ref().filter(|_| ops.in_new_window);
        let title = self.views.records.title(pane);
        let window_name: String = title.chars().take(MAX_WINDOW_NAME).collect();
        let place = match (window.and_then(|it| it.session(location)), after.first(), &name) {
            (Some(session), _, _) => NewView::Window(session, &window_name),
            (_, Some(LayoutStep::Split { target, direction }), _) => {
                NewView::Split(TmuxPane(target.0), side(*direction))
            }
            (_, _, Some(name)) => NewView::Session(name, *size),
            (_, _, None) => return Err(Error::Protocol("no pane to split".to_owned())),
        };
        let before = self.views.commands(ViewCommands::default(), ops.shot.as_ref(), before);
        let made = client.open_view(before, place, &self.views.program(pane)).await?;
        let marks = ViewCommands::default().mark_view(made.pane, pane, &title);
        let marks = match place {
            NewView::Session(name, _) => marks.mark_main(made, name),
            NewView::Window(..) => marks,
            NewView::Split(..) => self.views.commands(marks, ops.shot.as_ref(), after),
        };
        let marks = if self.views.records.server.is_own() { marks } else { marks.watch() };
        if let Err(error) = client.run_views(&marks).await {
            let _ = client.kill_pane(made.pane).await;
            return Err(error);
        }
        if let (None, Some(name), Some(server)) =
            (&ops.shot, location.session(), self.views.observed.server)
        {
            self.views.records.save_session(name, *size, server);
        }
        Ok(Some(made.pane))
    }

    /// Stops our own tmux server if it has nothing to show any more. From a user's server it only
    /// disconnects.
    async fn stop_if_empty(&mut self, client: &ControlClient, snapshot: &TmuxSnapshot) {
        if !self.views.is_left_empty(snapshot) {
            return;
        }
        self.disconnect();
        if self.views.records.server.is_own() {
            let _ = client.kill_server().await;
        }
    }

    /// What would be done for these panes, one after the other.
    async fn plan(
        &mut self,
        location: &ViewLocation,
        requests: &[LayoutRequest],
    ) -> Result<Vec<Decision>, Refusal> {
        let (_, shot) = self.snapshot(location).await?;
        Ok(plan_all(&shot.window, &shot.owners, requests, &self.views.limits()))
    }

    /// The window of a location.
    async fn snapshot(
        &mut self,
        location: &ViewLocation,
    ) -> Result<(ControlClient, WindowSnapshot), Refusal> {
        let (client, snapshot) = self.query().await?;
        let found = WindowSnapshot::find(&self.views.records.kernel, &snapshot, location)?;
        Ok((client, found.ok_or_else(|| location.missing())?))
    }

    /// Moves the panes of a window to the places of a saved layout.
    async fn arrange(
        &mut self,
        location: &ViewLocation,
        saved: &SavedLayout,
    ) -> Result<WindowSnapshot, Refusal> {
        let (client, shot) = self.snapshot(location).await?;
        let role = |id| shot.role(&self.views.records.kernel, id);
        let steps = saved.steps(&shot.window, &shot.owners, &self.views.limits(), role)?;
        client
            .run_views(&self.views.commands(ViewCommands::default(), Some(&shot), &steps))
            .await?;
        self.views.records.kernel.emit("layout:changed", &json!({ "session": location.session() }));
        Ok(self.snapshot(location).await?.1)
    }

    /// All our sessions.
    async fn sessions(&mut self) -> Result<Vec<SessionInfo>, Refusal> {
        // A query would start a server for nothing.
        if self.views.records.sessions.is_empty() {
            return Ok(Vec::new());
        }
        let (client, snapshot) = self.query().await?;
        let config_errors = client.server().map(|server| server.config_errors).unwrap_or_default();
        Ok(self.views.sessions(&snapshot, &config_errors))
    }

    /// Ends a session and returns the panes that it showed. They are marked as hidden; the caller
    /// ends them.
    async fn stop(&mut self, request: &SessionStopRequest) -> Result<Vec<PaneId>, Refusal> {
        if !self.views.records.sessions.contains_key(&request.name) {
            let sessions = self.views.records.sessions.keys();
            let sessions: Vec<&str> = sessions.map(AsRef::as_ref).collect();
            return Err(request.missing_among(&sessions));
        }
        let (client, snapshot) = self.query().await?;
        let (session, panes) = self.views.stop_session(&snapshot, request)?;
        client.kill_session(session).await?;
        let _ = self.converge().await;
        Ok(panes)
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
        if self.views.jobs.take(pane).is_some() {
            self.views.records.set_state(pane, ViewState::Hidden);
            return Ok(());
        }
        self.view(pane).await?;
        self.views.to_hide.insert(pane.clone());
        let hidden = self.converge().await;
        self.views.to_hide.clear();
        hidden
    }

    /// The tmux pane that shows a pane.
    async fn view(&mut self, pane: &PaneId) -> Result<(ControlClient, TmuxPane), Refusal> {
        let (client, snapshot) = self.query().await?;
        let view = snapshot.views.iter().find(|view| view.shows.as_ref() == Some(pane));
        let missing = || Refusal::not_found(format!("pane `{pane}` is not shown in tmux"));
        Ok((client, view.ok_or_else(missing)?.id))
    }

    /// The connection, made when it is first needed.
    async fn client(&mut self) -> Result<ControlClient, Refusal> {
        if let Some(connection) = &self.connection {
            return Ok(connection.client.clone());
        }
        let (client, events) = tmux::connect(self.views.records.server.clone()).await?;
        self.connection = Some(ViewConnection { client: client.clone(), events });
        Ok(client)
    }

    /// Closes the connection; the next request that needs tmux connects again.
    fn disconnect(&mut self) {
        self.connection = None;
        self.views.observed = ObservedViews::default();
    }

    /// A query starts a server of our own, and shows everything again.
    async fn reconnect(&mut self) {
        if let Err(refusal) = self.converge().await {
            tracing::warn!(%refusal, "cannot restore sessions yet");
            self.views.on_server_lost();
            if self.views.records.server.is_own() {
                self.reconnect_later();
            }
        }
    }

    fn reconnect_later(&mut self) {
        self.restore_at = Some(Instant::now() + self.backoff);
        self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
    }

    /// Queries again soon: tmux does not report everything on servers that are not ours.
    fn observe_soon(&mut self) {
        self.observe_at.get_or_insert(Instant::now() + FIRST_BACKOFF);
    }

    /// Sets the deadline after a request or an event: soon if our tmux server has nothing to show.
    /// For a server that is not ours, it is the time to check whether anything of ours is shown
    /// there.
    fn schedule_idle(&mut self) {
        if !self.views.records.server.is_own() {
            self.idle_at.get_or_insert(Instant::now() + IDLE);
            return;
        }
        let is_idle = self.views.records.sessions.is_empty() && self.connection.is_some();
        self.idle_at = is_idle.then(|| Instant::now() + IDLE);
    }

    fn deadline(&mut self) -> Option<Instant> {
        let now = self.views.records.kernel.now();
        // A millisecond more, so that it has passed by then.
        let at = |at: Time| Instant::now() + Duration::from_millis(at.since(now) + 1);
        let expires = self.views.jobs.queue.next_deadline().map(at);
        self.quiet_at = self.views.next_quiet().map(at);
        let deadlines = [expires, self.restore_at, self.observe_at, self.quiet_at, self.idle_at];
        deadlines.into_iter().flatten().min()
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
