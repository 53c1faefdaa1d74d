//! Notices a client that says nothing any more, and when to try again. Values only: the clock is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// So long may it be quiet before it is asked whether it is there.
const QUIET: Duration = Duration::from_millis(700);
/// So long may it owe an answer without a word. With [`QUIET`] less than two seconds.
const REPLY_TIMEOUT: Duration = Duration::from_millis(1100);
const MIN_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Watches one connection.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// When it last spoke.
    heard: Instant,
    /// Since when it owes an answer.
    owes: Option<Instant>,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchdogVerdict {
    /// Nothing.
    Healthy,
    /// Ask it something.
    Ping,
    /// Give it up.
    Dead,
}

impl Watchdog {
    pub(super) fn new(now: Instant) -> Self {
        Self { heard: now, owes: None }
    }

    /// It said something; `owes` says whether it still has something to answer.
    pub(super) fn heard(&mut self, now: Instant, owes: bool) {
        self.heard = now;
        self.owes = owes.then_some(now);
    }

    /// It was asked something.
    pub(super) fn asked(&mut self, now: Instant) {
        self.owes.get_or_insert(now);
    }

    /// When to call [`Watchdog::tick`] next.
    pub(super) fn deadline(&self) -> Instant {
        self.owes.map_or(self.heard + QUIET, |since| since + REPLY_TIMEOUT)
    }

    pub(super) fn tick(&self, now: Instant) -> WatchdogVerdict {
        match self.owes {
            _ if now < self.deadline() => WatchdogVerdict::Healthy,
            Some(_) => WatchdogVerdict::Dead,
            None => WatchdogVerdict::Ping,
        }
    }
}

/// How long to wait before the next try.
#[derive(Debug)]
pub(super) struct RetryBackoff(Duration);

impl Default for RetryBackoff {
    fn default() -> Self {
        Self(MIN_BACKOFF)
    }
}

impl RetryBackoff {
    /// The pause now; the next is twice as long.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (2 * pause).min(MAX_BACKOFF);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn silence_is_asked_about_and_then_given_up() {
        let start = Instant::now();
        let mut dog = Watchdog::new(start);
        assert_eq!(dog.tick(start), WatchdogVerdict::Healthy);
        assert_eq!(dog.tick(start + QUIET), WatchdogVerdict::Ping);
        dog.asked(start + QUIET);
        dog.asked(start + QUIET + REPLY_TIMEOUT / 2);
        assert_eq!(dog.tick(dog.deadline() - Duration::from_millis(1)), WatchdogVerdict::Healthy);
        assert_eq!(dog.tick(dog.deadline()), WatchdogVerdict::Dead);
        assert!(dog.deadline() < start + Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_word_is_a_sign_of_life() {
        let start = Instant::now();
        let mut dog = Watchdog::new(start);
        dog.asked(start);
        dog.heard(start + REPLY_TIMEOUT, true);
        assert_eq!(dog.tick(start + REPLY_TIMEOUT), WatchdogVerdict::Healthy);
        assert_eq!(dog.tick(start + 2 * REPLY_TIMEOUT), WatchdogVerdict::Dead);
        dog.heard(start + 2 * REPLY_TIMEOUT, false);
        assert_eq!(dog.tick(start + 2 * REPLY_TIMEOUT + QUIET), WatchdogVerdict::Ping);
    }

    #[test]
    fn pauses_grow_to_an_end() {
        let mut pause = RetryBackoff::default();
        let pauses: Vec<u128> = (0..8).map(|_| pause.next().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }
}
