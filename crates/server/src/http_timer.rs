//! A timer for hyper: one tokio timer per connection, which is reset lazily.
//!
//! hyper starts a timer before each request and drops it when the head has arrived. Registering a
//! timer takes the lock that all timers share and often wakes the thread that waits for them, which
//! costs as much as half a response. Here the timer of a connection stays registered. When it fires
//! too early, because it was set for a request that has arrived since, it is reset: once in a
//! while, however many requests there are.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::time;

/// The timer of one connection.
#[derive(Clone, Default)]
pub(crate) struct HttpTimer(Arc<Mutex<Option<Pin<Box<time::Sleep>>>>>);

/// A sleep until a deadline on the connection's timer.
struct HttpTimerSleep {
    deadline: time::Instant,
    timer: HttpTimer,
}

impl Timer for HttpTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HttpTimerSleep { deadline: deadline.into(), timer: self.clone() })
    }

    fn now(&self) -> Instant {
        time::Instant::now().into()
    }
}

impl Sleep for HttpTimerSleep {}

impl Future for HttpTimerSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut timer = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        let timer = timer.get_or_insert_with(|| Box::pin(time::sleep_until(self.deadline)));
        if self.deadline < timer.deadline() {
            timer.as_mut().reset(self.deadline);
        }
        ready!(timer.as_mut().poll(cx));
        if timer.deadline() < self.deadline {
            timer.as_mut().reset(self.deadline);
            ready!(timer.as_mut().poll(cx));
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_secs(7);

    /// A timer that starts now fires after its duration.
    async fn check(timer: &HttpTimer, limit: Duration) {
        let begun = time::Instant::now();
        timer.sleep(limit).await;
        let elapsed = begun.elapsed();
        assert!(limit <= elapsed && elapsed < limit + Duration::from_millis(2), "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_alarm_rings_at_its_own_time() {
        let timer = HttpTimer::default();
        for limit in [LIMIT, LIMIT, LIMIT / 2, LIMIT * 3, LIMIT] {
            check(&timer, limit).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_was_let_go_does_not_ring_for_the_next() {
        let timer = HttpTimer::default();
        assert!(timer.sleep(LIMIT).now_or_never().is_none());
        time::advance(PAUSE).await;
        check(&timer, LIMIT).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_one_does_not_wait_for_one_that_was_let_go() {
        let timer = HttpTimer::default();
        assert!(timer.sleep(LIMIT).now_or_never().is_none());
        check(&timer, PAUSE).await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_stays_set_for_the_next_request() {
        let timer = HttpTimer::default();
        let set = || timer.0.lock().unwrap().as_ref().map(|sleep| sleep.deadline());
        assert!(timer.sleep(LIMIT).now_or_never().is_none());
        let first = set();
        time::advance(PAUSE).await;
        assert!(timer.sleep(LIMIT).now_or_never().is_none());
        assert_eq!(set(), first);
    }
}
