//! The outside: what panes live on.
//!
//! [`Backend`] is what the kernel compiles against; [`native`] keeps panes in keepers on this machine, [`fake`] in
//! memory for tests. [`tmux`] is a stage to show panes on, and [`adopted`] the way to panes that others
//! have there. [`Substrate`] is the larger contract for programs that use this
//! crate as a library: [`sessions`] on keepers, on tmux or in memory. This room acts and reports facts; it judges
//! nothing and holds no table: the kernel does.
#![forbid(unsafe_code)]

pub mod adopted;
pub mod fake;
pub mod native;
mod output;
pub mod processes;
mod replayed_screen;
mod socket;
mod terminal;
pub mod tmux;
pub mod trusted_path;

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use paned_model::frame::{ExitRecord, InputGuard, RefusalReason, Survivor};
use paned_model::{Code, PaneId, Refusal, Size, Time};
use tokio::sync::{mpsc, oneshot, watch};

pub use output::{Damage, LineMark, Output, OutputGap, OutputTime, SizeMark, Summary};
pub use replayed_screen::{ReplayedScreen, thread_time};
pub use socket::UnixSocket;

/// Variables of the server that hold secrets. No process that it starts gets them, unless it is told one of its own.
pub const SECRET_VARIABLES: [&str; 3] = ["AGENTMUX_TOKEN", "PANED_HANDOVER", "PANED_TOKEN"];

