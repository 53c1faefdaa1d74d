//! A moment, in milliseconds since 1970, written as RFC 3339 in JSON.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// Milliseconds from `earlier` to this moment; zero when it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
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
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let moment: Timestamp = text.parse().map_err(de::Error::custom)?;
        u64::try_from(moment.as_millisecond()).map(Time).map_err(de::Error::custom)
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
    fn the_end_of_time_does_not_panic() {
        assert!(Time(u64::MAX).to_string().starts_with("9999-"));
    }
}
