//! The stage: tmux, where panes are shown to people. It is never the record: programs, bytes and exits are the
//! keepers', and what is shown where is asked of tmux each time.
//!
//! | file | idea |
//! |---|---|
//! | `wish` | what is wanted to be shown, remembered with the pane |
//! | `task` | the task that owns the connection to one tmux server |
//! | `look` | what has changed there, and what follows from it |
//! | `back` | what was lost and comes back |
//! | `requests` | what is asked of it by name |
//! | `place` | query, decide, execute, verify |
//! | `scene` | a window and whose its panes are |
//! | `session` | what is remembered of a session |

mod back;
mod look;
mod place;
mod requests;
mod scene;
mod session;
mod task;
mod wish;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use paned_model::{Code, Grant, PaneId, PaneRef, Refusal, Size, ViewState};
use paned_policy::layout::{Decision, Saved};
use paned_substrate::tmux::{self, Place, TmuxPane};
use paned_substrate::trusted_path;
use tokio::sync::mpsc::{self, error::SendError};
use tokio::sync::oneshot;

pub(crate) use self::scene::Shot;
pub(crate) use self::session::{KIND as SESSION, Kept, SessionInfo};
pub(crate) use self::wish::{OnViewClosed, Spot, Wish};
use crate::Kernel;
use task::Task;

/// The size of a session's window until somebody is attached.
pub(crate) const USUAL: Size = Size { cols: 200, rows: 50 };
/// How much may be asked before some of it is done.
const ASKS: usize = 64;
/// How many tmux servers of other owners panes may be shown on at once. Each has a task and a tmux client.
const MAX_FOREIGN: usize = 16;

/// Every tmux server that panes are shown on, by its socket.
#[derive(Default)]
pub(crate) struct Stages {
    open: Mutex<HashMap<PathBuf, mpsc::Sender<Ask>>>,
}

/// What became of a wish to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It is shown in this tmux pane.
    Shown(TmuxPane),
    /// It waits for room.
    Waits(String),
    /// It is not shown.
    Skipped(String),
}

impl Placed {
    /// As it is told with the pane.
    pub(crate) fn state(&self) -> ViewState {
        match self {
            Self::Shown(_) => ViewState::Shown,
            Self::Waits(_) => ViewState::Waiting,
            Self::Skipped(_) => ViewState::Hidden,
        }
    }
}

/// A pane to be shown.
#[derive(Clone, Debug)]
pub(crate) struct Showing {
    pub(crate) pane: PaneId,
    pub(crate) spot: Spot,
    /// The size of a session that is made for it.
    pub(crate) size: Size,
    /// Whether there must be no such session yet.
    pub(crate) is_first: bool,
    /// Whether a pane that is done may go for it.
    pub(crate) replace_ok: bool,
    /// Whether it may wait for room.
    pub(crate) wait_ok: bool,
    /// The grant it is shown by: only panes that this reaches make room.
    pub(crate) grant: Arc<Grant>,
}

/// A session to be stopped.
#[derive(Clone, Debug)]
pub(crate) struct StopRequest {
    /// Its name.
    pub(crate) name: String,
    /// The grant it is stopped by, which must reach everything in it.
    pub(crate) grant: Arc<Grant>,
    /// The pane that must not be ended by it.
    pub(crate) spared: Option<PaneRef>,
}

type Answer<T> = oneshot::Sender<Result<T, Refusal>>;

/// What the task of one server can be asked.
pub(crate) enum Ask {
    /// Whether there is a tmux to show anything on.
    Ready(Answer<()>),
    /// Shows a pane, or says why not.
    Show(Showing, Answer<Placed>),
    /// What would be done for these panes.
    Plan(Spot, Vec<PaneId>, bool, Answer<Vec<Decision>>),
    /// The window and whose its panes are.
    Shoot(Spot, Answer<Shot>),
    /// Brings the window's panes into places.
    Arrange(Spot, Saved, Answer<Shot>),
    /// Every session.
    Sessions(Answer<Vec<SessionInfo>>),
    /// Ends a session; answers whom it showed.
    Stop(StopRequest, Answer<Vec<PaneId>>),
    /// Gives a pane the focus.
    Activate(PaneId, Answer<()>),
    /// Shows a pane no more; its program goes on.
    Hide(PaneId, Answer<()>),
    /// A pane has ended, is gone or has another title.
    Stirred(PaneId),
}

