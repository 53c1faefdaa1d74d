//! What panes run on. This crate was called `substrate` before; `crates/substrate` is now the
//! library for other programs on top of it.
//!
//! The kernel compiles against [`Backend`]. [`native`] runs each pane in a keeper process on this
//! machine; [`fake`] runs panes in memory, for tests. [`tmux`] is a control-mode client: the server
//! shows panes on tmux with it. [`adopted`] takes over panes that already run on a tmux server.
//! This crate acts and reports events. It makes no decisions and holds no table of panes: the
//! kernel does.
#![forbid(unsafe_code)]

pub mod adopted;
pub mod fake;
pub mod native;
mod output;
pub mod port_listener;
pub mod processes;
mod program;
mod replayed_screen;
mod socket;
mod terminal;
pub mod tmux;
pub mod trusted_path;

use std::fmt;
use std::future::Future;
use std::io;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use paned_model::frame::{ExitRecord, InputGuard, RefusalReason, Survivor};
use paned_model::{Code, PaneId, Refusal, Size, Time};
use tokio::sync::{mpsc, oneshot, watch};

pub use output::{Damage, LineMark, Output, OutputGap, OutputTime, SizeMark, Summary};
pub use program::{describes_terminal, find_folder, find_program};
pub use replayed_screen::{ReplayedScreen, thread_time};
pub use socket::UnixSocket;

/// Variables of the server that hold secrets. No process that the server starts inherits them; a
/// process that needs one is given its own value.
pub const SECRET_VARIABLES: [&str; 3] = ["AGENTMUX_TOKEN", "PANED_HANDOVER", "PANED_TOKEN"];

/// A boxed future that is `Send`.
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What panes run on.
pub trait Backend: Send + Sync + 'static {
    /// Checks program and folder where the pane is to run, and starts it. On failure, nothing of
    /// the pane is left.
    fn spawn(&self, spec: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>>;

    /// Every pane that a previous server left, alive or not.
    fn recover(&self) -> BoxedFuture<'_, Result<Vec<RecoveredPane>, Error>>;

    /// Connects again to a pane whose keeper closed the connection: see [`PaneEvent::Detached`].
    fn reconnect(&self, id: PaneId) -> BoxedFuture<'_, RecoveredState>;

    /// Kills the processes of a pane without its keeper, which is gone or does not answer; a live
    /// keeper is killed after them. Returns the processes that survived.
    fn end(
        &self,
        id: PaneId,
        fingerprint: ProcessFingerprint,
        grace: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>>;

    /// What [`SpawnSpec::launch_record`] was; `None` for a pane that was started without one.
    fn launch_record(&self, id: PaneId) -> BoxedFuture<'_, Result<Option<String>, Error>>;

    /// Gives a pane that has ended, and whose keeper is gone, another name. The name must be free.
    fn rename(&self, from: PaneId, to: PaneId) -> BoxedFuture<'_, Result<(), Error>>;

    /// Removes a pane that has ended, with its output.
    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>>;
}

/// How to recognise the processes of a pane that has no keeper any more.
#[derive(Clone, Debug)]
pub struct ProcessFingerprint {
    /// The start of a variable in their environment that no other pane has.
    pub variable: String,
    /// The pid of the pane's program, which is also its session id; `u32::MAX` for none.
    pub pid: u32,
    /// When the pane was made.
    pub created: Time,
    /// When its keeper was found to be gone, or now.
    pub lost: Time,
}

/// A pane to start. The backend checks program and folder; everything else has been checked.
#[derive(Clone, Debug)]
pub struct SpawnSpec {
    /// Its name.
    pub id: PaneId,
    /// The program: a path from `cwd`, or a name that is looked up on the `PATH` of `env`.
    pub program: String,
    /// Its arguments, its own name first.
    pub argv: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Where to start it, absolute; the `HOME` of `env` when left out.
    pub cwd: Option<String>,
    /// How large its terminal is.
    pub size: Size,
    /// How many bytes of its output to keep.
    pub capacity: u64,
    /// How many of its last lines can be read; all that are kept when left out.
    pub max_lines: Option<NonZeroU64>,
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// How long it may take to exit after it was asked to.
    pub grace: Duration,
    /// Whether a client is about to follow the output at the keeper and must miss none of it.
    pub followed: bool,
    /// Whether a client pipes input into it: its terminal then echoes nothing, and no byte but the
    /// end of input has a meaning.
    pub piped_input: bool,
    /// Its file mode creation mask; the server's when left out.
    pub umask: Option<u32>,
    /// Whose `PATH` is in `env`.
    pub path_owner: PathOwner,
    /// A record of the kernel's, returned with the pane when it is recovered.
    pub record: String,
    /// What the kernel needs to start the pane again. It holds the environment and so may hold
    /// secrets: it is stored in a file of its own that only the user can read.
    pub launch_record: Option<String>,
}

/// Whose `PATH` a program is looked up on, for the error message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathOwner {
    /// The request gives it.
    Caller,
    /// It is the server's own.
    Server,
}

