//! Shows panes to users in tmux. tmux is never the source of truth: programs, output and exits
//! belong to the keepers, and what is shown where is queried from tmux each time.
//!
//! | file | idea |
//! |---|---|
//! | `task` | the task that owns the connection to one tmux server, and its loop |
//! | `reconcile` | what is to be done there, decided without waiting |
//! | `jobs` | panes to be shown: new, waiting, answered |
//! | `snapshot` | what tmux reports, and what has changed |
//! | `records` | what is stored and published of views and sessions |
//!
//! The loop queries tmux, plans with [`paned_policy::layout::reconcile`], applies the plan, and
//! queries again, until there is nothing to do.

mod jobs;
mod reconcile;
mod records;
mod snapshot;
mod task;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use paned_backend::tmux::{self, TmuxPane, TmuxServerAddr};
use paned_backend::trusted_path;
use paned_model::{Code, Grant, PaneId, Refusal, Size, Time, ViewState};
use paned_policy::layout::{Decision, LayoutRequest, NoRoom, SavedLayout};
use tokio::sync::mpsc::{self, error::SendError};
use tokio::sync::oneshot;

pub(crate) use self::records::{SESSION, SessionInfo, SessionStopRequest, ViewSessionRecord};
pub(crate) use self::snapshot::WindowSnapshot;
use crate::Kernel;
pub(crate) use crate::panes::view_spec::{OnViewClosed, ViewLocation, ViewSpec};
use crate::panes::{Pane, PaneChange, PaneObserver};
use task::TmuxViewTask;

/// The size of a session's window until a client is attached.
pub(crate) const DEFAULT_SIZE: Size = Size { cols: 200, rows: 50 };
/// The session that requests mean which name none, where no setting names another.
const DEFAULT_SESSION: &str = "main";
/// How many requests to one task may be queued.
const MAX_REQUESTS: usize = 64;
/// With this many tmux servers in use, our own included, another owner's is refused. Each has a
/// task and a tmux client.
const MAX_FOREIGN: usize = 16;

/// Every tmux server that panes are shown on, by its socket.
#[derive(Default)]
pub(crate) struct TmuxViews {
    tasks: Mutex<HashMap<PathBuf, mpsc::Sender<ViewRequest>>>,
    /// The sessions that new panes are shown in, each with the time from which on.
    following: Mutex<BTreeMap<String, Time>>,
}

/// The result of a [`ShowRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShowOutcome {
    /// It is shown in this tmux pane.
    Shown(TmuxPane),
    /// It waits for space in the window.
    Waiting(String),
    /// It is not shown.
    Skipped(String),
}

impl ShowOutcome {
    /// As it is reported with the pane.
    pub(crate) fn state(&self) -> ViewState {
        match self {
            Self::Shown(_) => ViewState::Shown,
            Self::Waiting(_) => ViewState::Waiting,
            Self::Skipped(_) => ViewState::Hidden,
        }
    }
}

/// A pane to be shown.
#[derive(Clone, Debug)]
pub(crate) struct ShowRequest {
    pub(crate) pane: PaneId,
    pub(crate) location: ViewLocation,
    /// The size of a session that is created for it.
    pub(crate) size: Size,
    /// Whether there must be no such session yet.
    pub(crate) must_be_new: bool,
    /// Whether a pane that is done may be closed for it.
    pub(crate) replace_ok: bool,
    /// What is done if there is no room.
    pub(crate) no_room: NoRoom,
    /// The grant of the request: only panes that it reaches may be closed for this one.
    pub(crate) grant: Arc<Grant>,
}

type ViewReply<T> = oneshot::Sender<Result<T, Refusal>>;

/// A request to the task of one tmux server.
pub(crate) enum ViewRequest {
    /// Whether there is a tmux to show anything on.
    Ready(ViewReply<()>),
    /// Shows a pane, or says why not.
    Show(ShowRequest, ViewReply<ShowOutcome>),
    /// What would be done for these panes.
    Plan(ViewLocation, Vec<LayoutRequest>, ViewReply<Vec<Decision>>),
    /// The window and the owners of its panes.
    Snapshot(ViewLocation, ViewReply<WindowSnapshot>),
    /// Moves the window's panes to the places of a layout.
    Arrange(ViewLocation, SavedLayout, ViewReply<WindowSnapshot>),
    /// Every session.
    Sessions(ViewReply<Vec<SessionInfo>>),
    /// Has new panes shown in a session from now on.
    Follow(String, ViewReply<()>),
    /// Ends a session; returns the panes that it showed.
    Stop(SessionStopRequest, ViewReply<Vec<PaneId>>),
    /// Gives a pane the focus.
    Activate(PaneId, ViewReply<()>),
    /// Stops showing a pane; its program keeps running.
    Hide(PaneId, ViewReply<()>),
    /// A pane has ended, was removed or has another title.
    PaneChanged(PaneId),
}

/// Tells the tasks of tmux servers what happens to panes.
pub(crate) struct TmuxViewObserver;

impl PaneObserver for TmuxViewObserver {
    fn observe(&self, kernel: &Kernel, pane: &Pane, change: &PaneChange<'_>) {
        match change {
            PaneChange::View | PaneChange::Exited(_) => kernel.tmux_views().pane_changed(&pane.id),
            PaneChange::Reconnected(_)
            | PaneChange::Disconnected
            | PaneChange::Refound
            | PaneChange::Typed(_)
            | PaneChange::ExitRecovered
            | PaneChange::Removed => {}
        }
    }
}

