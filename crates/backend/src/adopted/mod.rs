//! Panes of other tmux servers: discovered, and adopted as they are.
//!
//! Their output comes through a pipe recorder, which tmux starts (`pipe-pane`). To every client it
//! is a keeper: it writes the tape, outlives the server and can be recovered. Input goes through
//! tmux, behind a guard that names server, pane and process, so that nothing ever reaches a pane
//! that was not adopted. `pipe-pane -I` could carry input too, but crashes a tmux (3.3a) whose pane
//! has just ended.

mod commands;
pub mod discover;
mod events;
mod servers;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paned_model::{PaneId, Refusal};
use tokio::sync::{mpsc, watch};

pub use self::servers::SharedTmuxClient;
use self::servers::SharedTmuxClients;
use crate::native::StateDir;
use crate::native::pipe_recorder::{RecordSpec, RecorderListener};
use crate::tmux::adopted::TmuxPaneIdentity;
use crate::{Driver, PaneHandle};

/// Capacity for events: one `Printed`, one exit and one loss always fit.
const MAX_EVENTS: usize = 16;
const MAX_COMMANDS: usize = 64;

/// Access to panes of tmux servers that we did not start.
#[derive(Clone, Debug)]
pub struct AdoptedPanes {
    inner: Arc<AdoptedInner>,
}

#[derive(Debug)]
struct AdoptedInner {
    state_dir: StateDir,
    program: PathBuf,
    servers: SharedTmuxClients,
}

/// Where an adopted pane is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptedLocation {
    /// The server's socket.
    pub socket: PathBuf,
    /// Identifies the pane, also after a restart of ours.
    pub identity: TmuxPaneIdentity,
}

/// A pane to adopt. Everything in it has been checked.
#[derive(Clone, Debug)]
pub struct AdoptSpec {
    /// Its id with us.
    pub id: PaneId,
    /// Where it is.
    pub location: AdoptedLocation,
    /// How many bytes of its output to keep.
    pub capacity: u64,
    /// How many of its last lines can be read; all that are kept when left out.
    pub max_lines: Option<NonZeroU64>,
    /// A record of the kernel's, returned with the pane when it is recovered.
    pub record: String,
}

/// The state of an adopted pane, shared by its two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdoptionState {
    /// It is watched.
    Watched,
    /// It was detached; its end is not reported.
    Detached,
    /// It has ended, or is lost.
    Ended,
}

impl AdoptedPanes {
    /// Adopted panes in this state folder. `program` is our binary, which tmux starts as the
    /// recorder.
    #[must_use]
    pub fn new(state: &Path, program: PathBuf) -> Self {
        let state_dir = StateDir::new(state);
        let servers = SharedTmuxClients::default();
        Self { inner: Arc::new(AdoptedInner { state_dir, program, servers }) }
    }

    /// The connection to a server, which is never started.
    ///
    /// # Errors
    /// When no server answers at this socket, or it is another user's.
    pub async fn server(&self, socket: &Path) -> Result<Arc<SharedTmuxClient>, Refusal> {
        Ok(self.inner.servers.open(socket).await?)
    }

    /// Adopts a pane: its tape has what it shows and all that it prints from now on.
    ///
    /// # Errors
    /// When it no longer exists or has a pipe already; then nothing was changed.
    pub async fn adopt(&self, spec: AdoptSpec) -> Result<PaneHandle, Refusal> {
        let AdoptedInner { state_dir, program, servers } = &*self.inner;
        let server = servers.open(&spec.location.socket).await?;
        let listener = RecorderListener::make(state_dir, &spec.id, &spec.record).await?;
        let identity = spec.location.identity;
        let program = program.to_string_lossy();
        let socket = listener.socket().to_string_lossy();
        let opened =
            server.client().open_pipe(&identity, &[&program, "pipe-recorder", &socket]).await;
        let (history, size) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                listener.remove().await;
                return Err(error.into());
            }
        };
        let size = size.check().unwrap_or_default();
        let AdoptSpec { capacity, max_lines, .. } = spec;
        let record = RecordSpec { pid: identity.pid, size, capacity, max_lines, history };
        match listener.accept(record).await {
            Ok(handle) => Ok(self.watch(&spec.id, handle, spec.location, Some(server))),
            Err(error) => {
                let _ = server.client().close_pipe(&identity).await;
                listener.remove().await;
                Err(error.into())
            }
        }
    }

    /// Resumes an adopted pane whose recorder was recovered.
    #[must_use]
    pub fn resume(
        &self,
        id: &PaneId,
        recorder: PaneHandle,
        location: AdoptedLocation,
    ) -> PaneHandle {
        self.watch(id, recorder, location, None)
    }

    /// Starts the two tasks of an adopted pane. Without a connection, they open one.
    fn watch(
        &self,
        id: &PaneId,
        recorder: PaneHandle,
        location: AdoptedLocation,
        server: Option<Arc<SharedTmuxClient>>,
    ) -> PaneHandle {
        let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
        let (outbox, events) = mpsc::channel(MAX_EVENTS);
        let state = watch::Sender::new(AdoptionState::Watched);
        let (counter, typed) = watch::channel(Some(0));
        let command_task = commands::AdoptedCommands {
            foreign: self.clone(),
            location: location.clone(),
            folder: self.inner.state_dir.pane_dir(id),
            recorder: recorder.commands.clone(),
            output: recorder.output.clone(),
            typed: counter,
            state: state.clone(),
        };
        let watcher = events::AdoptedWatcher {
            foreign: self.clone(),
            location,
            recorder: recorder.commands,
            outbox,
            state,
            size: recorder.output.size(),
            connections: 0,
        };
        tokio::spawn(recorder.driver);
        tokio::spawn(command_task.run(inbox));
        tokio::spawn(watcher.run(recorder.events, server));
        PaneHandle {
            pid: recorder.pid,
            keeper: recorder.keeper,
            started: recorder.started,
            cwd: None,
            output: recorder.output,
            commands,
            events,
            typed,
            output_flag: recorder.output_flag,
            // The two tasks do the work; there is nothing left to drive.
            driver: Driver::default(),
        }
    }
}
