//! The tape, and the process that owns one pty.
//!
//! A keeper is one small process per pane. It opens the pty, starts the program, and for the rest of the
//! pane's life reads the pty into the tape, reaps the program and records how it really ended, and answers
//! its socket. It outlives every server. It links no async runtime, and is short enough to audit: `event_loop` is
//! the loop, `pane` the life, the rest one idea each.
#![expect(unsafe_code, reason = "the one room for it: mapping, forking, passing descriptors")]

mod admission;
mod core_limit;
mod drain;
mod event_loop;
pub mod fds;
mod flow_control;
pub mod fork_server;
mod input;
mod input_queue;
mod key_filter;
mod kill;
mod line_length;
pub mod memory;
mod owned_file;
mod pane;
mod pane_processes;
mod peer;
mod peer_uid;
pub mod pipe_recorder;
#[cfg(target_os = "linux")]
pub mod process;
pub mod process_watch;
pub mod pty;
mod restore;
mod signals;
mod size_lease;
mod spawn;
pub mod suspend;
pub mod tape;
mod throttle;
pub mod time;
pub mod tty_guard;

pub use peer_uid::peer_uid;
