//! Limits how often something is published; the last value is never lost. Time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// Holds back a value that comes too soon after the last one.
#[derive(Debug)]
pub(crate) struct Throttle<T> {
    every: Duration,
    emitted_at: Option<Instant>,
    waiting: Option<T>,
}

impl<T> Throttle<T> {
    pub(crate) fn new(every: Duration) -> Self {
        Self { every, emitted_at: None, waiting: None }
    }

    /// A new value, in place of an older one that still waits.
    pub(crate) fn push(&mut self, value: T) {
        self.waiting = Some(value);
    }

    /// When a value can be published.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let due_at = self.emitted_at.map(|at| at + self.every);
        self.waiting.as_ref().map(|_| due_at.unwrap_or_else(Instant::now))
    }

    /// The value to publish now.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<T> {
        if self.emitted_at.is_some_and(|at| now < at + self.every) {
            return None;
        }
        let value = self.waiting.take()?;
        self.emitted_at = Some(now);
        Some(value)
    }

    /// The waiting value, whatever the time: nothing comes after.
    pub(crate) fn flush(&mut self) -> Option<T> {
        self.waiting.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is a value in one step of 100 ms, `.` is none; the result is what is published
    /// in each step.
    #[track_caller]
    fn check(news: &str, told: &str) {
        let (mut throttle, start) = (Throttle::new(Duration::from_millis(300)), Instant::now());
        let step = |(n, letter): (u32, char)| {
            if letter != '.' {
                throttle.push(letter);
            }
            throttle.tick(start + Duration::from_millis(100) * n).unwrap_or('.')
        };
        let got: String = (0..).zip(news.chars()).map(step).collect();
        assert_eq!(got, told);
    }

    #[test]
    fn the_first_is_told_at_once_and_the_last_is_never_lost() {
        check("a....", "a....");
        check("abc..", "a..c.");
        check("ab.....", "a..b...");
        check("abcdefgh..", "a..d..g..h");
    }
}
