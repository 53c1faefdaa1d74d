//! A wrapper that polls a future or stream only if it was woken.
//!
//! A task that waits for several futures is woken by one of them and polls them all. A WebSocket's
//! task is woken several times for every key that is typed, and each time it would poll whether its
//! grant was revoked and whether there is more to read. Those polls cost more than reading the key.
//! Here a future that was not woken is known to be pending still.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::{FutureExt, Stream, StreamExt};

/// A future or a stream that is polled only if it was woken.
pub(crate) struct PollOnWake<T> {
    inner: T,
    flag: Arc<WakeFlag>,
    /// Sets the flag and wakes the task.
    flag_waker: Waker,
    /// The task that polled last, which is the one that the flag wakes.
    task: Waker,
}

struct WakeFlag {
    is_woken: AtomicBool,
    task: Mutex<Waker>,
}

impl<T> PollOnWake<T> {
    /// Wraps a future or stream; it is polled once, and then whenever it was woken.
    pub(crate) fn new(inner: T) -> Self {
        let task = Waker::noop().clone();
        let flag =
            Arc::new(WakeFlag { is_woken: AtomicBool::new(true), task: Mutex::new(task.clone()) });
        Self { inner, flag_waker: Waker::from(flag.clone()), flag, task }
    }

    fn poll_with<R>(
        &mut self,
        cx: &Context<'_>,
        poll: impl FnOnce(&mut T, &mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        // Before the flag is read: a wake after that read then wakes the right task.
        if !self.task.will_wake(cx.waker()) {
            self.flag.lock().clone_from(cx.waker());
            self.task.clone_from(cx.waker());
        }
        if !self.flag.is_woken.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        // Before the poll: a wake during or after the poll is seen next time.
        self.flag.is_woken.swap(false, Ordering::SeqCst);
        let result = poll(&mut self.inner, &mut Context::from_waker(&self.flag_waker));
        if result.is_ready() {
            // There may be more items, and a stream that returned one need not wake for the next.
            self.flag.is_woken.store(true, Ordering::SeqCst);
        }
        result
    }
}

impl<F: Future + Unpin> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.poll_with(cx, FutureExt::poll_unpin)
    }
}

impl<S: Stream + Unpin> Stream for PollOnWake<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.poll_with(cx, StreamExt::poll_next_unpin)
    }
}

impl WakeFlag {
    fn lock(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        self.lock().wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use futures_util::stream;
    use tokio::sync::{mpsc, oneshot};
    use tokio::task::yield_now;
    use tokio::time::timeout;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A task that counts how often it is woken.
    fn task() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (count.clone(), Waker::from(count))
    }

    /// A future that never completes; it records its polls and the last waker.
    #[derive(Default)]
    struct Never {
        polls: usize,
        waker: Option<Waker>,
    }

    impl Future for Never {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            self.polls += 1;
            self.waker = Some(cx.waker().clone());
            Poll::Pending
        }
    }

    #[test]
    fn it_is_asked_once_and_then_once_for_each_time_it_was_woken() {
        let ((woken, task), mut never) = (task(), PollOnWake::new(Never::default()));
        for round in 1..4 {
            for _ in 0..3 {
                assert!(never.poll_unpin(&mut Context::from_waker(&task)).is_pending());
                assert_eq!(never.inner.polls, round);
            }
            assert_eq!(woken.0.load(Ordering::SeqCst), round - 1);
            never.inner.waker.as_ref().unwrap().wake_by_ref();
            assert_eq!(woken.0.load(Ordering::SeqCst), round);
        }
    }

    #[test]
    fn the_task_that_asked_last_is_woken() {
        let ((first, one), (second, two)) = (task(), task());
        let mut never = PollOnWake::new(Never::default());
        for waker in [&one, &two] {
            assert!(never.poll_unpin(&mut Context::from_waker(waker)).is_pending());
        }
        never.inner.waker.take().unwrap().wake();
        let counts = [&first, &second].map(|count| count.0.load(Ordering::SeqCst));
        assert_eq!((counts, never.inner.polls), ([0, 1], 1));
    }

    #[test]
    fn who_is_woken_while_asked_is_asked_again() {
        let ((woken, task), mut polls) = (task(), 0);
        let mut itself = PollOnWake::new(poll_fn(|cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        for _ in 0..3 {
            assert!(itself.poll_unpin(&mut Context::from_waker(&task)).is_pending());
        }
        drop(itself);
        assert_eq!((polls, woken.0.load(Ordering::SeqCst)), (3, 3));
    }

    #[tokio::test]
    async fn a_stream_is_asked_as_long_as_it_has_something() {
        let stream = PollOnWake::new(stream::iter(0..100));
        assert_eq!(stream.collect::<Vec<_>>().await, (0..100).collect::<Vec<_>>());
    }

    /// Polls beside a future that wakes the task at every turn, as a socket's session does.
    async fn beside_noise<T>(future: impl Future<Output = T>) -> T {
        let noise = async {
            for _ in 0..3 {
                yield_now().await;
            }
            pending::<()>().await;
        };
        let both = async {
            tokio::select! { found = future => found, () = noise => unreachable!() }
        };
        timeout(Duration::from_secs(10), both).await.expect("a wake was missed")
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_others_do_is_never_missed() {
        for _ in 0..10_000 {
            let (done, outcome) = oneshot::channel();
            let waiting = tokio::spawn(beside_noise(PollOnWake::new(outcome)));
            let doing = tokio::spawn(async move { done.send(7) });
            assert_eq!(waiting.await.unwrap(), Ok(7));
            doing.await.unwrap().unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_of_a_stream_is_missed() {
        let (sender, mut receiver) = mpsc::channel(2);
        tokio::spawn(async move {
            for number in 0..20_000 {
                sender.send(number).await.unwrap();
            }
        });
        let stream = poll_fn(move |cx| receiver.poll_recv(cx));
        let mut stream = PollOnWake::new(
            stream::unfold(stream, async |mut stream| {
                let next = (&mut stream).await;
                next.map(|number| (number, stream))
            })
            .boxed(),
        );
        for number in 0..20_000 {
            assert_eq!(beside_noise(stream.next()).await, Some(number));
        }
        assert_eq!(beside_noise(stream.next()).await, None);
    }
}
