//! Accepting a pipe recorder: it connects to our socket, is told what to record, and acts as a
//! keeper from then on.

use std::fs::{self, Permissions};
use std::num::NonZeroU64;
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

/// How long a recorder may take to connect, and to begin.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);
/// Earlier output is sent in pieces of this size.
const PIECE: usize = 1 << 20;

/// The folder of an adopted pane, and the socket that its recorder connects to.
#[derive(Debug)]
pub(crate) struct RecorderListener {
    state_dir: StateDir,
    id: PaneId,
    socket: PathBuf,
    listener: UnixListener,
}

/// What a recorder has to record.
#[derive(Clone, Debug)]
pub(crate) struct RecordSpec {
    /// The pane's process.
    pub(crate) pid: u32,
    /// How large its terminal is.
    pub(crate) size: Size,
    /// How many bytes of its output to keep.
    pub(crate) capacity: u64,
    /// How many of its last lines can be read; all that are kept when left out.
    pub(crate) max_lines: Option<NonZeroU64>,
    /// What it had printed before the recorder started.
    pub(crate) history: Vec<u8>,
}

impl RecorderListener {
    /// Makes the pane's folder, which reserves the pane's id.
    pub(crate) async fn make(
        state_dir: &StateDir,
        id: &PaneId,
        record: &str,
    ) -> Result<Self, Error> {
        state_dir.make(id, record, None)?;
        let socket = state_dir.socket(id);
        let bound = UnixListener::bind(&socket).and_then(|listener| {
            fs::set_permissions(&socket, Permissions::from_mode(0o600)).map(|()| listener)
        });
        match bound {
            Ok(listener) => {
                Ok(Self { state_dir: state_dir.clone(), id: id.clone(), socket, listener })
            }
            Err(source) => {
                state_dir.remove(id).await?;
                Err(Error::Io { what: format!("listen at {}", socket.display()), source })
            }
        }
    }

    /// The socket that the recorder connects to.
    pub(crate) fn socket(&self) -> &PathBuf {
        &self.socket
    }

    /// Removes the folder and all in it.
    pub(crate) async fn remove(self) {
        let _ = self.state_dir.remove(&self.id).await;
    }

    /// Waits for the recorder and starts it.
    pub(crate) async fn accept(&self, spec: RecordSpec) -> Result<PaneHandle, Error> {
        let timed_out =
            |_| Error::Timeout { what: "starting the pipe recorder", limit: SPAWN_TIMEOUT };
        let accepted = timeout(SPAWN_TIMEOUT, self.listener.accept()).await.map_err(timed_out)?;
        let failed = |source| Error::Io { what: "reach the pipe recorder".into(), source };
        let (stream, _) = accepted.map_err(failed)?;
        // The recorder itself listens there from now on.
        fs::remove_file(&self.socket).map_err(failed)?;
        let tape = self.state_dir.tape(&self.id);
        let mut conn = KeeperConn::from_stream(stream).map_err(failed)?;
        for piece in spec.history.chunks(PIECE) {
            conn.queue(&ToKeeper::Input(0, piece.to_vec()));
        }
        let request = RecordRequest {
            tape: tape.to_string_lossy().into_owned(),
            pid: spec.pid,
            size: spec.size,
            capacity: spec.capacity,
            max_lines: spec.max_lines,
        };
        conn.queue(&ToKeeper::Record(Box::new(request)));
        let welcome =
            timeout(SPAWN_TIMEOUT, await_welcome(&mut conn)).await.map_err(timed_out)??;
        let reader = TapeReader::open(&tape).map_err(|error| Error::Machine(error.to_string()))?;
        Ok(keeper_link::start(conn, welcome, Arc::new(reader)))
    }
}
