//! The WebSocket as a client meets it.

pub(crate) mod client;
mod endings;
mod entry;
mod flow;
mod messages;
mod output;
pub(crate) mod ring;