/// A future that can be sent anywhere.
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What keeper panes live on.
pub trait Backend: Send + Sync + 'static {
    /// Starts a program. When it cannot, nothing of the pane is left.
    fn spawn(&self, order: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>>;

    /// Everything that was there before us, living or not.
    fn recover(&self) -> BoxedFuture<'_, Result<Vec<RecoveredPane>, Error>>;

    /// Reaches a pane again whose keeper has let us go: see [`PaneEvent::Detached`].
    fn reconnect(&self, id: PaneId) -> BoxedFuture<'_, RecoveredState>;

    /// Ends what runs of a pane without asking its keeper, which is gone or does not answer; a keeper that lives is ended
    /// after it. Answers what outlived that.
    fn end(
        &self,
        id: PaneId,
        traces: ProcessFingerprint,
        grace: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>>;

    /// Forgets a pane that has ended, with its output.
    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>>;
}

/// How the processes of a pane are recognised that has no keeper any more.
#[derive(Clone, Debug)]
pub struct ProcessFingerprint {
    /// How a variable of their environment begins, and of no other pane's.
    pub variable: String,
    /// The number of the pane's program, and of its session; none is `u32::MAX`.
    pub pid: u32,
    /// When the pane was made.
    pub created: Time,
    /// When its keeper was found to be gone, or now.
    pub lost: Time,
}

/// A pane to start. Everything in it has been checked.
#[derive(Clone, Debug)]
pub struct SpawnSpec {
    /// Its name.
    pub id: PaneId,
    /// The program's file.
    pub program: String,
    /// Its arguments, its own name first.
    pub argv: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Where to start it.
    pub cwd: String,
    /// How large its terminal is.
    pub size: Size,
    /// How many bytes of its output to keep.
    pub capacity: u64,
    /// End it after so long.
    pub timeout: Option<Duration>,
    /// How long it may take to end when asked.
    pub grace: Duration,
    /// Whether somebody is about to follow it at its keeper, and is to miss nothing.
    pub followed: bool,
    /// What the kernel wants to know again when it finds the pane later.
    pub record: String,
}

/// A living connection to a pane. Dropping the sender of commands lets the pane go, alive.
#[derive(Debug)]
pub struct PaneHandle {
    /// The program's process.
    pub pid: u32,
    /// The keeper's process.
    pub keeper: u32,
    /// When it was started.
    pub started: Time,
    /// What it has printed.
    pub output: Arc<dyn Output>,
    /// How to tell it something.
    pub commands: mpsc::Sender<PaneCommand>,
    /// What happens to it.
    pub events: mpsc::Receiver<PaneEvent>,
    /// How often somebody has typed into it, the server's own callers included; nobody counts where a keeper is
    /// too old to.
    pub typed: watch::Receiver<Option<u64>>,
    /// What the keeper waits for, and what waits to be heard.
    pub output_flag: Arc<OutputFlag>,
    /// What carries all of this. Whoever has the link runs it, best in one task with what hears the facts.
    pub driver: Driver,
}

/// What is between a keeper that prints and whoever hears of it.
#[derive(Debug, Default)]
pub struct OutputFlag {
    ack_due: AtomicBool,
    notified: AtomicBool,
    is_unresponsive: AtomicBool,
    /// Counted from 1, so that 0 is for a keeper that does not count.
    guarded: AtomicU64,
}

impl OutputFlag {
    fn new(due: bool, guarded: Option<u64>) -> Self {
        let news = Self { ack_due: AtomicBool::new(due), ..Self::default() };
        news.set_guarded(guarded);
        news
    }

    /// How many writes behind a guard the keeper has done, for us and for servers before us; nothing if it does not count.
    #[must_use]
    pub fn guarded(&self) -> Option<u64> {
        self.guarded.load(Ordering::SeqCst).checked_sub(1)
    }

    fn set_guarded(&self, guarded: Option<u64>) {
        if let Some(guarded) = guarded {
            self.guarded.store(guarded.saturating_add(1), Ordering::SeqCst);
        }
    }

    /// Whether the keeper wants a [`PaneCommand::Ack`] before it tells much more.
    #[must_use]
    pub fn is_ack_due(&self) -> bool {
        self.ack_due.load(Ordering::SeqCst)
    }

    fn set_ack_due(&self, due: bool) {
        self.ack_due.store(due, Ordering::SeqCst);
    }

    /// [`PaneEvent::Printed`] was heard; to be called before one looks. What comes later is told anew.
    pub fn heard(&self) {
        self.notified.store(false, Ordering::SeqCst);
    }

    /// Whether the keeper has left a request without an answer for too long, and has said nothing since. It may be stopped.
    #[must_use]
    pub fn is_unresponsive(&self) -> bool {
        self.is_unresponsive.load(Ordering::SeqCst)
    }

    fn set_unresponsive(&self, unresponsive: bool) {
        self.is_unresponsive.store(unresponsive, Ordering::SeqCst);
    }

    /// Whether this has to be told: one [`PaneEvent::Printed`] that nobody has heard is as good as many.
    fn should_notify(&self) -> bool {
        !self.notified.swap(true, Ordering::SeqCst)
    }
}

/// What carries commands to a pane and facts from it, as long as it is run.
pub struct Driver(BoxedFuture<'static, ()>);

impl Driver {
    fn new(carrying: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(carrying))
    }
}

impl Default for Driver {
    /// Carries nothing.
    fn default() -> Self {
        Self::new(std::future::ready(()))
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carrier")
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// How long a keeper may take to answer what does not wait for the program: typing, a size. Then it is
/// [`RefusalReason::Late`] or [`RefusalReason::TakenBack`].
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// What a pane can be told. Each is answered; a dropped answer means that the pane is out of reach.
#[derive(Debug)]
pub enum PaneCommand {
    /// Type these, one after the other, with nobody's typing in between. The program reads each by itself where its
    /// keeper can see to that.
    Input(Vec<Vec<u8>>, oneshot::Sender<Result<InputReport, RefusalReason>>),
    /// Type these bytes if this still holds, else [`RefusalReason::Moved`]. They are nobody's typing.
    GuardedInput(Vec<u8>, InputGuard, oneshot::Sender<Result<InputReport, RefusalReason>>),
    /// Set the terminal's size.
    Resize(SizeRequest, oneshot::Sender<Result<(), ResizeError>>),
    /// This holder of the size lets it go.
    Release(String),
    /// End the program and all that it started; answers who is left.
    Kill(Duration, oneshot::Sender<Vec<Survivor>>),
    /// Everything before this offset has been looked at. What was told or answered to anybody must not be looked at
    /// again after a restart; otherwise this may wait until it is due: see [`PaneHandle::news`].
    Ack(u64),
    /// For so long, its program gets breaks if it prints without end: somebody types into another pane.
    Throttle(Duration),
    /// Watch somebody else's pane no more; its program is left alone. Not answered by a pane of our own.
    Detach(oneshot::Sender<()>),
}

/// A size to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeRequest {
    /// The new size.
    pub size: Size,
    /// Who is to hold it until they release it; unnamed, it is set and not held.
    pub holder: Option<String>,
    /// Whether to take it from whoever holds it.
    pub force: bool,
}

/// Why a size was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResizeError {
    /// What the keeper said.
    pub why: RefusalReason,
    /// Who holds the size, where that is why.
    pub holder: Option<String>,
}

impl From<RefusalReason> for ResizeError {
    fn from(why: RefusalReason) -> Self {
        Self { why, holder: None }
    }
}

/// How typing went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputReport {
    /// Whether a line is longer than the terminal's line editor takes; it drops the rest.
    pub long_line: bool,
    /// Whether the keeper itself was the referee of the guard. Otherwise it was looked at just before, and what
    /// happened in that moment was not seen.
    pub guard_atomic: bool,
}

