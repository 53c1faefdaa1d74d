//! What many measurements say as one. Pure.

use std::time::Duration;

/// Times, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    sorted: Vec<Duration>,
}

impl Samples {
    /// What these rounds found together. There has to be a time in at least one of them.
    pub(crate) fn of(rounds: impl IntoIterator<Item = Vec<Duration>>) -> Self {
        let mut sorted: Vec<Duration> = rounds.into_iter().flatten().collect();
        assert!(!sorted.is_empty(), "a round measures something");
        sorted.sort();
        Self { sorted }
    }

    /// The smallest time that this part of all, in percent, does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.sorted.len() * percent).div_ceil(100);
        self.sorted[rank.saturating_sub(1)]
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn max(&self) -> Duration {
        self.percentile(100)
    }
}

/// The shortest of these: what is seen when nothing disturbs.
pub(crate) fn best(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().min().expect("there is a round")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times are milliseconds.
    #[track_caller]
    fn check(times: &[u64], percent: usize, expect: u64) {
        let times = times.iter().copied().map(Duration::from_millis).collect();
        assert_eq!(Samples::of([times]).percentile(percent), Duration::from_millis(expect));
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        check(&[5, 1, 3], 50, 3);
        check(&[4, 1, 3, 2], 50, 2);
        check(&[4, 1, 3, 2], 100, 4);
        check(&[4, 1, 3, 2], 0, 1);
        check(&(1..=100).collect::<Vec<_>>(), 95, 95);
        check(&(1..=1000).collect::<Vec<_>>(), 99, 990);
        check(&[7], 99, 7);
    }

    #[test]
    fn the_best_of_rounds_is_the_shortest() {
        let times = [3, 1, 2].map(Duration::from_millis);
        assert_eq!(best(times), Duration::from_millis(1));
    }
}
