//! When a program that failed is started again, and when it is not. A value.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Failures within [`WINDOW`] after which a program stays down.
const LIMIT: usize = 5;
const WINDOW: Duration = Duration::from_secs(300);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A program that has run for so long begins with the first pause again.
const SETTLED: Duration = Duration::from_secs(60);

/// The failures of one program.
#[derive(Default)]
pub(crate) struct FailureLog {
    recent: VecDeque<Instant>,
    /// Failures in a row, each soon after the start.
    in_row: u32,
}

/// What to do after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// Start it again after this pause.
    Restart(Duration),
    /// It failed too often.
    GiveUp,
}

impl FailureLog {
    /// A failure that does not end the program. Returns whether there were too many.
    pub(crate) fn note(&mut self, now: Instant) -> bool {
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|at| *at + WINDOW <= now) {
            self.recent.pop_front();
        }
        LIMIT <= self.recent.len()
    }

    /// The program ended, and had run for this long.
    pub(crate) fn end(&mut self, now: Instant, ran: Duration) -> AfterFailure {
        if SETTLED <= ran {
            self.in_row = 0;
        }
        self.in_row += 1;
        if self.note(now) {
            return AfterFailure::GiveUp;
        }
        let doubled = FIRST_PAUSE * 2_u32.saturating_pow((self.in_row - 1).min(16));
        AfterFailure::Restart(doubled.min(LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Failures at these seconds, each after a run of so many; the pauses in seconds, or `-`.
    #[track_caller]
    fn check(failures: &[(u64, u64)], expect: &str) {
        let start = Instant::now();
        let mut log = FailureLog::default();
        let seconds = Duration::from_secs;
        let after =
            failures.iter().map(|(at, ran)| match log.end(start + seconds(*at), seconds(*ran)) {
                AfterFailure::Restart(pause) => pause.as_secs().to_string(),
                AfterFailure::GiveUp => "-".to_owned(),
            });
        assert_eq!(after.collect::<Vec<_>>().join(" "), expect);
    }

    #[test]
    fn pauses_double_until_it_gives_up() {
        check(&[(0, 0), (1, 0), (3, 0), (7, 0), (15, 0)], "1 2 4 8 -");
    }

    #[test]
    fn failures_that_are_far_apart_do_not_add_up() {
        check(&[(0, 0), (99, 50), (198, 50), (297, 50), (396, 50), (495, 50)], "1 2 4 8 16 30");
        check(&[(0, 0), (99, 60), (198, 60), (297, 60)], "1 1 1 1");
    }
}
