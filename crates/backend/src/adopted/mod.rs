//! Panes of somebody's tmux: found, and adopted as they are.
//!
//! Their output comes by way of a scribe that tmux starts (`pipe-pane`), which is a keeper to everybody: it makes the
//! tape, outlives the server and is found again. What is typed goes through tmux, behind a guard that names server,
//! pane and process, so that nothing ever reaches a pane that was not adopted. `pipe-pane -I` would do that too, but
//! crashes a tmux (3.3a) whose pane has just ended.

mod commands;
pub mod discover;
mod events;
mod servers;

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

/// Facts on their way: one wake-up, one ending and one loss always fit.
const MAX_EVENTS: usize = 16;
const MAX_COMMANDS: usize = 64;

/// The way to panes of other people's tmux servers.
#[derive(Clone, Debug)]
pub struct AdoptedPanes {
    inner: Arc<AdoptedInner>,
}

#[derive(Debug)]
struct AdoptedInner {
    places: StateDir,
    program: PathBuf,
    servers: SharedTmuxClients,
}

/// Where a pane of somebody's is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptedLocation {
    /// The server's socket.
    pub socket: PathBuf,
    /// By what the pane is known again.
    pub identity: TmuxPaneIdentity,
}

/// A pane to adopt. Everything in it has been checked.
#[derive(Clone, Debug)]
pub struct AdoptSpec {
    /// Its name with us.
    pub id: PaneId,
    /// Where it is.
    pub location: AdoptedLocation,
    /// How many bytes of its output to keep.
    pub capacity: u64,
    /// What the kernel wants to know again when it finds the pane later.
    pub record: String,
}

/// What has become of an adopted pane, as its two tasks tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdoptionState {
    /// It is watched.
    Watched,
    /// It was let go; what becomes of it is not ours to tell.
    Detached,
    /// It has ended, or is lost.
    Ended,
}

impl AdoptedPanes {
    /// Adopted panes in this state folder, with scribes from this program of ours.
    #[must_use]
    pub fn new(state: &Path, program: PathBuf) -> Self {
        let (places, servers) = (StateDir::new(state), SharedTmuxClients::default());
        Self { inner: Arc::new(AdoptedInner { places, program, servers }) }
    }

    /// The connection to a server. It is never started.
    ///
    /// # Errors
    /// When nobody answers at this socket, or it is another user's.
    pub async fn server(&self, socket: &Path) -> Result<Arc<SharedTmuxClient>, Refusal> {
        Ok(self.inner.servers.open(socket).await?)
    }

    /// Adopts a pane: what it shows and all that it prints from now on is on its tape.
    ///
    /// # Errors
    /// When it is not there any more or has a pipe already; then nothing was changed.
    pub async fn adopt(&self, order: AdoptSpec) -> Result<PaneHandle, Refusal> {
        let AdoptedInner { places, program, servers } = &*self.inner;
        let server = servers.open(&order.location.socket).await?;
        let desk = RecorderListener::make(places, &order.id, &order.record).await?;
        let known = order.location.identity;
        let (program, socket) = (program.to_string_lossy(), desk.socket().to_string_lossy());
        let opened = server.client().open_pipe(&known, &[&program, "pipe-recorder", &socket]).await;
        let (before, size) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                desk.remove().await;
                return Err(error.into());
            }
        };
        let size = size.check().unwrap_or_default();
        let task = RecordSpec { pid: known.pid, size, capacity: order.capacity, history: before };
        match desk.accept(task).await {
            Ok(link) => Ok(self.watch(&order.id, link, order.location, Some(server))),
            Err(error) => {
                let _ = server.client().close_pipe(&known).await;
                desk.remove().await;
                Err(error.into())
            }
        }
    }

    /// Goes on with an adopted pane whose scribe was found again.
    #[must_use]
    pub fn resume(&self, id: &PaneId, scribe: PaneHandle, spot: AdoptedLocation) -> PaneHandle {
        self.watch(id, scribe, spot, None)
    }

    /// Starts the tasks that look after an adopted pane, over a connection that is there or is made.
    fn watch(
        &self,
        id: &PaneId,
        scribe: PaneHandle,
        spot: AdoptedLocation,
        server: Option<Arc<SharedTmuxClient>>,
    ) -> PaneHandle {
        let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
        let (outbox, facts) = mpsc::channel(MAX_EVENTS);
        let hold = watch::Sender::new(AdoptionState::Watched);
        let (counter, typed) = watch::channel(Some(0));
        let hand = commands::AdoptedCommands {
            foreign: self.clone(),
            location: spot.clone(),
            folder: self.inner.places.pane_dir(id),
            recorder: scribe.commands.clone(),
            output: scribe.output.clone(),
            typed: counter,
            state: hold.clone(),
        };
        let ear = events::AdoptedWatcher {
            foreign: self.clone(),
            location: spot,
            recorder: scribe.commands,
            outbox,
            state: hold,
            size: scribe.output.size(),
            connections: 0,
        };
        tokio::spawn(scribe.driver);
        tokio::spawn(hand.run(inbox));
        tokio::spawn(ear.run(scribe.events, server));
        PaneHandle {
            pid: scribe.pid,
            keeper: scribe.keeper,
            started: scribe.started,
            output: scribe.output,
            commands,
            events: facts,
            typed,
            output_flag: scribe.output_flag,
            // Hand and ear carry, in tasks of their own.
            driver: Driver::default(),
        }
    }
}
