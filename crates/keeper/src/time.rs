//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use paned_model::Time;

/// The time now.
#[must_use]
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(since.as_millis().try_into().unwrap_or(u64::MAX))
}
