//! The tape, and the process that owns one pty.
//!
//! A keeper is one small process per pane. It opens the pty, starts the program, and for the rest of the
//! pane's life reads the pty into the tape, reaps the program and records how it really ended, and answers
//! its socket. It outlives every server. It links no async runtime, and is short enough to audit: `keep` is
//! the loop, `pane` the life, the rest one idea each.
#![expect(unsafe_code, reason = "the one room for it: mapping, forking, passing descriptors")]

mod birth;
pub mod clock;
mod core_limit;
mod door;
mod drain;
pub mod fds;
mod flow;
pub mod guard;
mod hands;
mod input;
mod keep;
mod killing;
mod lease;
mod line;
pub mod memory;
pub mod nursery;
mod own;
mod pace;
mod pane;
mod peer;
mod peer_uid;
#[cfg(target_os = "linux")]
pub mod process;
mod procs;
pub mod pty;
mod restore;
pub mod scribe;
mod signals;
pub mod stop;
pub mod tape;
mod typing;
pub mod watched;

pub use peer_uid::peer_uid;