/// A live connection to a pane. Dropping the sender of commands disconnects; the pane lives on.
#[derive(Debug)]
pub struct PaneHandle {
    /// The program's process.
    pub pid: u32,
    /// The keeper's process.
    pub keeper: u32,
    /// When it was started.
    pub started: Time,
    /// The folder that the program was started in; `None` for a pane that was found again.
    pub cwd: Option<String>,
    /// What it has printed.
    pub output: Arc<dyn Output>,
    /// Commands to it.
    pub commands: mpsc::Sender<PaneCommand>,
    /// What happens to it.
    pub events: mpsc::Receiver<PaneEvent>,
    /// How often input was typed into it, also by the server's own callers; `None` where the keeper
    /// is too old to count.
    pub typed: watch::Receiver<Option<u64>>,
    /// Whether an acknowledgement is due, and whether an event is still unread.
    pub output_flag: Arc<OutputFlag>,
    /// The future that moves commands and events. The owner of the handle runs it, best in the task
    /// that reads the events.
    pub driver: Driver,
}

/// State shared between the connection to a keeper and the reader of its events.
#[derive(Debug, Default)]
pub struct OutputFlag {
    ack_due: AtomicBool,
    notified: AtomicBool,
    is_unresponsive: AtomicBool,
    /// The count plus 1; 0 stands for a keeper that does not count.
    guarded: AtomicU64,
}

impl OutputFlag {
    fn new(due: bool, guarded: Option<u64>) -> Self {
        let flag = Self { ack_due: AtomicBool::new(due), ..Self::default() };
        flag.set_guarded(guarded);
        flag
    }

    /// How many guarded writes the keeper has done, for this server and earlier ones; `None` if it
    /// does not count.
    #[must_use]
    pub fn guarded(&self) -> Option<u64> {
        self.guarded.load(Ordering::SeqCst).checked_sub(1)
    }

    fn set_guarded(&self, guarded: Option<u64>) {
        if let Some(guarded) = guarded {
            self.guarded.store(guarded.saturating_add(1), Ordering::SeqCst);
        }
    }

    /// Whether the keeper needs a [`PaneCommand::Ack`] before it sends many more notifications.
    #[must_use]
    pub fn is_ack_due(&self) -> bool {
        self.ack_due.load(Ordering::SeqCst)
    }

    fn set_ack_due(&self, due: bool) {
        self.ack_due.store(due, Ordering::SeqCst);
    }

    /// Marks [`PaneEvent::Printed`] as read. Call this before reading the output: what is printed
    /// afterwards causes a new event.
    pub fn heard(&self) {
        self.notified.store(false, Ordering::SeqCst);
    }

    /// Whether the keeper did not answer a request in time and has sent nothing since. It may be
    /// stopped.
    #[must_use]
    pub fn is_unresponsive(&self) -> bool {
        self.is_unresponsive.load(Ordering::SeqCst)
    }

    fn set_unresponsive(&self, unresponsive: bool) {
        self.is_unresponsive.store(unresponsive, Ordering::SeqCst);
    }

    /// Whether to send [`PaneEvent::Printed`]: while one is unread, a second would say nothing new.
    fn should_notify(&self) -> bool {
        !self.notified.swap(true, Ordering::SeqCst)
    }
}

/// Moves commands to a pane and events from it, for as long as it is polled.
pub struct Driver(BoxedFuture<'static, ()>);

impl Driver {
    fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }
}

impl Default for Driver {
    /// Does nothing.
    fn default() -> Self {
        Self::new(std::future::ready(()))
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Driver")
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// How long a keeper may take to answer what does not wait for the program: input, a size. Then the
/// request fails with [`RefusalReason::TimedOut`] or [`RefusalReason::Cancelled`].
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A command to a pane. A dropped reply means that the pane cannot be reached.
#[derive(Debug)]
pub enum PaneCommand {
    /// Type these parts in order, with no other input in between. The program reads each part by
    /// itself where its keeper can arrange that.
    Input(Vec<Vec<u8>>, oneshot::Sender<Result<InputReport, RefusalReason>>),
    /// Type these bytes if the guard still holds, else [`RefusalReason::Stale`]. They do not count
    /// as typed input.
    GuardedInput(Vec<u8>, InputGuard, oneshot::Sender<Result<InputReport, RefusalReason>>),
    /// Set the terminal's size.
    Resize(SizeRequest, oneshot::Sender<Result<(), ResizeError>>),
    /// This holder releases the size.
    Release(String),
    /// Kill the program and all that it started; returns the survivors.
    Kill(Duration, oneshot::Sender<Vec<Survivor>>),
    /// Everything before this offset was processed. Send it at once after output caused an event or
    /// a reply: a restarted server must not process that output again. Otherwise it may wait until
    /// it is due: see [`OutputFlag::is_ack_due`].
    Ack(u64),
    /// For this long, pause the program now and then if it prints without end, because the user
    /// types into another pane.
    Throttle(Duration),
    /// Stop watching an adopted pane; its program keeps running. A pane with a keeper of its own
    /// does not answer this.
    Detach(oneshot::Sender<()>),
}

/// A size to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeRequest {
    /// The new size.
    pub size: Size,
    /// The client that holds it until it releases it; without one, the size is set and not held.
    pub holder: Option<String>,
    /// Whether to take it from the current holder.
    pub force: bool,
}

/// Why a size was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResizeError {
    /// The keeper's reason.
    pub why: RefusalReason,
    /// The holder of the size, where that is the reason.
    pub holder: Option<String>,
}