impl Stages {
    /// Asks the task of our own server and waits for the answer.
    pub(crate) async fn own<T>(
        &self,
        kernel: &Kernel,
        ask: impl FnOnce(Answer<T>) -> Ask,
    ) -> Result<T, Refusal> {
        let place = Self::own_place(kernel)?;
        self.ask(kernel, place, ask).await
    }

    /// Asks the task of the server that a spot is on.
    pub(crate) async fn at<T>(
        &self,
        kernel: &Kernel,
        spot: &Spot,
        ask: impl FnOnce(Answer<T>) -> Ask,
    ) -> Result<T, Refusal> {
        let place = match spot {
            Spot::Session { .. } => Self::own_place(kernel)?,
            Spot::Beside { socket, .. } => {
                self.admit(socket)?;
                Place::foreign(socket, None)
            }
        };
        self.ask(kernel, place, ask).await
    }

    /// Tells the tasks that there is news of a pane. Never waits: what is missed is found by looking.
    pub(crate) fn stirred(&self, pane: &PaneId) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for stage in open.values() {
            let _ = stage.try_send(Ask::Stirred(pane.clone()));
        }
    }

    /// Goes on with what was shown before the server was started.
    pub(crate) fn resume(&self, kernel: &Kernel, kept: impl Iterator<Item = Kept>) {
        let kept: BTreeMap<_, _> = kept.map(|kept| (kept.name.clone(), kept)).collect();
        if let (false, Ok(place)) = (kept.is_empty(), Self::own_place(kernel)) {
            self.open_with(kernel, place, kept);
        }
        for pane in kernel.panes().list() {
            let wish = pane.lock().record.wish.clone();
            if let Some(Wish { spot: Spot::Beside { socket, .. }, .. }) =
                wish.filter(|wish| wish.state != ViewState::Hidden)
            {
                self.open(kernel, Place::foreign(&socket, None));
            }
        }
    }

    fn own_place(kernel: &Kernel) -> Result<Place, Refusal> {
        let setup = kernel.setup().stage.as_ref();
        setup.map(|stage| stage.place.clone()).ok_or_else(|| {
            Refusal::new(Code::Unavailable, "this server was set up without a stage in tmux")
        })
    }

    /// Whether there may be a task for this tmux server. A path that is not trusted gets none, so that it costs nothing.
    fn admit(&self, socket: &Path) -> Result<(), Refusal> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
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
        let found = trusted_path::Socket::find(socket);
        found.map(drop).map_err(|error| tmux::Error::NoServer(error.to_string()).into())
    }

    async fn ask<T>(
        &self,
        kernel: &Kernel,
        place: Place,
        ask: impl FnOnce(Answer<T>) -> Ask,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        let mut ask = ask(answer);
        // A task that had nothing to do may end just now; then another takes over.
        while let Err(SendError(unsent)) = self.open(kernel, place.clone()).send(ask).await {
            ask = unsent;
        }
        let gone = || Refusal::internal("the stage broke off; the server's log says more");
        answered.await.map_err(|_| gone())?
    }

    fn open(&self, kernel: &Kernel, place: Place) -> mpsc::Sender<Ask> {
        self.open_with(kernel, place, BTreeMap::new())
    }

    /// The task for a tmux server, which goes on with these sessions if it is new.
    fn open_with(
        &self,
        kernel: &Kernel,
        place: Place,
        kept: BTreeMap<String, Kept>,
    ) -> mpsc::Sender<Ask> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.get(place.socket()).filter(|stage| !stage.is_closed());
        if let Some(stage) = found {
            return stage.clone();
        }
        let (asks, inbox) = mpsc::channel(ASKS);
        open.insert(place.socket().to_owned(), asks.clone());
        tokio::spawn(Task::new(kernel.clone(), place, kept).run(inbox));
        asks
    }
}
