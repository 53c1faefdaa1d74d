//! The WebSocket as a client meets it.

mod client;
mod endings;
mod entry;
mod flow;
mod messages;
mod output;
mod ring;
