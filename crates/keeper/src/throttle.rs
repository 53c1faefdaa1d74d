//! Breaks for a program that prints without end while somebody types elsewhere.
//!
//! Such a program finds room in its terminal whenever it looks, and so has a core to itself until the system's
//! clock ticks: 4 ms on many machines, in which whoever else is to run there waits, as the neighbour does that somebody
//! types into. When its terminal is not read for a moment, it waits instead, and the core is free. That costs the
//! program a fifth of its speed, so it is done only for as long as the server says that there is such a neighbour, and
//! what prints less than [`FLOOD_BYTES`] in one go never meets it.

use std::time::{Duration, Instant};

/// How much is a flood.
const FLOOD_BYTES: u64 = 4 << 20;
/// How much of a flood lies between two breaks.
const BYTES_PER_BREAK: u64 = 48 << 10;
/// After a silence as long as this, whatever comes is new.
const SILENCE: Duration = Duration::from_millis(20);
/// About as long as it takes to fill a terminal (12 KiB on Linux) at the rate at which programs print.
pub(crate) const BREAK: Duration = Duration::from_micros(130);

/// Has this process woken on time, where Linux would take 50 µs more. For after the program is started: it would inherit
/// this.
pub(crate) fn set_timer_slack() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1000));
}

/// How much was printed in one go.
pub(crate) struct FloodThrottle {
    last: Instant,
    printed: u64,
    /// What may be printed before the next break.
    left: u64,
    /// Until when there are breaks.
    until: Option<Instant>,
}

impl FloodThrottle {
    pub(crate) fn new(now: Instant) -> Self {
        Self { last: now, printed: 0, left: FLOOD_BYTES, until: None }
    }

    /// There are breaks up to this moment.
    pub(crate) fn throttle_until(&mut self, until: Instant) {
        self.until = Some(until);
    }

    fn is_throttling(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// How much may be read before the next break.
    pub(crate) fn room(&self, now: Instant) -> u64 {
        if self.is_throttling(now) { self.left.saturating_sub(self.printed) } else { u64::MAX }
    }

    /// So much was printed. Answers whether it is time for a break.
    pub(crate) fn printed(&mut self, bytes: u64, now: Instant) -> bool {
        if SILENCE <= now.saturating_duration_since(self.last) {
            *self = Self { until: self.until, ..Self::new(now) };
        }
        self.last = now;
        self.printed += bytes;
        let is_due = self.left <= self.printed;
        if is_due {
            (self.printed, self.left) = (0, BYTES_PER_BREAK);
        }
        is_due && self.is_throttling(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After so many stretches a flood is one.
    const MANY: u64 = FLOOD_BYTES.div_ceil(BYTES_PER_BREAK);
    const FAST: Duration = Duration::from_millis(1);

    /// A pace with breaks for so long.
    fn with_breaks(time: Duration) -> (FloodThrottle, Instant) {
        let now = Instant::now();
        let mut pace = FloodThrottle::new(now);
        pace.throttle_until(now + time);
        (pace, now)
    }

    /// Prints so many stretches, each so long after the last; answers how many breaks there are.
    #[track_caller]
    fn check(stretches: u64, apart: Duration, breaks: u64) {
        let (mut pace, mut now) = with_breaks(Duration::from_secs(60));
        let due = (0..stretches).filter(|_| {
            now += apart;
            pace.printed(BYTES_PER_BREAK, now)
        });
        assert_eq!(due.count() as u64, breaks);
    }

    #[test]
    fn only_a_flood_has_breaks() {
        check(MANY - 1, FAST, 0);
        check(MANY, FAST, 1);
        check(MANY + 10, FAST, 11);
    }

    #[test]
    fn what_is_silent_in_between_is_no_flood() {
        check(4 * MANY, SILENCE, 0);
        check(2 * MANY, SILENCE - FAST, 1 + MANY);
    }

    #[test]
    fn no_more_is_read_than_up_to_the_next_break() {
        let (mut pace, now) = with_breaks(FAST);
        assert_eq!(pace.room(now), FLOOD_BYTES);
        assert!(!pace.printed(FLOOD_BYTES - 1, now));
        assert_eq!(pace.room(now), 1);
        assert!(pace.printed(1, now));
        assert_eq!(pace.room(now), BYTES_PER_BREAK);
    }

    #[test]
    fn there_are_breaks_only_while_they_are_asked_for() {
        let (mut pace, now) = with_breaks(FAST);
        assert!(pace.printed(FLOOD_BYTES, now) && pace.printed(BYTES_PER_BREAK, now));
        let later = now + FAST;
        assert_eq!(pace.room(later), u64::MAX);
        assert!(!pace.printed(FLOOD_BYTES, later));
        pace.throttle_until(later + FAST);
        assert_eq!(pace.room(later), BYTES_PER_BREAK);
        assert!(pace.printed(BYTES_PER_BREAK, later), "it is a flood already");
    }
}
