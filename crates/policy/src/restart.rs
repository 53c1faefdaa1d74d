//! Decides whether a program that has ended is started again, and when.

use std::time::Duration;

use paned_model::PaneRestartPolicy;

/// The pause before the first restart; it doubles with each further one in a row.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// The longest pause.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// After a run of this length the pauses start again at [`FIRST_DELAY`].
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// How a run of a program ended, as far as a restart depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// It returned 0.
    Success,
    /// It returned another code, a signal ended it, its keeper died, or it could not be started.
    Failure,
    /// It was ended through paned: by a user or by its time limit.
    Killed,
}

/// What is done after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartDecision {
    /// Nothing.
    Done,
    /// It is started again after a pause, the `attempt`th time in a row.
    Restart {
        /// How many restarts in a row this makes.
        attempt: u32,
        /// The pause.
        delay: Duration,
    },
    /// It has failed too often.
    GiveUp {
        /// How many restarts in a row there were.
        attempts: u32,
    },
}

/// What is done after a run that ended like this, took this long and was the `attempt`th restart in
/// a row (0 for the first start).
#[must_use]
pub fn decide(
    policy: PaneRestartPolicy,
    end: RunEnd,
    attempt: u32,
    lasted: Duration,
) -> RestartDecision {
    let limit = match (policy, end) {
        (PaneRestartPolicy::No, _) | (_, RunEnd::Killed) => return RestartDecision::Done,
        (PaneRestartPolicy::OnFailure { .. }, RunEnd::Success) => return RestartDecision::Done,
        (PaneRestartPolicy::OnFailure { limit }, RunEnd::Failure) => limit,
        (PaneRestartPolicy::Always, RunEnd::Success | RunEnd::Failure) => None,
    };
    let attempts = if lasted < STABLE_AFTER { attempt } else { 0 };
    if limit.is_some_and(|limit| limit <= attempts) {
        return RestartDecision::GiveUp { attempts };
    }
    let factor = 1_u32.checked_shl(attempts.min(16)).unwrap_or(u32::MAX);
    let delay = FIRST_DELAY.saturating_mul(factor).min(MAX_DELAY);
    RestartDecision::Restart { attempt: attempts.saturating_add(1), delay }
}

#[cfg(test)]
mod tests {
    use super::RunEnd::{Failure, Killed, Success};
    use super::*;

    /// `done`, `give up after 5`, or `1 in 1s`.
    fn decision(policy: &str, end: RunEnd, attempt: u32, lasted: u64) -> String {
        let policy = policy.parse().unwrap();
        match decide(policy, end, attempt, Duration::from_secs(lasted)) {
            RestartDecision::Done => "done".to_owned(),
            RestartDecision::GiveUp { attempts } => format!("give up after {attempts}"),
            RestartDecision::Restart { attempt, delay } => format!("{attempt} in {delay:?}"),
        }
    }

    #[test]
    fn the_policy_and_the_end_decide() {
        for (policy, end, expected) in [
            ("no", Failure, "done"),
            ("on-failure", Success, "done"),
            ("on-failure", Failure, "1 in 1s"),
            ("on-failure", Killed, "done"),
            ("always", Success, "1 in 1s"),
            ("always", Failure, "1 in 1s"),
            ("always", Killed, "done"),
        ] {
            assert_eq!(decision(policy, end, 0, 0), expected, "{policy} {end:?}");
        }
    }

    #[test]
    fn the_pause_doubles_up_to_a_minute() {
        let pauses: Vec<_> =
            (0..9).map(|attempt| decision("always", Failure, attempt, 1)).collect();
        let expected = ["1 in 1s", "2 in 2s", "3 in 4s", "4 in 8s", "5 in 16s", "6 in 32s"];
        assert_eq!(pauses[..6], expected);
        assert_eq!(pauses[6..], ["7 in 60s", "8 in 60s", "9 in 60s"]);
        assert_eq!(decision("always", Failure, u32::MAX, 1), format!("{} in 60s", u32::MAX));
    }

    #[test]
    fn a_long_run_starts_the_count_again() {
        assert_eq!(decision("on-failure:5", Failure, 5, 59), "give up after 5");
        assert_eq!(decision("on-failure:5", Failure, 5, 60), "1 in 1s");
        assert_eq!(decision("on-failure:5", Failure, 4, 0), "5 in 16s");
    }
}
