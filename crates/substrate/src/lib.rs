//! Sessions of panes that any program can drive: spawn, type, capture, split, destroy. This is the
//! library for other programs, on top of `crates/backend`.
//!
//! [`Substrate`] is one contract with three implementations: [`NativeSubstrate`] runs each pane in
//! a keeper, [`TmuxSubstrate`] drives a tmux server, [`FakeSubstrate`] simulates programs in
//! memory. One conformance suite (`tests/conformance`) holds for all of them, and
//! `examples/agents.rs` shows how to use them. Nothing here knows the kernel. No table of sessions
//! is kept: each call queries the keepers or the tmux server, so a session outlives the process
//! that made it.
//!
//! The rules, the same everywhere:
//!
//! - A name is matched as a whole, never by its prefix. `.` in it is a `.`.
//! - A session lives as long as a program in it. When a pane's program exits the pane is gone, and
//!   its neighbour gets its space.
//! - A session as a [`Target`] means its active pane: of the live panes, the one that was split off
//!   last.
//! - Sizes are what the programs see. A split halves a pane and leaves one cell between the halves.
//! - Every call has a time-out of its own. Dropping a call's future stops waiting for it.
//!
//! ```no_run
//! use paned_backend::tmux::TmuxServerAddr;
//! use paned_model::Size;
//! use paned_substrate::{Error, Name, Program, Substrate, Target, TmuxSubstrate};
//!
//! async fn demo(folder: &std::path::Path) -> Result<(), Error> {
//!     paned_substrate::check_tmux().await?;
//!     let tmux = TmuxSubstrate::new(TmuxServerAddr::own(folder));
//!     let name = Name::new("agent.1")?;
//!     tmux.spawn(&name, &Program::new(["sh"]), Size { cols: 200, rows: 50 }).await?;
//!     tmux.send(&Target::from(&name), "echo hello").await?;
//!     let last = tmux.capture(&Target::from(&name), 10).await?;
//!     println!("{last:?} of {} sessions", tmux.list().await?.len());
//!     tmux.destroy(&name).await
//! }
//! ```
#![forbid(unsafe_code)]

mod error;
mod fake;
mod layout;
mod name;
mod native;
mod program;
mod rules;
mod text;
mod tmux;

use std::fmt;

use paned_model::Size;
use serde::{Deserialize, Serialize};

pub use error::Error;
pub use fake::{Cat, FakeSubstrate, Script, ScriptStep};
pub use name::Name;
pub use native::NativeSubstrate;
use paned_backend::BoxedFuture;
pub use paned_backend::tmux::capture::CaptureStyle;
pub use program::Program;
pub use rules::{LONGEST_TEXT, MOST_LINES};
pub use tmux::{TmuxSubstrate, check_tmux, tmux_version};

/// What sessions of panes run on.
pub trait Substrate: Send + Sync + 'static {
    /// Starts a session with one pane of this size that runs this program.
    ///
    /// # Errors
    /// [`Error::SessionExists`] when the name is taken, [`Error::InvalidCommand`] when there is no
    /// such program or size.
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> BoxedFuture<'a, Result<SubstrateSession, Error>>;

    /// Kills a session and every program in it.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`] when there is none.
    fn destroy<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<(), Error>>;

    /// Types a text in one write, and Enter in another, so that no program takes the two for a
    /// paste.
    ///
    /// The text is sent unchanged: a line end in it is a line feed, as ctrl+j types it, and only
    /// the end is Enter. It has at most [`LONGEST_TEXT`] bytes and may be empty. A terminal in
    /// canonical mode (`cat`, `read`) accepts 4095 bytes of a line and drops the rest; programs
    /// that read keys get all. Callers that send to one pane at the same time must coordinate, or
    /// their texts are joined before the first Enter.
    ///
    /// # Errors
    /// [`Error::InvalidCommand`] when it is too long or holds a control character other than tab
    /// and line ends: those are keys, for [`Substrate::key`].
    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> BoxedFuture<'a, Result<(), Error>>;

    /// Presses one key: `Up Down Left Right Enter Escape Tab BTab Space PPage NPage Home End BSpace
    /// DC IC F1`–`F12`, one printable character, or `C-` or `M-` and one; `ctrl+c` and the like
    /// work too. It is encoded in the modes that the program has set.
    ///
    /// # Errors
    /// [`Error::InvalidCommand`] when there is no such key.
    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> BoxedFuture<'a, Result<(), Error>>;

    /// The last lines that were printed, oldest first, without trailing blanks.
    ///
    /// Blank lines below the last text do not count. Of the others it returns exactly as many as
    /// asked for; fewer only if fewer were printed, or are kept. Natively and in memory a line is
    /// what was printed up to a line end, however narrow the terminal; on tmux it is a row of the
    /// terminal.
    ///
    /// # Errors
    /// [`Error::InvalidLines`] for 0, or more than [`MOST_LINES`].
    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>>;

    /// What a user would see now: every row of the terminal, from the top, without trailing blanks.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`] when there is no such target.
    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: CaptureStyle,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>>;

    /// Every session, by name. Where no server runs there are none.
    ///
    /// # Errors
    /// When the keepers or the tmux server cannot be queried.
    fn list(&self) -> BoxedFuture<'_, Result<Vec<SubstrateSession>, Error>>;

    /// The panes of a session, in the order they were made.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`] when there is no such session.
    fn panes<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<Vec<SubstratePane>, Error>>;

    /// Halves a pane and runs a program in the new half, which becomes the active pane.
    ///
    /// # Errors
    /// [`Error::PaneLimit`] when a half would be less than 2 columns or 1 row.
    fn split<'a>(
        &'a self,
        target: &'a Target,
        direction: SplitOrientation,
        program: &'a Program,
    ) -> BoxedFuture<'a, Result<SubstratePane, Error>>;

    /// Resizes a session; its panes share the new size.
    ///
    /// # Errors
    /// [`Error::InvalidCommand`] when no terminal has that size.
    fn resize<'a>(&'a self, name: &'a Name, size: Size) -> BoxedFuture<'a, Result<(), Error>>;
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubstrateSession {
    /// Its name, as requested.
    pub name: Name,
    /// How large it is, with all its panes.
    pub size: Size,
    /// How many panes it has.
    pub panes: usize,
    /// Whether a client is attached; natively, whether a client holds the size of a pane.
    pub attached: bool,
}

/// A pane of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubstratePane {
    /// Its id, for use as a target.
    pub id: SubstratePaneId,
    /// Its session.
    pub session: Name,
    /// How large its terminal is.
    pub size: Size,
    /// Whether the session as a target means this pane.
    pub active: bool,
}

/// The id of a pane within one substrate: `%3` on tmux. Never reused while its session lives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SubstratePaneId(pub String);

impl fmt::Display for SubstratePaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The pane that a call is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A session's active pane.
    Session(Name),
    /// This pane.
    Pane(SubstratePaneId),
}

impl Target {
    /// The error that this target does not exist.
    fn missing(&self) -> Error {
        match self {
            Self::Session(name) => Error::no_session(name),
            Self::Pane(pane) => Error::SessionNotFound(format!("no pane `{pane}`")),
        }
    }
}

impl From<&Name> for Target {
    fn from(name: &Name) -> Self {
        Self::Session(name.clone())
    }
}

impl From<&SubstratePaneId> for Target {
    fn from(pane: &SubstratePaneId) -> Self {
        Self::Pane(pane.clone())
    }
}

/// How a pane is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitOrientation {
    /// Into a left and a right half; the new one is on the right.
    Horizontal,
    /// Into an upper and a lower half; the new one is below.
    Vertical,
}
