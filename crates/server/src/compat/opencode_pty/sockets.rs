//! The sockets that are open, and how to wait until they have told what happened.
//!
//! Whoever ends or forgets a session is answered once every socket was told of that, so that nobody hears of a session
//! that another client has seen go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How long a socket is waited for. One that is slower is told in the same order, later.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
/// How many may wait for one socket at once.
const MAX_WAITERS: usize = 64;

/// Somebody who waits. Dropped when everything before it was told.
pub(super) type FlushWaiter = oneshot::Sender<()>;

/// The sockets that are open.
#[derive(Default)]
pub(crate) struct PtyCompatSockets(Mutex<PtyCompatSocketTable>);

#[derive(Default)]
struct PtyCompatSocketTable {
    last: u64,
    open: BTreeMap<u64, mpsc::Sender<FlushWaiter>>,
}

/// A socket among those that are open, until it is dropped.
pub(super) struct PtyCompatRegistration {
    sockets: Arc<PtyCompatSockets>,
    number: u64,
    waiters: mpsc::Receiver<FlushWaiter>,
}

impl PtyCompatSockets {
    /// Adds a socket.
    pub(super) fn register(self: &Arc<Self>) -> PtyCompatRegistration {
        let (sender, marks) = mpsc::channel(MAX_WAITERS);
        let mut table = self.lock();
        table.last += 1;
        let number = table.last;
        table.open.insert(number, sender);
        drop(table);
        PtyCompatRegistration { sockets: self.clone(), number, waiters: marks }
    }

    /// Waits until every socket has told what has happened by now.
    pub(super) async fn wait_flushed(&self) {
        let ask = |socket: &mpsc::Sender<FlushWaiter>| {
            let (mark, told) = oneshot::channel();
            socket.try_send(mark).ok().map(|()| told)
        };
        let waits: Vec<_> = self.lock().open.values().filter_map(ask).collect();
        // A mark that is dropped is the answer, and also what becomes of it where a socket ends.
        let _ = timeout(FLUSH_TIMEOUT, join_all(waits)).await;
    }

    fn lock(&self) -> MutexGuard<'_, PtyCompatSocketTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PtyCompatRegistration {
    /// The next who waits. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<FlushWaiter> {
        self.waiters.recv().await
    }
}

impl Drop for PtyCompatRegistration {
    fn drop(&mut self) {
        self.sockets.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_socket_is_waited_for_until_it_has_told() {
        let sockets = Arc::new(PtyCompatSockets::default());
        let (mut one, mut other) = (sockets.register(), sockets.register());
        let mut told = Box::pin(sockets.wait_flushed());
        assert!((&mut told).now_or_never().is_none());
        drop(one.next().await);
        assert!((&mut told).now_or_never().is_none());
        drop(other.next().await);
        assert!((&mut told).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_ends_or_does_not_keep_up_holds_up_nobody() {
        let sockets = Arc::new(PtyCompatSockets::default());
        sockets.wait_flushed().await;
        let gone = sockets.register();
        let mut told = Box::pin(sockets.wait_flushed());
        assert!((&mut told).now_or_never().is_none());
        drop(gone);
        assert!((&mut told).now_or_never().is_some());
        let _stuck = sockets.register();
        let began = Instant::now();
        sockets.wait_flushed().await;
        assert_eq!(began.elapsed(), FLUSH_TIMEOUT);
    }
}
