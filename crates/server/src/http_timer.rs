//! A clock for the library that speaks HTTP: one alarm for a connection, which is set late.
//!
//! The library sets an alarm before each request and lets it go when the head has come. To set one takes the lock that
//! all alarms share and often wakes the thread that waits for them, which costs as much as half an answer. Here the
//! alarm of a connection stays as it was set. When it rings too early, because it was meant for a request that has
//! come since, it is set anew: once in a while, however many requests there are.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::time;

/// The clock of one connection.
#[derive(Clone, Default)]
pub(crate) struct HttpTimer(Arc<Mutex<Option<Pin<Box<time::Sleep>>>>>);

/// What is waited for: a moment of the connection's.
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
        let mut set = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        let set = set.get_or_insert_with(|| Box::pin(time::sleep_until(self.deadline)));
        if self.deadline < set.deadline() {
            set.as_mut().reset(self.deadline);
        }
        ready!(set.as_mut().poll(cx));
        if set.deadline() < self.deadline {
            set.as_mut().reset(self.deadline);
            ready!(set.as_mut().poll(cx));
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

    /// An alarm that is set now rings after as long as it was set to.
    async fn check(clock: &HttpTimer, limit: Duration) {
        let begun = time::Instant::now();
        clock.sleep(limit).await;
        let rings = begun.elapsed();
        assert!(limit <= rings && rings < limit + Duration::from_millis(2), "{rings:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_alarm_rings_at_its_own_time() {
        let clock = HttpTimer::default();
        for limit in [LIMIT, LIMIT, LIMIT / 2, LIMIT * 3, LIMIT] {
            check(&clock, limit).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_was_let_go_does_not_ring_for_the_next() {
        let clock = HttpTimer::default();
        assert!(clock.sleep(LIMIT).now_or_never().is_none());
        time::advance(PAUSE).await;
        check(&clock, LIMIT).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_one_does_not_wait_for_one_that_was_let_go() {
        let clock = HttpTimer::default();
        assert!(clock.sleep(LIMIT).now_or_never().is_none());
        check(&clock, PAUSE).await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_stays_set_for_the_next_request() {
        let clock = HttpTimer::default();
        let set = || clock.0.lock().unwrap().as_ref().map(|sleep| sleep.deadline());
        assert!(clock.sleep(LIMIT).now_or_never().is_none());
        let first = set();
        time::advance(PAUSE).await;
        assert!(clock.sleep(LIMIT).now_or_never().is_none());
        assert_eq!(set(), first);
    }
}
