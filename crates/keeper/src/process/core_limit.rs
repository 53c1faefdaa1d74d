//! Keepers leave no core dumps: what was typed is in their memory. Programs in panes get the limit
//! that their user had.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit of the process that started us.
static ORIGINAL: OnceLock<Rlimit> = OnceLock::new();

/// Allows no core dumps of this process and of those it starts. The hard limit stays.
pub(crate) fn forbid() {
    let original = ORIGINAL.get_or_init(|| getrlimit(Resource::Core));
    let none = Rlimit { current: Some(0), maximum: original.maximum };
    let _ = setrlimit(Resource::Core, none);
}

/// Starts a program with the limit that there was before [`forbid`]. For processes with one thread.
pub(crate) fn with_original<T>(start: impl FnOnce() -> T) -> T {
    let Some(original) = ORIGINAL.get() else { return start() };
    let _ = setrlimit(Resource::Core, *original);
    let started = start();
    forbid();
    started
}
