//! Decisions: what agents are doing, who may do what, which requests are accepted, and where panes
//! are shown.
//!
//! Pure: values in, verdicts out. Nothing here uses a runtime, a file, a socket, a process or a
//! clock.
#![forbid(unsafe_code)]

pub mod agent;
pub mod approval;
pub mod conversation;
pub mod delivery;
pub mod evict;
pub mod guard;
pub mod interactive;
pub mod layout;
pub mod names;
pub mod notify;
pub mod permissions;
pub mod permit;
pub mod rate;
pub mod restart;
pub mod transcript;
