//! A rate limit as a token bucket: a number of units per second, and a burst. Pure: the time is an
//! argument.

use paned_model::Time;

/// The limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Units refilled per second.
    pub per_second: u64,
    /// The most that can be taken at once from a full bucket.
    pub burst: u64,
}

/// The state of one caller's rate limit. Counted in thousandths of a unit.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    level: u64,
    at: Time,
}

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(rate: Rate, now: Time) -> Self {
        Self { level: rate.burst * 1000, at: now }
    }

    /// Takes units. A cost above the burst is capped at a full bucket.
    ///
    /// # Errors
    /// The milliseconds until there are enough; then nothing was taken.
    pub fn take(&mut self, cost: u64, rate: Rate, now: Time) -> Result<(), u64> {
        let full = rate.burst * 1000;
        let refill = now.since(self.at).saturating_mul(rate.per_second);
        self.level = full.min(self.level.saturating_add(refill));
        self.at = now;
        let cost = cost.saturating_mul(1000).min(full);
        if self.level < cost {
            return Err((cost - self.level).div_ceil(rate.per_second.max(1)));
        }
        self.level -= cost;
        Ok(())
    }

    /// Whether it is full again, so that it need not be kept.
    #[must_use]
    pub fn is_full(&self, rate: Rate, now: Time) -> bool {
        let refill = now.since(self.at).saturating_mul(rate.per_second);
        rate.burst * 1000 <= self.level.saturating_add(refill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    /// Takes at these milliseconds; `x` is refused.
    #[track_caller]
    fn check(times: &[u64], expect: &str) {
        let mut bucket = TokenBucket::new(RATE, Time(0));
        let took = times.iter().map(|at| match bucket.take(1, RATE, Time(*at)) {
            Ok(()) => '.',
            Err(_) => 'x',
        });
        assert_eq!(took.collect::<String>(), expect, "{times:?}");
    }

    #[test]
    fn a_burst_is_allowed_and_then_so_much_a_second() {
        check(&[0, 0, 0, 0], "...x");
        check(&[0, 0, 0, 99, 100, 100], "...x.x");
        check(&[0, 0, 0, 10_000, 10_000, 10_000, 10_000], "......x");
    }

    #[test]
    fn a_refusal_says_how_long_to_wait() {
        let mut bucket = TokenBucket::new(RATE, Time(0));
        assert_eq!(bucket.take(3, RATE, Time(0)), Ok(()));
        assert_eq!(bucket.take(2, RATE, Time(50)), Err(150));
        assert_eq!(bucket.take(2, RATE, Time(200)), Ok(()));
        assert!(!bucket.is_full(RATE, Time(400)) && bucket.is_full(RATE, Time(500)));
        // A cost above the burst takes the whole bucket.
        assert_eq!(bucket.take(99, RATE, Time(500)), Ok(()));
    }
}
