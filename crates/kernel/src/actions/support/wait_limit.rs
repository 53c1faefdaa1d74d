//! How long an action waits at most.

use std::time::Duration;

use paned_model::Refusal;

/// A day, in milliseconds.
pub(in crate::actions) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The requested time, or the default; both in milliseconds.
///
/// # Errors
/// When the requested time exceeds the maximum.
pub(in crate::actions) fn wait_limit(
    requested: Option<u64>,
    default: u64,
    max: u64,
) -> Result<Duration, Refusal> {
    check_millis("timeoutMs", requested, max)?;
    Ok(Duration::from_millis(requested.unwrap_or(default)))
}

/// Refuses a time beyond the maximum.
pub(in crate::actions) fn check_millis(
    name: &str,
    requested: Option<u64>,
    max: u64,
) -> Result<(), Refusal> {
    if requested.is_some_and(|requested| max < requested) {
        return Err(Refusal::invalid(format!("`{name}` must be at most {max}")));
    }
    Ok(())
}
