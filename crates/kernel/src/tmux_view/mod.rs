//! The stage: tmux, where panes are shown to people. It is never the record: programs, bytes and exits are the
//! keepers', and what is shown where is asked of tmux each time.
//!
//! | file | idea |
//! |---|---|
//! | `spec` | what is wanted to be shown, remembered with the pane |
//! | `task` | the task that owns the connection to one tmux server |
//! | `observe` | what has changed there, and what follows from it |
//! | `recover` | what was lost and comes back |
//! | `commands` | what is asked of it by name |
//! | `place` | query, decide, execute, verify |
//! | `snapshot` | a window and whose its panes are |
//! | `session` | what is remembered of a session |

mod commands;
mod observe;
mod place;
mod recover;
mod session;
mod snapshot;
mod spec;
mod task;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use paned_backend::tmux::{self, TmuxPane, TmuxServerAddr};
use paned_backend::trusted_path;
use paned_model::{Code, Grant, PaneId, PaneRef, Refusal, Size, ViewState};
use paned_policy::layout::{Decision, SavedLayout};
use tokio::sync::mpsc::{self, error::SendError};
use tokio::sync::oneshot;

pub(crate) use self::session::{KIND as SESSION, SessionInfo, ViewSessionRecord};
pub(crate) use self::snapshot::WindowSnapshot;
pub(crate) use self::spec::{OnViewClosed, ViewLocation, ViewSpec};
use crate::Kernel;
use task::TmuxViewTask;

/// The size of a session's window until somebody is attached.
pub(crate) const DEFAULT_SIZE: Size = Size { cols: 200, rows: 50 };
/// How much may be asked before some of it is done.
const MAX_REQUESTS: usize = 64;
/// How many tmux servers of other owners panes may be shown on at once. Each has a task and a tmux client.
const MAX_FOREIGN: usize = 16;

/// Every tmux server that panes are shown on, by its socket.
#[derive(Default)]
pub(crate) struct TmuxViews {
    tasks: Mutex<HashMap<PathBuf, mpsc::Sender<ViewRequest>>>,
}

/// What became of a wish to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShowOutcome {
    /// It is shown in this tmux pane.
    Shown(TmuxPane),
    /// It waits for room.
    Waiting(String),
    /// It is not shown.
    Skipped(String),
}

impl ShowOutcome {
    /// As it is told with the pane.
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
    /// The size of a session that is made for it.
    pub(crate) size: Size,
    /// Whether there must be no such session yet.
    pub(crate) must_be_new: bool,
    /// Whether a pane that is done may go for it.
    pub(crate) replace_ok: bool,
    /// Whether it may wait for room.
    pub(crate) wait_ok: bool,
    /// The grant it is shown by: only panes that this reaches make room.
    pub(crate) grant: Arc<Grant>,
}

/// A session to be stopped.
#[derive(Clone, Debug)]
pub(crate) struct SessionStopRequest {
    /// Its name.
    pub(crate) name: String,
    /// The grant it is stopped by, which must reach everything in it.
    pub(crate) grant: Arc<Grant>,
    /// The pane that must not be ended by it.
    pub(crate) spared: Option<PaneRef>,
}

type ViewReply<T> = oneshot::Sender<Result<T, Refusal>>;

/// What the task of one server can be asked.
pub(crate) enum ViewRequest {
    /// Whether there is a tmux to show anything on.
    Ready(ViewReply<()>),
    /// Shows a pane, or says why not.
    Show(ShowRequest, ViewReply<ShowOutcome>),
    /// What would be done for these panes.
    Plan(ViewLocation, Vec<PaneId>, bool, ViewReply<Vec<Decision>>),
    /// The window and whose its panes are.
    Snapshot(ViewLocation, ViewReply<WindowSnapshot>),
    /// Brings the window's panes into places.
    Arrange(ViewLocation, SavedLayout, ViewReply<WindowSnapshot>),
    /// Every session.
    Sessions(ViewReply<Vec<SessionInfo>>),
    /// Ends a session; answers whom it showed.
    Stop(SessionStopRequest, ViewReply<Vec<PaneId>>),
    /// Gives a pane the focus.
    Activate(PaneId, ViewReply<()>),
    /// Shows a pane no more; its program goes on.
    Hide(PaneId, ViewReply<()>),
    /// A pane has ended, is gone or has another title.
    PaneChanged(PaneId),
}

