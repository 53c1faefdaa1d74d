//! The processes of a pane: start, watch, suspend, kill.

pub(crate) mod core_limit;
pub(crate) mod exec_error;
#[cfg(target_os = "linux")]
pub mod identity;
pub(crate) mod kill;
pub(crate) mod pane_processes;
pub mod process_watch;
pub(crate) mod signals;
pub(crate) mod spawn;
pub mod suspend;
