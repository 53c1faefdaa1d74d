//! Starts the server for a command that needs one and finds none.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use paned_model::{Code, Refusal};
use rustix::fs::{FlockOperation, flock};

use super::background::launch;
use crate::client::ServerEndpoint;
use crate::context::CliContext;
use crate::out::progress::Progress;
use crate::serve::lock::Lock;
use crate::state_folder::StateFolder;

/// How long to wait for a server that another command starts.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How often to look whether it is there, and whether the start lock is free.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Starts a server if none runs, says so on standard error, and returns when it answers. It does
/// nothing where a flag or a variable names a server, or where the user has turned it off. The
/// connection to a server that runs is kept for the first request.
///
/// # Errors
/// When the server cannot be started.
pub(crate) fn ensure_running(context: &CliContext) -> Result<()> {
    if !context.starts_server()? {
        return Ok(());
    }
    let state = context.state()?;
    match connect(&state) {
        Ok(connection) => {
            context.connection.put(connection);
            return Ok(());
        }
        Err(error) if !is_absent(&error) => return Ok(()),
        Err(_) => {}
    }
    state.make()?;
    // Of many commands at once, one starts the server while the others wait here.
    let progress = Progress::start(context.out, "starting the server");
    let _start_lock = StartLock::wait(&state)?;
    if answers(&state) {
        return Ok(());
    }
    if !Lock::is_free(&state) {
        return wait_for_answer(&state);
    }
    drop(progress);
    match launch(context, &state, &[]) {
        Ok(ready) => {
            ready.print_notes(context.out)?;
            let line = format!("started the paned server (pid {}, {})", ready.pid, ready.url);
            Ok(context.out.note(line)?)
        }
        // `paned server start` was faster.
        Err(error) if is_conflict(&error) && !Lock::is_free(&state) => wait_for_answer(&state),
        Err(error) => Err(error),
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == Code::Conflict)
}

/// Whether a server accepts connections. One that cannot be reached for another reason counts, too:
/// the command itself reports that best.
fn answers(state: &StateFolder) -> bool {
    !connect(state).is_err_and(|error| is_absent(&error))
}

fn connect(state: &StateFolder) -> io::Result<UnixStream> {
    UnixStream::connect(ServerEndpoint::socket_of(state))
}

/// Whether no server listens at the socket.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn wait_for_answer(state: &StateFolder) -> Result<()> {
    wait(|| answers(state))
}

fn wait(mut is_done: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + START_TIMEOUT;
    while !is_done() {
        if deadline < Instant::now() {
            let sentence = "a paned server is starting, but does not respond; run `paned doctor`";
            return Err(Refusal::new(Code::Timeout, sentence).into());
        }
        sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Held by the one command that starts the server.
struct StartLock(#[expect(dead_code, reason = "it holds the lock until it is dropped")] File);

impl StartLock {
    fn wait(state: &StateFolder) -> Result<Self> {
        let path = state.folder().join("start.lock");
        let mut open = OpenOptions::new();
        let file = open.create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        wait(|| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())?;
        Ok(Self(file))
    }
}
