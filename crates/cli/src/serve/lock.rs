//! The lock on a state folder: two servers on one folder would both believe that its panes are
//! theirs.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use paned_model::{Code, Refusal};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;

use crate::state_folder::StateFolder;

/// A killed server holds its lock until the system has torn down its process.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// Held as long as this value lives, also through `exec`; the system releases it when the process
/// dies.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// When another server holds it; the message names that server.
    pub(crate) fn take(state: &StateFolder) -> Result<Self, Refusal> {
        let lock = Self::open(state)?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        while !lock.try_hold() {
            if deadline < Instant::now() {
                return Err(held(state));
            }
            sleep(Duration::from_millis(10));
        }
        Ok(lock)
    }

    /// The lock that the previous program handed over.
    pub(super) fn inherited(fd: OwnedFd) -> Self {
        Self(fd.into())
    }

    /// Whether no server holds the lock.
    pub(crate) fn is_free(state: &StateFolder) -> bool {
        // Without the file no server can hold it.
        File::open(state.lock())
            .map_or(true, |file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok())
    }

    fn open(state: &StateFolder) -> Result<Self, Refusal> {
        let mut open = OpenOptions::new();
        let file = open.create(true).truncate(false).write(true).mode(0o600).open(state.lock());
        file.map(Self).map_err(|error| {
            Refusal::internal(format!("cannot open {}: {error}", state.lock().display()))
        })
    }

    fn try_hold(&self) -> bool {
        flock(&self.0, FlockOperation::NonBlockingLockExclusive).is_ok()
    }
}

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn held(state: &StateFolder) -> Refusal {
    let folder = state.folder().display();
    let advice = "stop it with `paned server stop`, or choose another folder with `--state-dir`";
    match state.server_info() {
        Some(info) => {
            let pid = info.pid;
            let url = &info.url;
            let sentence =
                format!("a paned server (pid {pid}, {url}) already uses {folder}; {advice}");
            Refusal::new(Code::Conflict, sentence).with_details(json!({ "pid": pid, "url": url }))
        }
        None => Refusal::new(
            Code::Conflict,
            format!("another paned server already uses {folder}; {advice}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(dir.path().to_owned());
        let first = Lock::take(&state).unwrap();
        assert!(!Lock::is_free(&state));
        assert_eq!(Lock::take(&state).unwrap_err().code, Code::Conflict);
        drop(first);
        assert!(Lock::is_free(&state));
        Lock::take(&state).unwrap();
    }
}
