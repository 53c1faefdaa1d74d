//! The WebSocket as a client uses it.

mod auth;
pub(crate) mod client;
mod close;
mod flow;
mod late_joiners;
mod messages;
mod output;
pub(crate) mod trimmed_backend;
