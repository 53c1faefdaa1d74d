//! Recovering the panes of a previous server.

use std::fs;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use paned_keeper::tape::{self, TapeReader};
use paned_model::PaneId;
use paned_model::frame::{ClientRole, Hello, ToKeeper, VERSION, Welcome};
use rustix::io::Errno;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::await_welcome;
use super::keeper_conn::KeeperConn;
use super::keeper_link;
use super::state_dir::StateDir;
use crate::{Error, Output, PendingRecovery, RecoveredPane, RecoveredState, UnresponsivePane};

/// How long recovery waits for a keeper that does not answer. After that it waits in the
/// background.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// How soon a keeper without a free connection slot is tried again; the pause doubles each time.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(3);

/// Every pane in the state folder, all tried at once.
pub(super) async fn recover_all(state_dir: &StateDir) -> Result<Vec<RecoveredPane>, Error> {
    let ids = ids(state_dir).map_err(|source| Error::Io {
        what: format!("read {}", state_dir.panes_dir().display()),
        source,
    })?;
    let found = join_all(ids.into_iter().map(|id| recover_one(state_dir, id))).await;
    Ok(found.into_iter().flatten().collect())
}

fn ids(state_dir: &StateDir) -> io::Result<Vec<PaneId>> {
    let entries = match fs::read_dir(state_dir.panes_dir()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    // A pane is a folder; a file or a symbolic link of that name is not ours.
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
    let names = folders.map(|entry| entry.file_name());
    let mut ids: Vec<PaneId> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    ids.sort();
    Ok(ids)
}

/// The state of one pane. A folder that was never completed, or half removed, is deleted.
async fn recover_one(state_dir: &StateDir, id: PaneId) -> Option<RecoveredPane> {
    let record = fs::read_to_string(state_dir.record(&id));
    let is_gone = matches!(&record, Err(error) if error.kind() == ErrorKind::NotFound);
    let state = check_pane(state_dir, &id).await;
    let lives = matches!(state, Some(RecoveredState::Alive(_) | RecoveredState::Unresponsive(_)));
    let Some(state) = state.filter(|_| lives || !is_gone) else {
        // It was never started, or its record was removed first.
        let _ = state_dir.remove(&id).await;
        return None;
    };
    // A live program is a pane, whatever happened to its record; the kernel may know it.
    let record = record.unwrap_or_else(|error| {
        tracing::warn!(pane = %id, %error, "cannot read the record of a pane");
        String::new()
    });
    Some(RecoveredPane { id, record, state })
}

/// Reconnects to a pane whose keeper closed the connection. Waits first: another server may want
/// the same keeper, and the two would evict each other.
pub(super) async fn reconnect(state_dir: &StateDir, id: &PaneId) -> RecoveredState {
    sleep(FIRST_RETRY).await;
    check_pane(state_dir, id).await.unwrap_or(RecoveredState::Lost(None))
}

/// The state of a pane; `None` if it was never started. A keeper that does not answer is not dead:
/// the same connection waits for it for as long as it lives.
async fn check_pane(state_dir: &StateDir, id: &PaneId) -> Option<RecoveredState> {
    let mut connecting = Box::pin(wait_for_keeper(state_dir.clone(), id.clone()));
    if let Ok(state) = timeout(REPLY_TIMEOUT, &mut connecting).await {
        return state;
    }
    let tape = TapeReader::open(&state_dir.tape(id)).ok();
    let keeper = tape.as_ref().map(TapeReader::keeper).filter(|keeper| *keeper != 0);
    tracing::warn!(pane = %id, keeper, "the keeper of a pane does not respond; waiting in the \
                                       background");
    let pid = tape.as_ref().and_then(TapeReader::pid);
    let output = tape.map(|tape| Arc::new(tape) as Arc<dyn Output>);
    let pending =
        PendingRecovery::new(async { connecting.await.unwrap_or(RecoveredState::Lost(None)) });
    Some(RecoveredState::Unresponsive(UnresponsivePane { pid, keeper, output, pending }))
}

/// Tries to connect until the keeper answers, or is gone.
async fn wait_for_keeper(state_dir: StateDir, id: PaneId) -> Option<RecoveredState> {
    let mut pause = FIRST_RETRY;
    loop {
        let connected = connect_as_server(&state_dir, &id).await;
        // Opened after the connection attempt: so the tape has what the keeper wrote before it
        // exited.
        match (connected, TapeReader::open(&state_dir.tape(&id))) {
            (Ok((conn, welcome)), Ok(tape)) => {
                return Some(RecoveredState::Alive(keeper_link::start(
                    conn,
                    welcome,
                    Arc::new(tape),
                )));
            }
            (Err(error), Ok(tape)) if is_no_answer(&error) && !tape.has_live_keeper() => {
                return Some(without_keeper(tape));
            }
            (Err(error), Err(damage)) if is_not_listening(&error) => {
                return unreadable(&id, &damage);
            }
            (Ok(_) | Err(_), Ok(_) | Err(_)) => {}
        }
        sleep(pause).await;
        pause = (pause * 2).min(MAX_RETRY);
    }
}

/// Connects to a keeper as its server, and waits for its welcome.
async fn connect_as_server(state_dir: &StateDir, id: &PaneId) -> io::Result<(KeeperConn, Welcome)> {
    let mut conn = KeeperConn::from_stream(UnixStream::connect(state_dir.socket(id)).await?)?;
    conn.queue(&ToKeeper::Hello(Hello { version: VERSION, role: ClientRole::Server }));
    let welcome = await_welcome(&mut conn).await;
    welcome.map(|welcome| (conn, welcome)).map_err(|_| ErrorKind::UnexpectedEof.into())
}

/// Whether no process listens at a socket.
fn is_not_listening(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

/// Whether the error is about the keeper. It is not if this process lacked resources, and a full
/// accept queue belongs to a live keeper.
fn is_no_answer(error: &io::Error) -> bool {
    let local = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    !local.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// The state of a pane without a keeper and without a readable tape.
fn unreadable(id: &PaneId, error: &tape::Error) -> Option<RecoveredState> {
    match error {
        tape::Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => None,
        error => {
            tracing::warn!(pane = %id, %error, "cannot read the output of a pane");
            Some(RecoveredState::Lost(None))
        }
    }
}

fn without_keeper(tape: TapeReader) -> RecoveredState {
    match tape.ending() {
        Some(ending) => RecoveredState::Ended(Arc::new(tape), ending),
        None => RecoveredState::Lost(Some(Arc::new(tape))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use paned_keeper::tape::{MIN_CAPACITY, TapeWriter};
    use paned_model::Time;
    use paned_model::frame::{FrameMessage as _, FromKeeper, NOTIFY_WINDOW};
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::UnixListener;

    use super::*;

    /// A pane `a` in a state folder. This process is its keeper.
    fn kept(state: &Path) -> (StateDir, PaneId, TapeWriter) {
        let (state_dir, id) = (StateDir::new(state), "a".parse().unwrap());
        state_dir.make(&id, "{}", None).unwrap();
        let tape = TapeWriter::create(&state_dir.tape(&id), MIN_CAPACITY, Time(1)).unwrap();
        (state_dir, id, tape)
    }

    async fn found(state_dir: &StateDir) -> RecoveredState {
        let mut found = recover_all(state_dir).await.unwrap();
        assert_eq!(found.len(), 1);
        found.remove(0).state
    }

    #[tokio::test]
    async fn a_keeper_that_lives_is_not_lost_though_its_socket_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, id, tape) = kept(folder.path());
        let RecoveredState::Unresponsive(silent) = found(&state_dir).await else {
            panic!("its keeper lives")
        };
        assert_eq!(silent.keeper, Some(std::process::id()));
        assert!(silent.output.is_some());
        drop(tape);
        assert!(matches!(silent.pending.await, RecoveredState::Lost(Some(_))));
        assert!(state_dir.tape(&id).exists());
    }

    #[tokio::test]
    async fn a_keeper_that_lives_is_found_though_the_record_of_its_pane_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, id, tape) = kept(folder.path());
        fs::remove_file(state_dir.record(&id)).unwrap();
        let RecoveredState::Unresponsive(silent) = found(&state_dir).await else {
            panic!("its keeper lives")
        };
        drop((silent, tape));
        // A folder without a record and without a live keeper is deleted.
        assert!(recover_all(&state_dir).await.unwrap().is_empty());
        assert!(!state_dir.pane_dir(&id).exists());
    }

    #[tokio::test]
    async fn a_pane_is_lost_if_somebody_else_has_its_keepers_number() {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, id, tape) = kept(folder.path());
        drop((tape, UnixListener::bind(state_dir.socket(&id)).unwrap()));
        assert!(matches!(found(&state_dir).await, RecoveredState::Lost(Some(_))));
    }

    #[tokio::test]
    async fn a_keeper_without_room_is_tried_until_it_has_some() {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, id, _tape) = kept(folder.path());
        let listener = UnixListener::bind(state_dir.socket(&id)).unwrap();
        let keeper = async {
            for _ in 0..3 {
                drop(listener.accept().await.unwrap());
            }
            let (mut server, _) = listener.accept().await.unwrap();
            let welcome = Welcome {
                version: VERSION,
                keeper: 1,
                pid: 2,
                started: Time(1),
                typed: Some(0),
                served: true,
                frames: NOTIFY_WINDOW.frames,
                guarded: Some(0),
            };
            let mut word = Vec::new();
            FromKeeper::Welcome(welcome).encode(&mut word);
            server.write_all(&word).await.unwrap();
            server
        };
        let (state, _server) = tokio::join!(found(&state_dir), keeper);
        assert!(matches!(state, RecoveredState::Alive(_)), "{state:?}");
    }
}