/// What happens to a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneEvent {
    /// It printed. Told again only after [`PaneCommand::Ack`], unless that is not due: see [`PaneHandle::news`].
    Printed,
    /// Somebody else has set its terminal's size.
    Resized(Size),
    /// Who holds its terminal's size now.
    SizeHolder(Option<String>),
    /// Somebody typed these keys past us; a star stands for each run of text.
    KeysPressed(Vec<u8>),
    /// It ended, and its output is whole. Told once.
    Exited(ExitRecord),
    /// Its keeper is gone without saying how it ended. Nothing follows.
    Lost,
    /// Its keeper lives, and has let us go. Nothing follows; it is there to be reached again.
    Detached,
}

/// A pane that was there before us.
#[derive(Debug)]
pub struct RecoveredPane {
    /// Its name.
    pub id: PaneId,
    /// What the kernel said of it.
    pub record: String,
    /// What has become of it.
    pub state: RecoveredState,
}

/// What has become of a pane that was found.
#[derive(Debug)]
pub enum RecoveredState {
    /// It can be reached.
    Alive(PaneHandle),
    /// Its keeper lives, and has not answered so far.
    Unresponsive(UnresponsivePane),
    /// It ended, and nothing of it runs.
    Ended(Arc<dyn Output>, ExitRecord),
    /// Its keeper is gone; what it printed is there, unless that is damaged too.
    Lost(Option<Arc<dyn Output>>),
}

/// A pane whose keeper lives and has not answered so far: it is stopped, has too much to do, or has no room for us.
#[derive(Debug)]
pub struct UnresponsivePane {
    /// The program's process, where that is known.
    pub pid: Option<u32>,
    /// The keeper's process, where that is known.
    pub keeper: Option<u32>,
    /// What the program has printed, unless that is damaged.
    pub output: Option<Arc<dyn Output>>,
    /// What becomes of it. Whoever has it runs it.
    pub pending: PendingRecovery,
}

/// What becomes of a pane, once its keeper answers or is gone.
pub struct PendingRecovery(BoxedFuture<'static, RecoveredState>);

impl PendingRecovery {
    fn new(later: impl Future<Output = RecoveredState> + Send + 'static) -> Self {
        Self(Box::pin(later))
    }
}

impl fmt::Debug for PendingRecovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Later")
    }
}

impl Future for PendingRecovery {
    type Output = RecoveredState;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<RecoveredState> {
        self.0.as_mut().poll(cx)
    }
}

/// Why the outside did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is a pane of this name.
    #[error("there is a pane `{0}` already")]
    NameTaken(PaneId),
    /// The program cannot be run as asked.
    #[error("{0}")]
    Refused(String),
    /// A limit of the machine, and what to change.
    #[error("{0}")]
    Limit(String),
    /// The machine has no more to give, or is broken.
    #[error("{0}")]
    Machine(String),
    /// It did not happen in time.
    #[error("{what} took longer than {} s", limit.as_secs())]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The system said no.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        if let Error::Io { what, source } = &error {
            return Self::system(format!("cannot {what}"), source);
        }
        let code = match error {
            Error::NameTaken(_) => Code::Conflict,
            Error::Refused(_) => Code::Invalid,
            Error::Limit(_) => Code::Limit,
            Error::Machine(_) => Code::Unavailable,
            Error::Timeout { .. } => Code::Timeout,
            Error::Io { .. } => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}