impl Kernel {
    /// The session that requests mean which name none.
    pub(crate) fn default_session(&self) -> String {
        let view = self.setup().tmux_view.as_ref();
        view.map_or_else(|| DEFAULT_SESSION.to_owned(), |view| view.session.clone())
    }
}

impl TmuxViews {
    /// Sends a request to the task of our own server and waits for the answer.
    pub(crate) async fn ask_own<T>(
        &self,
        kernel: &Kernel,
        request: impl FnOnce(ViewReply<T>) -> ViewRequest,
    ) -> Result<T, Refusal> {
        let server = Self::own_server(kernel)?;
        self.ask(kernel, server, request).await
    }

    /// Sends a request to the task of the server that a location is on.
    pub(crate) async fn ask_at<T>(
        &self,
        kernel: &Kernel,
        location: &ViewLocation,
        request: impl FnOnce(ViewReply<T>) -> ViewRequest,
    ) -> Result<T, Refusal> {
        let own = Self::own_server(kernel)?;
        let server = match location {
            ViewLocation::Session { .. } => own,
            ViewLocation::Beside { socket, .. } => {
                self.admit(socket)?;
                TmuxServerAddr::foreign(socket, None)
            }
        };
        self.ask(kernel, server, request).await
    }

    /// Notifies the tasks of a change of a pane. Never waits: what is missed is found by the next
    /// query of tmux.
    pub(crate) fn pane_changed(&self, pane: &PaneId) {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.values() {
            let _ = task.try_send(ViewRequest::PaneChanged(pane.clone()));
        }
    }

    /// The session that new panes are shown in: the one that was last started to follow.
    pub(crate) fn following(&self) -> Option<String> {
        let following = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        following.iter().max_by_key(|(_, since)| **since).map(|(name, _)| name.clone())
    }

    /// Sets since when new panes are shown in a session; `None` if they are not.
    fn set_following(&self, session: &str, since: Option<Time>) {
        let mut following = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        match since {
            Some(since) => drop(following.insert(session.to_owned(), since)),
            None => drop(following.remove(session)),
        }
    }

    /// Resumes what was shown before the server was started.
    pub(crate) fn resume(
        &self,
        kernel: &Kernel,
        sessions: impl Iterator<Item = ViewSessionRecord>,
    ) {
        let Ok(server) = Self::own_server(kernel) else { return };
        let sessions: BTreeMap<_, _> =
            sessions.map(|session| (session.name.clone(), session)).collect();
        for session in sessions.values() {
            self.set_following(&session.name, session.follows_since);
        }
        if !sessions.is_empty() {
            self.task_with(kernel, server, sessions);
        }
        for pane in kernel.panes().list() {
            let spec = pane.lock().record.view.clone();
            if let Some(ViewSpec { location: ViewLocation::Beside { socket, .. }, .. }) =
                spec.filter(|spec| spec.state != ViewState::Hidden)
            {
                self.task(kernel, TmuxServerAddr::foreign(&socket, None));
            }
        }
    }

    fn own_server(kernel: &Kernel) -> Result<TmuxServerAddr, Refusal> {
        let setup = kernel.setup().tmux_view.as_ref();
        setup.map(|view| view.server.clone()).ok_or_else(|| {
            let sentence = "tmux is disabled: set `tmux.enabled` to true in config.toml and \
                           restart the server";
            Refusal::new(Code::Unavailable, sentence)
        })
    }

    /// Refuses a tmux server for which there may be no task. An untrusted path gets none, so that
    /// it costs nothing.
    fn admit(&self, socket: &Path) -> Result<(), Refusal> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|_, task| !task.is_closed());
        if tasks.contains_key(socket) {
            return Ok(());
        }
        if MAX_FOREIGN <= tasks.len() {
            let sentence = format!(
                "panes are already shown on {MAX_FOREIGN} tmux servers, the maximum; hide some \
                with `layout:hide`"
            );
            return Err(Refusal::new(Code::Limit, sentence));
        }
        drop(tasks);
        let found = trusted_path::TrustedSocket::find(socket);
        found.map(drop).map_err(|error| tmux::Error::NoServer(error.to_string()).into())
    }

    async fn ask<T>(
        &self,
        kernel: &Kernel,
        server: TmuxServerAddr,
        request: impl FnOnce(ViewReply<T>) -> ViewRequest,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        let mut request = request(answer);
        // An idle task may end right now; then a new one is started.
        while let Err(SendError(unsent)) = self.task(kernel, server.clone()).send(request).await {
            request = unsent;
        }
        let gone = || Refusal::internal("the tmux task failed unexpectedly; see the server's log");
        answered.await.map_err(|_| gone())?
    }

    fn task(&self, kernel: &Kernel, server: TmuxServerAddr) -> mpsc::Sender<ViewRequest> {
        self.task_with(kernel, server, BTreeMap::new())
    }

    /// The task for a tmux server. A new one starts with these sessions.
    fn task_with(
        &self,
        kernel: &Kernel,
        server: TmuxServerAddr,
        sessions: BTreeMap<String, ViewSessionRecord>,
    ) -> mpsc::Sender<ViewRequest> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let found = tasks.get(server.socket()).filter(|task| !task.is_closed());
        if let Some(task) = found {
            return task.clone();
        }
        let variables = kernel.setup().address.variables();
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value));
        let server = server.with_variables(variables.collect());
        let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
        tasks.insert(server.socket().to_owned(), requests.clone());
        tokio::spawn(TmuxViewTask::new(kernel.clone(), server, sessions).run(inbox));
        requests
    }
}
