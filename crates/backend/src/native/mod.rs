//! Native panes: one keeper each, found again by their folders.
//!
//! ```text
//! <state>/panes/<id>/pane.json    what the kernel said of it, written before the keeper is born
//! <state>/panes/<id>/tape         what it printed and how it ended, written by the keeper
//! <state>/panes/<id>/keeper.sock  where the keeper listens, as long as it lives
//! ```

#[cfg(target_os = "linux")]
mod force_kill;
mod fork_server;
mod keeper_conn;
mod keeper_link;
pub(crate) mod pipe_recorder;
mod recover;
mod socket_folder;
mod state_dir;

use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use paned_keeper::tape::TapeReader;
use paned_model::PaneId;
use paned_model::frame::{FromKeeper, Kill, SpawnRequest, Survivor, ToKeeper, Welcome};
use tokio::time::timeout;

use crate::{
    Backend, BoxedFuture, Error, PaneHandle, ProcessFingerprint, RecoveredPane, RecoveredState,
    SpawnSpec,
};
pub use fork_server::ForkServer;
pub use keeper_conn::KeeperConn;
pub use socket_folder::SocketFolder;
pub use state_dir::StateDir;

/// How long a keeper may take to come to life.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Native panes in one state folder.
#[derive(Debug)]
pub struct NativeBackend {
    state_dir: StateDir,
    fork_server: ForkServer,
    /// A keeper that waits for its pane: forking the next one while the last pane starts takes the fork
    /// off the way. It ends by itself when we do.
    spare: Mutex<Option<KeeperConn>>,
}

impl NativeBackend {
    /// Panes in this state folder, with keepers from this nursery.
    #[must_use]
    pub fn new(state: PathBuf, fork_server: ForkServer) -> Self {
        Self { state_dir: StateDir::new(&state), fork_server, spare: Mutex::default() }
    }

    async fn start(&self, order: SpawnSpec) -> Result<PaneHandle, Error> {
        let id = order.id.clone();
        let born = match self.state_dir.make(&id, &order.record) {
            // Its folder is another pane's.
            Err(error @ Error::NameTaken(_)) => return Err(error),
            Err(error) => Err(error),
            Ok(()) => self.try_start(order).await,
        };
        if born.is_err()
            && let Err(error) = self.state_dir.remove(&id).await
        {
            tracing::warn!(pane = %id, %error, "what is left of a pane that was refused stays");
        }
        *self.spare() = self.new_keeper().ok();
        born
    }

    async fn try_start(&self, order: SpawnSpec) -> Result<PaneHandle, Error> {
        let tape = self.state_dir.tape(&order.id);
        let spare = self.spare().take();
        let wire = match spare {
            Some(wire) => wire,
            None => self.new_keeper()?,
        };
        let born = self.spawn_on(order.clone(), wire).await;
        // A keeper that died before it made the tape has started nothing; the next one will.
        if matches!(born, Err(Error::Machine(_))) && !tape.exists() {
            return self.spawn_on(order, self.new_keeper()?).await;
        }
        born
    }

    fn spare(&self) -> MutexGuard<'_, Option<KeeperConn>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn spawn_on(&self, order: SpawnSpec, mut wire: KeeperConn) -> Result<PaneHandle, Error> {
        let tape = self.state_dir.tape(&order.id);
        let birth = self.spawn_request(order);
        wire.queue(&ToKeeper::Spawn(Box::new(birth)));
        let Ok(welcome) = timeout(SPAWN_TIMEOUT, await_welcome(&mut wire)).await else {
            // Should it come to life after all, this is the first thing it hears.
            abandon(&mut wire);
            return Err(Error::Timeout { what: "starting the pane", limit: SPAWN_TIMEOUT });
        };
        let welcome = welcome?;
        match TapeReader::open(&tape) {
            Ok(reader) => Ok(keeper_link::start(wire, welcome, Arc::new(reader))),
            Err(error) => {
                // Its program runs already, and nobody would ever find it.
                abandon(&mut wire);
                let source = std::io::Error::other(error);
                Err(Error::Io { what: "open the tape".into(), source })
            }
        }
    }

    fn new_keeper(&self) -> Result<KeeperConn, Error> {
        let failed = |source| Error::Io { what: "reach a keeper".into(), source };
        let (ours, theirs) = StdStream::pair().map_err(failed)?;
        self.fork_server.send(&theirs).map_err(failed)?;
        KeeperConn::new(ours).map_err(failed)
    }

    fn spawn_request(&self, order: SpawnSpec) -> SpawnRequest {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        SpawnRequest {
            tape: path(self.state_dir.tape(&order.id)),
            socket: path(self.state_dir.socket(&order.id)),
            id: order.id,
            program: order.program,
            argv: order.argv,
            env: order.env,
            cwd: order.cwd,
            size: order.size,
            capacity: order.capacity,
            timeout_ms: order.timeout.map(millis),
            grace_ms: millis(order.grace),
            followed: order.followed,
        }
    }
}

impl Backend for NativeBackend {
    fn spawn(&self, order: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>> {
        Box::pin(self.start(order))
    }

    fn recover(&self) -> BoxedFuture<'_, Result<Vec<RecoveredPane>, Error>> {
        Box::pin(recover::recover_all(&self.state_dir))
    }

    fn reconnect(&self, id: PaneId) -> BoxedFuture<'_, RecoveredState> {
        Box::pin(async move { recover::reconnect(&self.state_dir, &id).await })
    }

    #[cfg(target_os = "linux")]
    fn end(
        &self,
        id: PaneId,
        traces: ProcessFingerprint,
        grace: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>> {
        let places = self.state_dir.clone();
        let ending = move || force_kill::force_kill(&places, &id, &traces, grace);
        let ended = tokio::task::spawn_blocking(ending);
        Box::pin(async { ended.await.map_err(|panic| Error::Machine(panic.to_string())) })
    }

    #[cfg(not(target_os = "linux"))]
    fn end(
        &self,
        _: PaneId,
        _: ProcessFingerprint,
        _: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>> {
        let sentence = "what a keeper has left behind cannot be found on this system";
        Box::pin(async move { Err(Error::Machine(sentence.to_owned())) })
    }

    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.state_dir.remove(&id).await })
    }
}

/// Has a keeper end what it has started.
fn abandon(wire: &mut KeeperConn) {
    wire.queue(&ToKeeper::Kill(Kill { id: 0, grace_ms: 0 }));
    let _ = wire.flush_now();
}

/// Waits for the keeper's first word.
pub(crate) async fn await_welcome(wire: &mut KeeperConn) -> Result<Welcome, Error> {
    loop {
        match wire.recv().await {
            Ok(FromKeeper::Welcome(welcome)) => return Ok(welcome),
            Ok(FromKeeper::SpawnFailed(stillborn)) if stillborn.invalid => {
                return Err(Error::Refused(stillborn.reason));
            }
            Ok(FromKeeper::SpawnFailed(stillborn)) if stillborn.limit => {
                return Err(Error::Limit(stillborn.reason));
            }
            Ok(FromKeeper::SpawnFailed(stillborn)) => return Err(Error::Machine(stillborn.reason)),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::Machine(format!(
                    "the keeper died at the pane's birth: {error}"
                )));
            }
        }
    }
}
