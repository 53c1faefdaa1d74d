//! How long an action waits at most.

use std::time::Duration;

use paned_model::Refusal;

/// A day, in milliseconds.
pub(super) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// As long as was asked for, or as long as usual, in milliseconds.
///
/// # Errors
/// When nothing waits that long.
pub(super) fn wait_limit(asked: Option<u64>, usual: u64, most: u64) -> Result<Duration, Refusal> {
    check_millis("timeoutMs", asked, most)?;
    Ok(Duration::from_millis(asked.unwrap_or(usual)))
}

/// Refuses a time that nothing keeps to.
pub(super) fn check_millis(name: &str, asked: Option<u64>, most: u64) -> Result<(), Refusal> {
    if asked.is_some_and(|asked| most < asked) {
        return Err(Refusal::invalid(format!("`{name}` goes up to {most}")));
    }
    Ok(())
}
