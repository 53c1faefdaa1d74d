//! The open sockets, and how to wait until they have sent all events so far.
//!
//! A request that ends or removes a session is answered once every socket has sent that, so that no
//! client receives messages about a session that another client knows to be gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How long to wait for the sockets. A slower one still sends everything in order, only later.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
/// How many requests may wait for one socket at once.
const MAX_WAITERS: usize = 64;

/// A request that waits for a flush. Dropped when everything before it was sent.
pub(super) type FlushWaiter = oneshot::Sender<()>;

/// The open sockets.
#[derive(Debug, Default)]
pub(super) struct PtyCompatSockets(Mutex<PtyCompatSocketTable>);

#[derive(Debug, Default)]
struct PtyCompatSocketTable {
    last: u64,
    open: BTreeMap<u64, mpsc::Sender<FlushWaiter>>,
}

/// The registration of an open socket; dropping it removes the socket.
pub(super) struct PtyCompatRegistration {
    sockets: Arc<PtyCompatSockets>,
    number: u64,
    waiters: mpsc::Receiver<FlushWaiter>,
}

impl PtyCompatSockets {
    /// Registers a socket.
    pub(super) fn register(self: &Arc<Self>) -> PtyCompatRegistration {
        let (sender, waiters) = mpsc::channel(MAX_WAITERS);
        let mut table = self.lock();
        table.last += 1;
        let number = table.last;
        table.open.insert(number, sender);
        drop(table);
        PtyCompatRegistration { sockets: self.clone(), number, waiters }
    }

    /// Waits until every socket has sent all events so far, or the time-out passes.
    pub(super) async fn wait_flushed(&self) {
        let request_flush = |socket: &mpsc::Sender<FlushWaiter>| {
            let (waiter, flushed) = oneshot::channel();
            socket.try_send(waiter).ok().map(|()| flushed)
        };
        let waits: Vec<_> = self.lock().open.values().filter_map(request_flush).collect();
        // A dropped waiter is the signal; it is also dropped when its socket ends.
        let _ = timeout(FLUSH_TIMEOUT, join_all(waits)).await;
    }

    fn lock(&self) -> MutexGuard<'_, PtyCompatSocketTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PtyCompatRegistration {
    /// The next waiter. Cancel-safe.
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
        let mut flushed = Box::pin(sockets.wait_flushed());
        assert!((&mut flushed).now_or_never().is_none());
        drop(one.next().await);
        assert!((&mut flushed).now_or_never().is_none());
        drop(other.next().await);
        assert!((&mut flushed).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_ends_or_does_not_keep_up_holds_up_nobody() {
        let sockets = Arc::new(PtyCompatSockets::default());
        sockets.wait_flushed().await;
        let gone = sockets.register();
        let mut flushed = Box::pin(sockets.wait_flushed());
        assert!((&mut flushed).now_or_never().is_none());
        drop(gone);
        assert!((&mut flushed).now_or_never().is_some());
        let _stuck = sockets.register();
        let began = Instant::now();
        sockets.wait_flushed().await;
        assert_eq!(began.elapsed(), FLUSH_TIMEOUT);
    }
}
