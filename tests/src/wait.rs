//! Waits for what no event reports, by polling.

use std::time::{Duration, Instant};

use crate::WAIT_TIMEOUT;

/// How long between two polls.
const BETWEEN: Duration = Duration::from_millis(5);

/// Polls until there is an answer.
#[track_caller]
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(WAIT_TIMEOUT, what, look)
}

/// Polls until there is an answer, for so long.
#[track_caller]
pub fn wait_within<T>(within: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + within;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "never {what}, in {within:?}");
        std::thread::sleep(BETWEEN);
    }
}
