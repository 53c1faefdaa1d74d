//! The tape, and the process that owns one pty.
//!
//! A keeper is one small process per pane. It opens the pty and spawns the program. Until the pane
//! ends, it reads the pty into the tape, reaps the program, records its exit status and serves
//! clients on its socket. It outlives every server. It links no async runtime and is short enough
//! to audit: `event_loop` holds the loop, `pane` the state of the pane, and every other module one
//! idea.
#![expect(unsafe_code, reason = "fork, posix_spawn, signals, inherited descriptors")]

mod admission;
mod drain;
mod event_loop;
pub mod fds;
mod flow_control;
pub mod fork_server;
pub mod input;
pub mod memory;
mod owned_file;
mod pane;
mod peer;
mod peer_uid;
pub mod pipe_recorder;
pub mod process;
pub mod process_title;
pub mod pty;
mod restore;
pub mod tape;
mod throttle;
pub mod time;

pub use peer_uid::peer_uid;
