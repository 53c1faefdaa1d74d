//! A moment, in milliseconds since 1970, written as RFC 3339 in JSON.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub u64);

/// Milliseconds of a day.
const DAY: u64 = 86_400_000;
/// The last moment that the calendar supports, in any time zone.
const LAST: u64 = 253_402_207_200_999;

impl Time {
    /// Milliseconds from `earlier` to this moment; zero when it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// RFC 3339, for every moment that the calendar supports. Lists and events are full of times,
    /// so this is formatted by hand.
    fn to_rfc3339(self) -> Option<[u8; 24]> {
        if LAST < self.0 {
            return None;
        }
        let (year, month, day) = date(self.0 / DAY);
        let in_day = self.0 % DAY;
        let seconds = in_day / 1000;
        let millis = in_day % 1000;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let parts = [
            (0..4, year),
            (5..7, month),
            (8..10, day),
            (11..13, seconds / 3600),
            (14..16, seconds / 60 % 60),
            (17..19, seconds % 60),
            (20..23, millis),
        ];
        for (place, mut number) in parts {
            for digit in text[place].iter_mut().rev() {
                *digit += (number % 10) as u8;
                number /= 10;
            }
        }
        Some(text)
    }
}

/// Year, month and day of this many days after 1970-01-01. Years are counted from March on, so that
/// the leap day is the last of its year; 400 years always have the same number of days.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day = days % 146_097;
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    (year, month, day - (153 * from_march + 2) / 5 + 1)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        match Timestamp::from_millisecond(millis) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{}", Timestamp::MAX),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.to_rfc3339() {
            Some(text) => to.serialize_str(std::str::from_utf8(&text).unwrap_or_default()),
            None => to.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let moment: Timestamp = text.parse().map_err(de::Error::custom)?;
        // Nothing here is older than 1970, so that an earlier time means the same.
        Ok(Self(u64::try_from(moment.as_millisecond()).unwrap_or(0)))
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_as_rfc_3339_with_milliseconds_and_comes_back() {
        let time = Time(1_794_778_200_007);
        let text = serde_json::to_string(&time).unwrap();
        assert_eq!(text, "\"2026-11-15T21:30:00.007Z\"");
        assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), time);
    }

    #[test]
    fn a_moment_before_1970_is_the_first_one() {
        assert_eq!(serde_json::from_str::<Time>("\"0180-07-13T11:01:41Z\"").unwrap(), Time(0));
    }

    #[test]
    fn the_end_of_time_does_not_panic() {
        assert!(Time(u64::MAX).to_string().starts_with("9999-"));
    }

    #[test]
    fn days_are_written_as_a_calendar_has_it() {
        assert_eq!(Timestamp::MAX.as_millisecond().unsigned_abs(), LAST);
        // The last day is not a whole one.
        for day in (0..LAST / DAY).step_by(11) {
            let time = Time(day * DAY + day % DAY);
            let usual = time.to_rfc3339().unwrap();
            assert_eq!(std::str::from_utf8(&usual).unwrap(), time.to_string());
        }
        assert_eq!(Time(LAST + 1).to_rfc3339(), None);
        assert_eq!(Time(u64::MAX).to_rfc3339(), None);
    }
}
