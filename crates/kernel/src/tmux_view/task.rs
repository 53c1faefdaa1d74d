//! The task that owns the connection to one tmux server. It handles one request after the other, so
//! that the result of a query still holds when it is acted on.

use std::collections::BTreeMap;
use std::time::Duration;

use paned_backend::tmux::{self, ControlClient, TmuxEvent, TmuxEvents, TmuxServerAddr};
use paned_model::{PaneId, Refusal, ViewState};
use paned_policy::layout::LayoutQueue;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::observe::ObservedViews;
use super::recover::RememberedView;
use super::session::ViewSessionRecord;
use super::{ShowRequest, ViewRequest};
use crate::Kernel;

/// How soon sessions are restored after their tmux server died, and the longest delay if it dies
/// again and again.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// How long a tmux server of our own is kept without anything to show.
const IDLE: Duration = Duration::from_secs(2);

pub(super) struct TmuxViewTask {
    pub(super) kernel: Kernel,
    pub(super) server: TmuxServerAddr,
    connection: Option<ViewConnection>,
    /// Sessions that were started and not stopped.
    pub(super) sessions: BTreeMap<String, ViewSessionRecord>,
    pub(super) observed: ObservedViews,
    pub(super) queue: LayoutQueue,
    /// The requests in the queue, by pane.
    pub(super) waiting: BTreeMap<PaneId, ShowRequest>,
    /// What was shown here before our server was started, until we have queried tmux.
    pub(super) to_restore: Vec<RememberedView>,
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

impl TmuxViewTask {
    pub(super) fn new(
        kernel: Kernel,
        server: TmuxServerAddr,
        sessions: BTreeMap<String, ViewSessionRecord>,
    ) -> Self {
        let view = kernel.setup().tmux_view.as_ref();
        let queue = view.map(|view| LayoutQueue::new(view.max_waiting, view.wait_timeout));
        let mut task = Self {
            queue: queue.unwrap_or_default(),
            kernel,
            server,
            connection: None,
            sessions,
            observed: ObservedViews::default(),
            waiting: BTreeMap::new(),
            to_restore: Vec::new(),
            restore_at: None,
            observe_at: None,
            idle_at: None,
            is_over: false,
            backoff: FIRST_BACKOFF,
        };
        task.to_restore = task.remembered();
        task
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<ViewRequest>) {
        if !self.sessions.is_empty() || !self.to_restore.is_empty() {
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

    /// Sets the deadline after a request or an event: soon if our tmux server has nothing to show.
    /// For a server that is not ours, it is the time to check whether anything of ours is shown
    /// there.
    fn schedule_idle(&mut self) {
        if !self.server.is_own() {
            self.idle_at.get_or_insert(Instant::now() + IDLE);
            return;
        }
        let is_idle = self.server.is_own() && self.sessions.is_empty() && self.connection.is_some();
        self.idle_at = is_idle.then(|| Instant::now() + IDLE);
    }

    /// The connection, made when it is first needed.
    pub(super) async fn client(&mut self) -> Result<ControlClient, Refusal> {
        if let Some(connection) = &self.connection {
            return Ok(connection.client.clone());
        }
        let (client, events) = tmux::connect(self.server.clone()).await?;
        self.connection = Some(ViewConnection { client: client.clone(), events });
        Ok(client)
    }

    /// Closes the connection; the next request that needs tmux connects again.
    pub(super) fn disconnect(&mut self) {
        self.connection = None;
        self.observed = ObservedViews::default();
    }

    /// The connection, if it is there.
    pub(super) fn client_now(&self) -> Result<ControlClient, Refusal> {
        let connection =
            self.connection.as_ref().ok_or_else(|| Refusal::internal("no connection to tmux"))?;
        Ok(connection.client.clone())
    }

    async fn handle_request(&mut self, request: ViewRequest) {
        match request {
            ViewRequest::Ready(answer) => {
                let ready = self.client().await.map(drop);
                let _ = answer.send(ready);
            }
            ViewRequest::Show(showing, answer) => {
                let placed = self.show(&showing).await;
                if placed.is_err() {
                    self.set_state(&showing.pane, ViewState::Hidden);
                }
                let _ = answer.send(placed);
            }
            ViewRequest::Plan(location, panes, replace_ok, answer) => {
                let _ = answer.send(self.plan(&location, &panes, replace_ok).await);
            }
            ViewRequest::Snapshot(location, answer) => {
                drop(answer.send(self.snapshot(&location).await))
            }
            ViewRequest::Arrange(location, saved, answer) => {
                let _ = answer.send(self.arrange(&location, &saved).await);
            }
            ViewRequest::Sessions(answer) => drop(answer.send(self.sessions().await)),
            ViewRequest::Stop(request, answer) => drop(answer.send(self.stop(&request).await)),
            ViewRequest::Activate(pane, answer) => drop(answer.send(self.activate(&pane).await)),
            ViewRequest::Hide(pane, answer) => drop(answer.send(self.hide(&pane).await)),
            ViewRequest::PaneChanged(pane) => self.pane_changed(&pane).await,
        }
    }

    async fn on_tmux(&mut self, event: TmuxEvent) {
        match event {
            TmuxEvent::Connected(server) => self.on_connected(server.pid).await,
            TmuxEvent::Notice(_) | TmuxEvent::Changed | TmuxEvent::Resync => {
                // One query covers all of them.
                if !self.is_more_coming() {
                    self.observe().await;
                }
            }
            TmuxEvent::ClientLost(reason) => tracing::warn!(%reason, "lost the connection to tmux"),
            TmuxEvent::ServerGone(reason) => {
                tracing::warn!(%reason, "the tmux server is gone; programs keep running");
                self.on_server_lost();
                if self.sessions.is_empty() && self.server.is_own() {
                    // Any query would start it again, for nothing.
                    self.disconnect();
                } else if !self.sessions.is_empty() {
                    self.restore_at = Some(Instant::now() + self.backoff);
                    self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
                }
            }
        }
    }

    fn is_more_coming(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.events.is_empty())
    }

    /// Handles all deadlines that have passed.
    async fn on_deadline(&mut self) {
        for entry in self.queue.expire(self.kernel.now()) {
            let waited = entry.age(self.kernel.now()).as_secs();
            let reason = format!("it waited for {waited} seconds: {}", entry.reason);
            self.expire(&entry.request.pane, &reason);
        }
        if self.observe_at.is_some_and(|at| at <= Instant::now()) {
            self.observe_at = None;
            self.observe().await;
            self.close_ended().await;
        }
        if self.restore_at.is_some_and(|at| at <= Instant::now()) {
            self.restore_at = None;
            self.reconnect().await;
        }
        if self.idle_at.is_some_and(|at| at <= Instant::now()) {
            self.idle_at = None;
            if !self.server.is_own() {
                self.is_over = self.remembered().is_empty() && self.waiting.is_empty();
                return;
            }
            if let Ok(client) = self.client_now() {
                self.stop_if_empty(&client).await;
            }
        }
    }

    /// A query starts a server of our own; the rest follows from its events.
    async fn reconnect(&mut self) {
        let result = match self.client().await {
            Ok(client) => client.sessions().await.map(drop).map_err(Refusal::from),
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = result {
            tracing::warn!(%refusal, "cannot restore sessions yet");
            self.on_server_lost();
            if !self.server.is_own() {
                return;
            }
            self.restore_at = Some(Instant::now() + self.backoff);
            self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
        }
    }

    /// Queries again soon: tmux does not report everything on servers that are not ours.
    pub(super) fn observe_soon(&mut self) {
        self.observe_at.get_or_insert(Instant::now() + FIRST_BACKOFF);
    }

    /// The connection works again.
    pub(super) fn reset_backoff(&mut self) {
        self.backoff = FIRST_BACKOFF;
    }

    fn deadline(&self) -> Option<Instant> {
        let now = self.kernel.now();
        let expires = self.queue.next_deadline().map(|at| {
            // A millisecond more, so that it has passed by then.
            Instant::now() + Duration::from_millis(at.since(now) + 1)
        });
        let deadlines = [expires, self.restore_at, self.observe_at, self.idle_at];
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
