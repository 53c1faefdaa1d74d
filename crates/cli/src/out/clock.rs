//! Moments as people read them: in the zone of the machine, or of `TZ`.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use paned_model::Time;

use super::units;

/// A clock in the user's zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    zone: TimeZone,
    /// Written behind every time where the user's zone is not known.
    suffix: &'static str,
    now: Time,
}

impl Clock {
    /// The zone of `TZ` or of the machine; UTC where neither is known, and then each time says so.
    pub(crate) fn local() -> Self {
        let now = paned_keeper::time::now();
        match TimeZone::try_system() {
            Ok(zone) => Self { zone, suffix: "", now },
            Err(_) => Self { zone: TimeZone::UTC, suffix: " UTC", now },
        }
    }

    /// `2026-11-18 21:03:11`.
    pub(crate) fn moment(&self, time: Time) -> String {
        self.format(time, "%Y-%m-%d %H:%M:%S")
    }

    /// The same with how long ago that was: `2026-11-18 21:03:11 (5m ago)`.
    pub(crate) fn moment_ago(&self, time: Time) -> String {
        format!("{} ({})", self.moment(time), units::ago(self.now.since(time)))
    }

    /// `21:03:11.250` today, `11-17 21:03:11.250` on another day.
    pub(crate) fn short(&self, time: Time) -> String {
        let is_today = self.zoned(time).zip(self.zoned(self.now));
        let is_today = is_today.is_some_and(|(time, now)| time.date() == now.date());
        self.format(time, if is_today { "%H:%M:%S%.3f" } else { "%m-%d %H:%M:%S%.3f" })
    }

    /// Before a line of output: short on a terminal, whole elsewhere.
    pub(crate) fn stamp(&self, time: Time, is_terminal: bool) -> String {
        match is_terminal {
            true => self.short(time),
            false => self.format(time, "%Y-%m-%d %H:%M:%S%.3f"),
        }
    }

    fn format(&self, time: Time, format: &str) -> String {
        match self.zoned(time) {
            Some(zoned) => format!("{}{}", zoned.strftime(format), self.suffix),
            None => time.to_string(),
        }
    }

    fn zoned(&self, time: Time) -> Option<Zoned> {
        let millis = i64::try_from(time.0).ok()?;
        Some(Timestamp::from_millisecond(millis).ok()?.to_zoned(self.zone.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-18 20:03:11.250 UTC.
    const THEN: Time = Time(1_795_032_191_250);

    #[test]
    fn times_are_in_the_zone_and_say_how_long_ago_they_were() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let clock = Clock { zone, suffix: "", now: Time(THEN.0 + 5 * 60_000) };
        assert_eq!(clock.moment_ago(THEN), "2026-11-18 21:03:11 (5m ago)");
        assert_eq!(clock.short(THEN), "21:03:11.250");
        let later = Clock { now: Time(THEN.0 + 86_400_000), ..clock };
        assert_eq!(later.short(THEN), "11-18 21:03:11.250");
    }

    #[test]
    fn where_the_zone_is_not_known_each_time_says_that_it_is_utc() {
        let clock = Clock { zone: TimeZone::UTC, suffix: " UTC", now: THEN };
        assert_eq!(clock.moment(THEN), "2026-11-18 20:03:11 UTC");
    }
}
