//! The client of the fork server process: started on first use, restarted when it died.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use paned_keeper::fds;

use crate::SECRET_VARIABLES;

/// Starts keepers. Dropping this ends the fork server process; its keepers live on.
#[derive(Debug)]
pub struct ForkServer {
    program: PathBuf,
    args: Vec<OsString>,
    log: PathBuf,
    running: Mutex<Option<ForkServerProcess>>,
}

#[derive(Debug)]
struct ForkServerProcess {
    child: Child,
    socket: UnixStream,
}

impl ForkServer {
    /// A fork server that runs this program with these arguments. The standard error of its keepers
    /// is appended to `log`.
    #[must_use]
    pub fn new(program: PathBuf, args: Vec<OsString>, log: PathBuf) -> Self {
        Self { program, args, log, running: Mutex::new(None) }
    }

    /// Has a new keeper started with this end of a socket. Does not wait for the keeper.
    pub(super) fn send(&self, socket: &UnixStream) -> io::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = running.as_mut() {
            if fds::send(&process.socket, socket.as_fd()).is_ok() {
                return Ok(());
            }
            tracing::warn!("the fork server is gone; starting another");
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
        let process = running.insert(self.start()?);
        fds::send(&process.socket, socket.as_fd())
    }

    fn start(&self) -> io::Result<ForkServerProcess> {
        let (ours, theirs) = UnixStream::pair()?;
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.log)?;
        let mut command = Command::new(&self.program);
        for name in SECRET_VARIABLES {
            command.env_remove(name);
        }
        let child = command
            .args(&self.args)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(ForkServerProcess { child, socket: ours })
    }
}

impl Drop for ForkServerProcess {
    fn drop(&mut self) {
        // The closed socket tells it to exit; waiting for it leaves no zombie.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}
