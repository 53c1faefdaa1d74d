//! A future that is polled again at once when it wakes itself.
//!
//! A task that wakes itself while it runs is put at the end of its thread's queue, and a second
//! thread is woken to share the queue. Waking a thread costs as much as a whole answer, and the
//! parts of one connection wake each other for nearly every request: one asks for a body, one
//! finishes an action. So do the parts of a pane for all that it prints. Here such a wake is only
//! another poll.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// How often to poll in a row; after that the other tasks have their turn.
const MAX_POLLS: usize = 8;

/// Not being polled; a wake wakes the task.
const IDLE: u8 = 0;
/// Being polled; the poll loop will see a wake.
const POLLING: u8 = 1;
/// Woken.
const WOKEN: u8 = 2;

/// A future that is polled again at once when it wakes itself.
pub struct SelfWake<F> {
    future: Pin<Box<F>>,
    shared: Arc<SelfWakeState>,
    waker: Waker,
}

struct SelfWakeState {
    state: AtomicU8,
    task: AtomicWaker,
}

impl<F> SelfWake<F> {
    /// The same future, polled again whenever it wakes itself.
    pub fn new(future: F) -> Self {
        let shared =
            Arc::new(SelfWakeState { state: AtomicU8::new(IDLE), task: AtomicWaker::new() });
        let waker = Waker::from(shared.clone());
        Self { future: Box::pin(future), shared, waker }
    }
}

impl<F: Future> Future for SelfWake<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { future, shared, waker } = self.get_mut();
        shared.task.register(cx.waker());
        let mut inner = Context::from_waker(waker);
        for _ in 0..MAX_POLLS {
            shared.state.store(POLLING, Ordering::SeqCst);
            if let Poll::Ready(output) = future.as_mut().poll(&mut inner) {
                return Poll::Ready(output);
            }
            if shared.finish_poll() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl SelfWakeState {
    /// Ends a poll; false if there was a wake during it.
    fn finish_poll(&self) -> bool {
        self.state.compare_exchange(POLLING, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

impl Wake for SelfWakeState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::SeqCst) == IDLE {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    struct CountingWaker(AtomicUsize);

    impl Wake for CountingWaker {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A future that wakes itself `wakes` times; checks how often it is polled and its task woken
    /// in the first poll of the task.
    #[track_caller]
    fn check(wakes: usize, looks: usize, woken: usize) {
        let (count, mut looked) = (Arc::new(CountingWaker(AtomicUsize::new(0))), 0);
        let itself = poll_fn(|cx| {
            looked += 1;
            if looked <= wakes {
                cx.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        let waker = Waker::from(count.clone());
        let polled = Pin::new(&mut SelfWake::new(itself)).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        assert_eq!((looked, count.0.load(Ordering::SeqCst)), (looks, woken));
    }

    #[test]
    fn who_wakes_itself_is_looked_at_again_without_a_turn() {
        check(0, 1, 0);
        check(1, 2, 0);
        check(MAX_POLLS - 1, MAX_POLLS, 0);
    }

    #[test]
    fn who_does_so_without_end_lets_others_have_a_turn() {
        check(MAX_POLLS, MAX_POLLS, 1);
        check(usize::MAX, MAX_POLLS, 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_others_do_is_never_missed() {
        for _ in 0..10_000 {
            let (done, outcome) = oneshot::channel();
            let waiting = tokio::spawn(SelfWake::new(outcome));
            let doing = tokio::spawn(async move { done.send(7) });
            let waited = timeout(Duration::from_secs(10), waiting).await;
            assert_eq!(waited.unwrap().unwrap(), Ok(7));
            doing.await.unwrap().unwrap();
        }
    }
}
