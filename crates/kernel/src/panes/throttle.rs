//! Telling something often at most every so often, the last word never lost. Time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// Holds back what comes too soon after what was told before.
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

    /// News, in place of older news that still waits.
    pub(crate) fn push(&mut self, news: T) {
        self.waiting = Some(news);
    }

    /// When something can be told.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let told_at = self.emitted_at.map(|at| at + self.every);
        self.waiting.as_ref().map(|_| told_at.unwrap_or_else(Instant::now))
    }

    /// What is to be told now.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<T> {
        if self.emitted_at.is_some_and(|at| now < at + self.every) {
            return None;
        }
        let news = self.waiting.take()?;
        self.emitted_at = Some(now);
        Some(news)
    }

    /// Whatever waits, whatever the time: nothing comes after.
    pub(crate) fn flush(&mut self) -> Option<T> {
        self.waiting.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is news in one step of 100 ms, `.` is none; answers what is told in each step.
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