impl From<RefusalReason> for ResizeError {
    fn from(why: RefusalReason) -> Self {
        Self { why, holder: None }
    }
}

/// The result of typing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputReport {
    /// Whether a line is longer than the terminal's line discipline accepts; it drops the rest.
    pub long_line: bool,
    /// Whether the keeper checked the guard and wrote in one step. Otherwise the guard was checked
    /// just before the write, and a change in between was not seen.
    pub guard_atomic: bool,
}

/// What happens to a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneEvent {
    /// It printed. Sent again only after [`PaneCommand::Ack`], unless none is due: see
    /// [`OutputFlag::is_ack_due`].
    Printed,
    /// Another client has set its terminal's size.
    Resized(Size),
    /// The holder of its terminal's size, which has changed.
    SizeHolder(Option<String>),
    /// Another client typed these keys at the keeper; `*` stands for each run of text.
    KeysPressed(Vec<u8>),
    /// Its program has exited, and its output is complete. Sent once.
    Exited(ExitRecord),
    /// Its keeper is gone without an exit record. Nothing follows.
    Lost,
    /// Its keeper is alive and has closed the connection. Nothing follows; [`Backend::reconnect`]
    /// connects again.
    Detached,
}

/// A pane that a previous server left.
#[derive(Debug)]
pub struct RecoveredPane {
    /// Its name.
    pub id: PaneId,
    /// The kernel's record of it.
    pub record: String,
    /// Its state.
    pub state: RecoveredState,
}

/// The state of a recovered pane.
#[derive(Debug)]
pub enum RecoveredState {
    /// It is connected.
    Alive(PaneHandle),
    /// Its keeper is alive and has not answered so far.
    Unresponsive(UnresponsivePane),
    /// It has ended; none of its processes runs.
    Ended(Arc<dyn Output>, ExitRecord),
    /// Its keeper is gone. Its output is there, unless that is damaged too.
    Lost(Option<Arc<dyn Output>>),
}

/// A pane whose keeper is alive and has not answered so far: it is stopped, overloaded, or out of
/// connection slots.
#[derive(Debug)]
pub struct UnresponsivePane {
    /// The program's process, where that is known.
    pub pid: Option<u32>,
    /// The keeper's process, where that is known.
    pub keeper: Option<u32>,
    /// What the program has printed, unless that is damaged.
    pub output: Option<Arc<dyn Output>>,
    /// Resolves once the keeper answers or is gone. The owner of this value polls it.
    pub pending: PendingRecovery,
}

/// The state of a pane, once its keeper answers or is gone.
pub struct PendingRecovery(BoxedFuture<'static, RecoveredState>);

impl PendingRecovery {
    fn new(future: impl Future<Output = RecoveredState> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }
}

impl fmt::Debug for PendingRecovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PendingRecovery")
    }
}

impl Future for PendingRecovery {
    type Output = RecoveredState;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<RecoveredState> {
        self.0.as_mut().poll(cx)
    }
}

/// Why the backend refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is a pane of this name.
    #[error("pane `{0}` already exists; choose another id, or delete it with `pane:close`")]
    NameTaken(PaneId),
    /// The program cannot be run as asked.
    #[error("{0}")]
    Refused(String),
    /// There is no such program.
    #[error("{0}")]
    NoProgram(String),
    /// The program is there, and cannot be executed.
    #[error("{0}")]
    NotExecutable(String),
    /// A limit of the machine, and what to change.
    #[error("{0}")]
    Limit(String),
    /// The machine has no resources left, or is broken.
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
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        if let Error::Io { what, source } = &error {
            return Self::system(format!("cannot {what}"), source);
        }
        // A shell has exit codes for these, 127 and 126.
        let program = match error {
            Error::NoProgram(_) => Some("missing"),
            Error::NotExecutable(_) => Some("notExecutable"),
            _ => None,
        };
        if let Some(program) = program {
            let details = serde_json::json!({ "program": program });
            return Self::invalid(error.to_string()).with_details(details);
        }
        let code = match error {
            Error::NameTaken(_) => Code::Conflict,
            Error::Refused(_) | Error::NoProgram(_) | Error::NotExecutable(_) => Code::Invalid,
            Error::Limit(_) => Code::Limit,
            Error::Machine(_) => Code::Unavailable,
            Error::Timeout { .. } => Code::Timeout,
            Error::Io { .. } => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}
