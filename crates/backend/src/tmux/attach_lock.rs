//! Lets one control client of this process attach to or leave a tmux server at a time.
//!
//! tmux 3.3a crashes, with all its panes, when a client leaves while a control client is attaching:
//! it notifies the new client before that client has a place for notifications.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// One lock for each socket, shared by all connections of this process.
static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>> =
    LazyLock::new(Mutex::default);

/// Waits for the lock of the server at this socket. Hold it until the client is attached, or until
/// its process is gone.
pub(super) async fn attach_lock(socket: &Path) -> OwnedMutexGuard<()> {
    let lock = find_lock(socket);
    lock.lock_owned().await
}

fn find_lock(socket: &Path) -> Arc<AsyncMutex<()>> {
    // A link to a socket is another name of the same server.
    let socket = socket.canonicalize().unwrap_or_else(|_| socket.to_owned());
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    locks.retain(|_, lock| 0 < lock.strong_count());
    if let Some(lock) = locks.get(&socket).and_then(Weak::upgrade) {
        return lock;
    }
    let lock = Arc::new(AsyncMutex::new(()));
    locks.insert(socket, Arc::downgrade(&lock));
    lock
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_client_attaches_to_a_server_at_a_time() {
        let first = attach_lock(Path::new("/a")).await;
        assert!(attach_lock(Path::new("/a")).now_or_never().is_none());
        assert!(attach_lock(Path::new("/b")).now_or_never().is_some());
        drop(first);
        assert!(attach_lock(Path::new("/a")).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_link_to_a_socket_has_the_lock_of_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, link) = (folder.path().join("s"), folder.path().join("link"));
        std::fs::write(&socket, "").unwrap();
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        let _held = attach_lock(&socket).await;
        assert!(attach_lock(&link).now_or_never().is_none());
    }
}
