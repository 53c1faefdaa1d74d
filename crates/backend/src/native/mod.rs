//! Native panes: one keeper each, recovered by their folders.
//!
//! ```text
//! <state>/panes/<id>/pane.json    the kernel's record, written before the keeper starts
//! <state>/panes/<id>/launch.json  what is needed to start it again, with its environment
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
    SpawnSpec, program,
};
pub use fork_server::ForkServer;
pub use keeper_conn::KeeperConn;
pub use socket_folder::SocketFolder;
pub use state_dir::StateDir;

/// How long a keeper may take to start.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Native panes in one state folder.
#[derive(Debug)]
pub struct NativeBackend {
    state_dir: StateDir,
    fork_server: ForkServer,
    /// A keeper without a pane: it is forked while the last pane starts, so that the next spawn
    /// does not wait for a fork. It exits by itself when this process does.
    spare: Mutex<Option<KeeperConn>>,
}

impl NativeBackend {
    /// Panes in this state folder, with keepers from this fork server.
    #[must_use]
    pub fn new(state: PathBuf, fork_server: ForkServer) -> Self {
        Self { state_dir: StateDir::new(&state), fork_server, spare: Mutex::default() }
    }

    async fn start(&self, mut spec: SpawnSpec) -> Result<PaneHandle, Error> {
        program::resolve(&mut spec)?;
        let id = spec.id.clone();
        let started = match self.state_dir.make(&id, &spec.record, spec.launch_record.as_deref()) {
            // The folder belongs to another pane.
            Err(error @ Error::NameTaken(_)) => return Err(error),
            Err(error) => Err(error),
            Ok(()) => self.try_start(spec).await,
        };
        if started.is_err()
            && let Err(error) = self.state_dir.remove(&id).await
        {
            tracing::warn!(pane = %id, %error, "cannot remove the files of a pane that was not \
                started");
        }
        *self.spare() = self.new_keeper().ok();
        started
    }

    async fn try_start(&self, spec: SpawnSpec) -> Result<PaneHandle, Error> {
        let tape = self.state_dir.tape(&spec.id);
        let spare = self.spare().take();
        let conn = match spare {
            Some(conn) => conn,
            None => self.new_keeper()?,
        };
        let started = self.spawn_on(spec.clone(), conn).await;
        // A keeper that died before it made the tape has started nothing; a second one is tried.
        if matches!(started, Err(Error::Machine(_))) && !tape.exists() {
            return self.spawn_on(spec, self.new_keeper()?).await;
        }
        started
    }

    fn spare(&self) -> MutexGuard<'_, Option<KeeperConn>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn spawn_on(&self, spec: SpawnSpec, mut conn: KeeperConn) -> Result<PaneHandle, Error> {
        let tape = self.state_dir.tape(&spec.id);
        let cwd = spec.cwd.clone();
        let request = self.spawn_request(spec);
        conn.queue(&ToKeeper::Spawn(Box::new(request)));
        let Ok(welcome) = timeout(SPAWN_TIMEOUT, await_welcome(&mut conn)).await else {
            // If it starts after all, this is the first request it reads.
            abandon(&mut conn);
            return Err(Error::Timeout { what: "starting the pane", limit: SPAWN_TIMEOUT });
        };
        let welcome = welcome?;
        match TapeReader::open(&tape) {
            Ok(reader) => {
                let handle = keeper_link::start(conn, welcome, Arc::new(reader));
                Ok(PaneHandle { cwd, ..handle })
            }
            Err(error) => {
                // Its program runs already, and could not be found again.
                abandon(&mut conn);
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

    fn spawn_request(&self, spec: SpawnSpec) -> SpawnRequest {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        SpawnRequest {
            tape: path(self.state_dir.tape(&spec.id)),
            socket: path(self.state_dir.socket(&spec.id)),
            id: spec.id,
            program: spec.program,
            argv: spec.argv,
            env: spec.env,
            cwd: spec.cwd.unwrap_or_default(),
            size: spec.size,
            capacity: spec.capacity,
            max_lines: spec.max_lines,
            timeout_ms: spec.timeout.map(millis),
            grace_ms: millis(spec.grace),
            followed: spec.followed,
            piped_input: spec.piped_input,
            umask: spec.umask,
        }
    }
}

impl Backend for NativeBackend {
    fn spawn(&self, spec: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>> {
        Box::pin(self.start(spec))
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
        fingerprint: ProcessFingerprint,
        grace: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>> {
        let state_dir = self.state_dir.clone();
        let ending = move || force_kill::force_kill(&state_dir, &id, &fingerprint, grace);
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
        let sentence = "cannot find the processes of a dead keeper on this system";
        Box::pin(async move { Err(Error::Machine(sentence.to_owned())) })
    }

    fn launch_record(&self, id: PaneId) -> BoxedFuture<'_, Result<Option<String>, Error>> {
        Box::pin(async move { self.state_dir.read_launch_record(&id).await })
    }

    fn rename(&self, from: PaneId, to: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.state_dir.rename(&from, &to).await })
    }

    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.state_dir.remove(&id).await })
    }
}

/// Tells a keeper to kill what it has started.
fn abandon(conn: &mut KeeperConn) {
    conn.queue(&ToKeeper::Kill(Kill { id: 0, grace_ms: 0 }));
    let _ = conn.flush_now();
}

/// Waits for the keeper's welcome.
pub(crate) async fn await_welcome(conn: &mut KeeperConn) -> Result<Welcome, Error> {
    loop {
        match conn.recv().await {
            Ok(FromKeeper::Welcome(welcome)) => return Ok(welcome),
            Ok(FromKeeper::SpawnFailed(failure)) if failure.invalid => {
                return Err(Error::Refused(failure.reason));
            }
            Ok(FromKeeper::SpawnFailed(failure)) if failure.limit => {
                return Err(Error::Limit(failure.reason));
            }
            Ok(FromKeeper::SpawnFailed(failure)) => return Err(Error::Machine(failure.reason)),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::Machine(format!(
                    "the keeper died while starting the pane: {error}"
                )));
            }
        }
    }
}
