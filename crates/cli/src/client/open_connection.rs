//! The connection by which a command has found that a server runs. Its first request goes over it.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How old it may be: the server closes connections without a request.
const MAX_AGE: Duration = Duration::from_secs(2);

/// A connection that was opened ahead of the first request. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenConnection(Arc<Mutex<Option<(UnixStream, Instant)>>>);

impl OpenConnection {
    /// Keeps a connection for the next request.
    pub(crate) fn put(&self, connection: UnixStream) {
        *self.lock() = Some((connection, Instant::now()));
    }

    /// The connection, once.
    pub(super) fn take(&self) -> Option<UnixStream> {
        let taken = self.lock().take();
        taken.filter(|(_, opened)| opened.elapsed() < MAX_AGE).map(|(connection, _)| connection)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(UnixStream, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_used_once() {
        let open = OpenConnection::default();
        assert!(open.take().is_none());
        open.put(UnixStream::pair().unwrap().0);
        assert!(open.clone().take().is_some());
        assert!(open.take().is_none());
    }
}
