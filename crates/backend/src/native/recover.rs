//! Finding panes that were there before us.

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

/// How long all wait for a keeper that does not answer. From then on it is waited for in the background.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// How soon a keeper that has no room for us is tried again; each time later.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(3);

/// Every pane in the state folder, all asked at once.
pub(super) async fn recover_all(places: &StateDir) -> Result<Vec<RecoveredPane>, Error> {
    let ids = ids(places).map_err(|source| Error::Io {
        what: format!("look into {}", places.panes_dir().display()),
        source,
    })?;
    let found = join_all(ids.into_iter().map(|id| recover_one(places, id))).await;
    Ok(found.into_iter().flatten().collect())
}

fn ids(places: &StateDir) -> io::Result<Vec<PaneId>> {
    let entries = match fs::read_dir(places.panes_dir()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    // A pane is a folder; a file or a link of that name is not one of ours.
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
    let names = folders.map(|entry| entry.file_name());
    let mut ids: Vec<PaneId> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    ids.sort();
    Ok(ids)
}

/// What has become of one pane. A folder that was never finished, or half removed, is cleared away.
async fn recover_one(places: &StateDir, id: PaneId) -> Option<RecoveredPane> {
    let record = fs::read_to_string(places.record(&id));
    let is_gone = matches!(&record, Err(error) if error.kind() == ErrorKind::NotFound);
    let state = check_pane(places, &id).await;
    let lives = matches!(state, Some(RecoveredState::Alive(_) | RecoveredState::Unresponsive(_)));
    let Some(state) = state.filter(|_| lives || !is_gone) else {
        // It was never brought to life, or its record was removed first.
        let _ = places.remove(&id).await;
        return None;
    };
    // A program that lives is a pane, whatever became of its record; the kernel may know it.
    let record = record.unwrap_or_else(|error| {
        tracing::warn!(pane = %id, %error, "the record of a pane cannot be read");
        String::new()
    });
    Some(RecoveredPane { id, record, state })
}

/// A pane whose keeper has let us go. Not at once: another may want to be its server, too.
pub(super) async fn reconnect(places: &StateDir, id: &PaneId) -> RecoveredState {
    sleep(FIRST_RETRY).await;
    check_pane(places, id).await.unwrap_or(RecoveredState::Lost(None))
}

/// How a pane is; nothing if it never lived. A keeper that does not answer is no dead one: it is waited for on the same
/// connection, for as long as it lives.
async fn check_pane(places: &StateDir, id: &PaneId) -> Option<RecoveredState> {
    let mut reached = Box::pin(wait_for_keeper(places.clone(), id.clone()));
    if let Ok(state) = timeout(REPLY_TIMEOUT, &mut reached).await {
        return state;
    }
    let tape = TapeReader::open(&places.tape(id)).ok();
    let keeper = tape.as_ref().map(TapeReader::keeper).filter(|keeper| *keeper != 0);
    tracing::warn!(pane = %id, keeper, "the keeper of a pane does not answer; it is waited for");
    let pid = tape.as_ref().and_then(TapeReader::pid);
    let output = tape.map(|tape| Arc::new(tape) as Arc<dyn Output>);
    let later = PendingRecovery::new(async { reached.await.unwrap_or(RecoveredState::Lost(None)) });
    Some(RecoveredState::Unresponsive(UnresponsivePane { pid, keeper, output, pending: later }))
}

/// Tries to reach a pane until its keeper answers, or is gone.
async fn wait_for_keeper(places: StateDir, id: PaneId) -> Option<RecoveredState> {
    let mut pause = FIRST_RETRY;
    loop {
        let met = connect_as_server(&places, &id).await;
        // After the keeper was asked: what it wrote before it went is on the tape by now.
        match (met, TapeReader::open(&places.tape(&id))) {
            (Ok((wire, welcome)), Ok(tape)) => {
                return Some(RecoveredState::Alive(keeper_link::start(
                    wire,
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

/// Comes to a keeper as its server, and waits for its welcome.
async fn connect_as_server(places: &StateDir, id: &PaneId) -> io::Result<(KeeperConn, Welcome)> {
    let mut wire = KeeperConn::from_stream(UnixStream::connect(places.socket(id)).await?)?;
    wire.queue(&ToKeeper::Hello(Hello { version: VERSION, role: ClientRole::Server }));
    let welcome = await_welcome(&mut wire).await;
    welcome.map(|welcome| (wire, welcome)).map_err(|_| ErrorKind::UnexpectedEof.into())
}

/// Whether nobody listens at a socket.
fn is_not_listening(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

/// Whether this is about the keeper. It is not if we had no means to ask, and a full queue is of a keeper that lives.
fn is_no_answer(error: &io::Error) -> bool {
    let means = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    !means.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// What a pane is without a keeper and without a tape that can be read.
fn unreadable(id: &PaneId, error: &tape::Error) -> Option<RecoveredState> {
    match error {
        tape::Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => None,
        error => {
            tracing::warn!(pane = %id, %error, "the output of a pane cannot be read");
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
    use paned_model::frame::{FrameMessage as _, FromKeeper};
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::UnixListener;

    use super::*;

    /// A pane `a` in a state folder, whose keeper is this process.
    fn kept(state: &Path) -> (StateDir, PaneId, TapeWriter) {
        let (places, id) = (StateDir::new(state), "a".parse().unwrap());
        places.make(&id, "{}").unwrap();
        let tape = TapeWriter::create(&places.tape(&id), MIN_CAPACITY, Time(1)).unwrap();
        (places, id, tape)
    }

    async fn found(places: &StateDir) -> RecoveredState {
        let mut found = recover_all(places).await.unwrap();
        assert_eq!(found.len(), 1);
        found.remove(0).state
    }

    #[tokio::test]
    async fn a_keeper_that_lives_is_not_lost_though_its_socket_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (places, id, tape) = kept(folder.path());
        let RecoveredState::Unresponsive(silent) = found(&places).await else {
            panic!("its keeper lives")
        };
        assert_eq!(silent.keeper, Some(std::process::id()));
        assert!(silent.output.is_some());
        drop(tape);
        assert!(matches!(silent.pending.await, RecoveredState::Lost(Some(_))));
        assert!(places.tape(&id).exists());
    }

    #[tokio::test]
    async fn a_keeper_that_lives_is_found_though_the_record_of_its_pane_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (places, id, tape) = kept(folder.path());
        fs::remove_file(places.record(&id)).unwrap();
        let RecoveredState::Unresponsive(silent) = found(&places).await else {
            panic!("its keeper lives")
        };
        drop((silent, tape));
        // What is over is rubbish without its record.
        assert!(recover_all(&places).await.unwrap().is_empty());
        assert!(!places.pane_dir(&id).exists());
    }

    #[tokio::test]
    async fn a_pane_is_lost_if_somebody_else_has_its_keepers_number() {
        let folder = tempfile::tempdir().unwrap();
        let (places, id, tape) = kept(folder.path());
        drop((tape, UnixListener::bind(places.socket(&id)).unwrap()));
        assert!(matches!(found(&places).await, RecoveredState::Lost(Some(_))));
    }

    #[tokio::test]
    async fn a_keeper_without_room_is_tried_until_it_has_some() {
        let folder = tempfile::tempdir().unwrap();
        let (places, id, _tape) = kept(folder.path());
        let listener = UnixListener::bind(places.socket(&id)).unwrap();
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
                typed: None,
                served: None,
                ahead: false,
                frames: None,
                guarded: None,
            };
            let mut word = Vec::new();
            FromKeeper::Welcome(welcome).encode(&mut word);
            server.write_all(&word).await.unwrap();
            server
        };
        let (state, _server) = tokio::join!(found(&places), keeper);
        assert!(matches!(state, RecoveredState::Alive(_)), "{state:?}");
    }
}