impl TmuxViews {
    /// Asks the task of our own server and waits for the answer.
    pub(crate) async fn ask_own<T>(
        &self,
        kernel: &Kernel,
        ask: impl FnOnce(ViewReply<T>) -> ViewRequest,
    ) -> Result<T, Refusal> {
        let place = Self::own_server(kernel)?;
        self.ask(kernel, place, ask).await
    }

    /// Asks the task of the server that a spot is on.
    pub(crate) async fn ask_at<T>(
        &self,
        kernel: &Kernel,
        spot: &ViewLocation,
        ask: impl FnOnce(ViewReply<T>) -> ViewRequest,
    ) -> Result<T, Refusal> {
        let place = match spot {
            ViewLocation::Session { .. } => Self::own_server(kernel)?,
            ViewLocation::Beside { socket, .. } => {
                self.admit(socket)?;
                TmuxServerAddr::foreign(socket, None)
            }
        };
        self.ask(kernel, place, ask).await
    }

    /// Tells the tasks that there is news of a pane. Never waits: what is missed is found by looking.
    pub(crate) fn pane_changed(&self, pane: &PaneId) {
        let open = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for stage in open.values() {
            let _ = stage.try_send(ViewRequest::PaneChanged(pane.clone()));
        }
    }

    /// Goes on with what was shown before the server was started.
    pub(crate) fn resume(&self, kernel: &Kernel, kept: impl Iterator<Item = ViewSessionRecord>) {
        let kept: BTreeMap<_, _> = kept.map(|kept| (kept.name.clone(), kept)).collect();
        if let (false, Ok(place)) = (kept.is_empty(), Self::own_server(kernel)) {
            self.task_with(kernel, place, kept);
        }
        for pane in kernel.panes().list() {
            let wish = pane.lock().record.view.clone();
            if let Some(ViewSpec { location: ViewLocation::Beside { socket, .. }, .. }) =
                wish.filter(|wish| wish.state != ViewState::Hidden)
            {
                self.task(kernel, TmuxServerAddr::foreign(&socket, None));
            }
        }
    }

    fn own_server(kernel: &Kernel) -> Result<TmuxServerAddr, Refusal> {
        let setup = kernel.setup().tmux_view.as_ref();
        setup.map(|stage| stage.server.clone()).ok_or_else(|| {
            Refusal::new(Code::Unavailable, "this server was set up without a stage in tmux")
        })
    }

    /// Whether there may be a task for this tmux server. A path that is not trusted gets none, so that it costs nothing.
    fn admit(&self, socket: &Path) -> Result<(), Refusal> {
        let mut open = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, stage| !stage.is_closed());
        if open.contains_key(socket) {
            return Ok(());
        }
        if MAX_FOREIGN <= open.len() {
            let sentence = format!(
                "panes are shown on {MAX_FOREIGN} tmux servers already; \
                 one that shows none is let go after a few seconds"
            );
            return Err(Refusal::new(Code::Limit, sentence));
        }
        drop(open);
        let found = trusted_path::TrustedSocket::find(socket);
        found.map(drop).map_err(|error| tmux::Error::NoServer(error.to_string()).into())
    }

    async fn ask<T>(
        &self,
        kernel: &Kernel,
        place: TmuxServerAddr,
        ask: impl FnOnce(ViewReply<T>) -> ViewRequest,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        let mut ask = ask(answer);
        // A task that had nothing to do may end just now; then another takes over.
        while let Err(SendError(unsent)) = self.task(kernel, place.clone()).send(ask).await {
            ask = unsent;
        }
        let gone = || Refusal::internal("the stage broke off; the server's log says more");
        answered.await.map_err(|_| gone())?
    }

    fn task(&self, kernel: &Kernel, place: TmuxServerAddr) -> mpsc::Sender<ViewRequest> {
        self.task_with(kernel, place, BTreeMap::new())
    }

    /// The task for a tmux server, which goes on with these sessions if it is new.
    fn task_with(
        &self,
        kernel: &Kernel,
        place: TmuxServerAddr,
        kept: BTreeMap<String, ViewSessionRecord>,
    ) -> mpsc::Sender<ViewRequest> {
        let mut open = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.get(place.socket()).filter(|stage| !stage.is_closed());
        if let Some(stage) = found {
            return stage.clone();
        }
        let (asks, inbox) = mpsc::channel(MAX_REQUESTS);
        open.insert(place.socket().to_owned(), asks.clone());
        tokio::spawn(TmuxViewTask::new(kernel.clone(), place, kept).run(inbox));
        asks
    }
}
