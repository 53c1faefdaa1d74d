//! Throttles a program that prints without end while a user types into another pane.
//!
//! Such a program finds space in its terminal whenever it writes, and so keeps a core until the
//! next scheduler tick: 4 ms on many machines. Other processes on that core wait for as long, among
//! them the one that the user types into. While the flooding program's terminal is not read, the
//! program blocks, and the core is free. These breaks cost the program a fifth of its speed. So
//! they happen only for as long as the server says that a user types into another pane, and a
//! program that prints less than [`FLOOD_BYTES`] in one go never gets one.

use std::time::{Duration, Instant};

/// How much output in one go is a flood.
const FLOOD_BYTES: u64 = 4 << 20;
/// How many bytes of a flood are read between two breaks.
const BYTES_PER_BREAK: u64 = 48 << 10;
/// After a silence this long, output counts as new.
const SILENCE: Duration = Duration::from_millis(20);
/// About as long as it takes to fill a terminal (12 KiB on Linux) at the rate at which programs
/// print.
pub(crate) const BREAK: Duration = Duration::from_micros(130);

/// Has the kernel wake this process on time: Linux delays timers by 50 µs by default. Call it after
/// the program is started, which would inherit the setting.
pub(crate) fn set_timer_slack() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1000));
}

/// Counts the output in one go.
pub(crate) struct FloodThrottle {
    last: Instant,
    printed: u64,
    /// How many bytes may be printed before the next break.
    left: u64,
    /// Until when the program is throttled.
    until: Option<Instant>,
}

impl FloodThrottle {
    pub(crate) fn new(now: Instant) -> Self {
        Self { last: now, printed: 0, left: FLOOD_BYTES, until: None }
    }

    /// Throttles the program up to this moment.
    pub(crate) fn throttle_until(&mut self, until: Instant) {
        self.until = Some(until);
    }

    fn is_throttling(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// How many bytes may be read before the next break.
    pub(crate) fn room(&self, now: Instant) -> u64 {
        if self.is_throttling(now) { self.left.saturating_sub(self.printed) } else { u64::MAX }
    }

    /// Counts output. Answers whether it is time for a break.
    pub(crate) fn printed(&mut self, bytes: u64, now: Instant) -> bool {
        if SILENCE <= now.saturating_duration_since(self.last) {
            *self = Self { until: self.until, ..Self::new(now) };
        }
        self.last = now;
        self.printed += bytes;
        let is_due = self.left <= self.printed;
        if is_due {
            self.printed = 0;
            self.left = BYTES_PER_BREAK;
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

    /// A throttle that is active for this long.
    fn with_breaks(time: Duration) -> (FloodThrottle, Instant) {
        let now = Instant::now();
        let mut throttle = FloodThrottle::new(now);
        throttle.throttle_until(now + time);
        (throttle, now)
    }

    /// Prints so many stretches, each so long after the last; answers how many breaks there are.
    #[track_caller]
    fn check(stretches: u64, apart: Duration, breaks: u64) {
        let (mut throttle, mut now) = with_breaks(Duration::from_secs(60));
        let due = (0..stretches).filter(|_| {
            now += apart;
            throttle.printed(BYTES_PER_BREAK, now)
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
        let (mut throttle, now) = with_breaks(FAST);
        assert_eq!(throttle.room(now), FLOOD_BYTES);
        assert!(!throttle.printed(FLOOD_BYTES - 1, now));
        assert_eq!(throttle.room(now), 1);
        assert!(throttle.printed(1, now));
        assert_eq!(throttle.room(now), BYTES_PER_BREAK);
    }

    #[test]
    fn there_are_breaks_only_while_they_are_asked_for() {
        let (mut throttle, now) = with_breaks(FAST);
        assert!(throttle.printed(FLOOD_BYTES, now) && throttle.printed(BYTES_PER_BREAK, now));
        let later = now + FAST;
        assert_eq!(throttle.room(later), u64::MAX);
        assert!(!throttle.printed(FLOOD_BYTES, later));
        throttle.throttle_until(later + FAST);
        assert_eq!(throttle.room(later), BYTES_PER_BREAK);
        assert!(throttle.printed(BYTES_PER_BREAK, later), "it is a flood already");
    }
}
