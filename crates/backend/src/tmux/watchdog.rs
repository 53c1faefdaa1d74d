//! Detects a connection that no longer answers, and says when to retry. Values only: the clock is
//! an argument.

use std::time::Duration;

use tokio::time::Instant;

/// How long it may be silent before it is pinged.
const QUIET: Duration = Duration::from_millis(700);
/// How long it may be silent while a reply is due. With [`QUIET`] less than two seconds.
const REPLY_TIMEOUT: Duration = Duration::from_millis(1100);
const MIN_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Watches one connection.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// When it last sent something.
    heard: Instant,
    /// Since when a reply is due.
    owes: Option<Instant>,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchdogVerdict {
    /// Nothing.
    Healthy,
    /// Send a ping.
    Ping,
    /// Give up the connection.
    Dead,
}

impl Watchdog {
    pub(super) fn new(now: Instant) -> Self {
        Self { heard: now, owes: None }
    }

    /// It sent something; `owes` says whether another reply is due.
    pub(super) fn heard(&mut self, now: Instant, owes: bool) {
        self.heard = now;
        self.owes = owes.then_some(now);
    }

    /// A request was sent.
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

/// The pause before the next attempt.
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
        let mut watchdog = Watchdog::new(start);
        assert_eq!(watchdog.tick(start), WatchdogVerdict::Healthy);
        assert_eq!(watchdog.tick(start + QUIET), WatchdogVerdict::Ping);
        watchdog.asked(start + QUIET);
        watchdog.asked(start + QUIET + REPLY_TIMEOUT / 2);
        assert_eq!(
            watchdog.tick(watchdog.deadline() - Duration::from_millis(1)),
            WatchdogVerdict::Healthy
        );
        assert_eq!(watchdog.tick(watchdog.deadline()), WatchdogVerdict::Dead);
        assert!(watchdog.deadline() < start + Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_word_is_a_sign_of_life() {
        let start = Instant::now();
        let mut watchdog = Watchdog::new(start);
        watchdog.asked(start);
        watchdog.heard(start + REPLY_TIMEOUT, true);
        assert_eq!(watchdog.tick(start + REPLY_TIMEOUT), WatchdogVerdict::Healthy);
        assert_eq!(watchdog.tick(start + 2 * REPLY_TIMEOUT), WatchdogVerdict::Dead);
        watchdog.heard(start + 2 * REPLY_TIMEOUT, false);
        assert_eq!(watchdog.tick(start + 2 * REPLY_TIMEOUT + QUIET), WatchdogVerdict::Ping);
    }

    #[test]
    fn pauses_grow_to_an_end() {
        let mut pause = RetryBackoff::default();
        let pauses: Vec<u128> = (0..8).map(|_| pause.next().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }
}
