//! Meeting a scribe: it comes to a socket where we wait, is told what to write, and is a keeper to us from then on.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use paned_keeper::tape::TapeReader;
use paned_model::PaneId;
use paned_model::Size;
use paned_model::frame::{RecordRequest, ToKeeper};
use tokio::net::UnixListener;
use tokio::time::timeout;

use super::await_welcome;
use super::keeper_conn::KeeperConn;
use super::keeper_link;
use super::state_dir::StateDir;
use crate::{Error, PaneHandle};

/// How long a scribe may take to come, and to begin.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);
/// What was printed before is said in pieces of this size.
const PIECE: usize = 1 << 20;

/// A folder for a pane of somebody's, where its scribe is awaited.
#[derive(Debug)]
pub(crate) struct RecorderListener {
    places: StateDir,
    id: PaneId,
    socket: PathBuf,
    listener: UnixListener,
}

/// What a scribe is to write.
#[derive(Clone, Debug)]
pub(crate) struct RecordSpec {
    /// The pane's process.
    pub(crate) pid: u32,
    /// How large its terminal is.
    pub(crate) size: Size,
    /// How many bytes of its output to keep.
    pub(crate) capacity: u64,
    /// What it had printed before the scribe came.
    pub(crate) history: Vec<u8>,
}

impl RecorderListener {
    /// Makes the pane's folder. The folder is the name's reservation.
    pub(crate) async fn make(places: &StateDir, id: &PaneId, record: &str) -> Result<Self, Error> {
        places.make(id, record)?;
        let socket = places.socket(id);
        let bound = UnixListener::bind(&socket).and_then(|listener| {
            fs::set_permissions(&socket, Permissions::from_mode(0o600)).map(|()| listener)
        });
        match bound {
            Ok(listener) => Ok(Self { places: places.clone(), id: id.clone(), socket, listener }),
            Err(source) => {
                places.remove(id).await?;
                Err(Error::Io { what: format!("listen at {}", socket.display()), source })
            }
        }
    }

    /// Where the scribe is awaited.
    pub(crate) fn socket(&self) -> &PathBuf {
        &self.socket
    }

    /// Nothing of it is left.
    pub(crate) async fn remove(self) {
        let _ = self.places.remove(&self.id).await;
    }

    /// Waits for the scribe and sets it to work.
    pub(crate) async fn accept(&self, task: RecordSpec) -> Result<PaneHandle, Error> {
        let late = |_| Error::Timeout { what: "starting the scribe", limit: SPAWN_TIMEOUT };
        let come = timeout(SPAWN_TIMEOUT, self.listener.accept()).await.map_err(late)?;
        let failed = |source| Error::Io { what: "reach a scribe".into(), source };
        let (stream, _) = come.map_err(failed)?;
        // The scribe itself listens there from now on.
        fs::remove_file(&self.socket).map_err(failed)?;
        let (tape, mut wire) =
            (self.places.tape(&self.id), KeeperConn::from_stream(stream).map_err(failed)?);
        for piece in task.history.chunks(PIECE) {
            wire.queue(&ToKeeper::Input(0, piece.to_vec()));
        }
        let (pid, size, capacity) = (task.pid, task.size, task.capacity);
        let adopt =
            RecordRequest { tape: tape.to_string_lossy().into_owned(), pid, size, capacity };
        wire.queue(&ToKeeper::Record(Box::new(adopt)));
        let welcome = timeout(SPAWN_TIMEOUT, await_welcome(&mut wire)).await.map_err(late)??;
        let reader = TapeReader::open(&tape).map_err(|error| Error::Machine(error.to_string()))?;
        Ok(keeper_link::start(wire, welcome, Arc::new(reader)))
    }
}
