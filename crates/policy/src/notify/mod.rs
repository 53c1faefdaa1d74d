//! When a person wants to be notified, and about what.
//!
//! [`NotifyRule`] is what the configuration says, [`NotifyTracker`] turns events into occurrences,
//! and [`NotifyThrottle`] decides which of them are delivered. Pure: the time is an argument.

mod rule;
mod throttle;
mod tracker;

pub use rule::{
    BadNotifyRule, NotifyChannel, NotifyRule, NotifyRules, NotifySubject, NotifyTrigger,
};
pub use throttle::{NotifyAdmission, NotifyThrottle};
pub use tracker::{NotifyFact, NotifyOccurrence, NotifyTracker};
