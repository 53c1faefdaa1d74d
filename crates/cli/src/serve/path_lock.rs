//! A second lock on a state folder: on its path, outside the folder.
//!
//! Deleting the folder deletes its lock file, and a second server would find no lock. On Linux a
//! server therefore also binds an abstract socket. Other users could bind the same name, so only a
//! holder of our own user counts. Other systems have no abstract sockets, so there the lock file is
//! the only lock.

use paned_model::Refusal;

use crate::state_folder::StateFolder;

/// Held as long as this value lives.
#[derive(Debug)]
pub(crate) struct PathLock {
    #[cfg(target_os = "linux")]
    _name: Option<std::os::unix::net::UnixListener>,
}

impl PathLock {
    /// Claims the path of a folder whose lock we hold.
    ///
    /// # Errors
    /// When another server of this user holds it: its folder was deleted.
    #[cfg(target_os = "linux")]
    pub(crate) fn take(state: &StateFolder) -> Result<Self, Refusal> {
        use std::io::ErrorKind;
        use std::os::unix::net::UnixListener;
        use std::thread::sleep;
        use std::time::{Duration, Instant};

        let Some(name) = linux::name(state) else { return Ok(Self { _name: None }) };
        // The previous program, or a server that was killed, may hold it for a moment.
        let deadline = Instant::now() + Duration::from_millis(500);
        loop {
            match UnixListener::bind_addr(&name) {
                Ok(listener) => return Ok(Self { _name: Some(listener) }),
                Err(error) if error.kind() != ErrorKind::AddrInUse => {
                    tracing::warn!(%error, "cannot lock the path of the state folder");
                    return Ok(Self { _name: None });
                }
                Err(_) if deadline < Instant::now() => break,
                Err(_) => sleep(Duration::from_millis(10)),
            }
        }
        match linux::holder(&name) {
            Some(pid) => Err(linux::held(state, pid)),
            None => Ok(Self { _name: None }),
        }
    }

    /// This system has nothing to claim.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn take(_: &StateFolder) -> Result<Self, Refusal> {
        Ok(Self {})
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};

    use paned_model::{Code, Refusal};
    use rustix::net::sockopt::socket_peercred;
    use rustix::process::geteuid;
    use serde_json::json;

    use crate::state_folder::StateFolder;

    /// The abstract socket's name for a folder's path.
    pub(super) fn name(state: &StateFolder) -> Option<SocketAddr> {
        let folder = state.folder();
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let user = geteuid().as_raw();
        let hash = folder
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
            });
        SocketAddr::from_abstract_name(format!("paned/{user}/{hash:016x}")).ok()
    }

    /// The process of our own user that holds the name.
    pub(super) fn holder(name: &SocketAddr) -> Option<i32> {
        let stream = UnixStream::connect_addr(name).ok()?;
        let peer = socket_peercred(&stream).ok()?;
        (peer.uid == geteuid()).then(|| peer.pid.as_raw_nonzero().get())
    }

    pub(super) fn held(state: &StateFolder, pid: i32) -> Refusal {
        let folder = state.folder().display();
        let sentence = format!(
            "a paned server (pid {pid}) still uses the folder that was at {folder} before it was \
            deleted; stop it with `kill {pid}` and start again: its programs keep running and \
            are recovered"
        );
        Refusal::new(Code::Conflict, sentence).with_details(json!({ "pid": pid }))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use paned_model::Code;

    use super::*;

    #[test]
    fn a_path_is_claimed_once_whatever_becomes_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(dir.path().join("state"));
        std::fs::create_dir(state.folder()).unwrap();
        let first = PathLock::take(&state).unwrap();
        std::fs::remove_dir(state.folder()).unwrap();
        std::fs::create_dir(state.folder()).unwrap();
        let refusal = PathLock::take(&state).unwrap_err();
        assert_eq!(refusal.code, Code::Conflict);
        assert!(refusal.sentence.contains(&format!("pid {}", std::process::id())), "{refusal}");
        drop(first);
        PathLock::take(&state).unwrap();
    }
}
