//! Tests of the server as a client uses it: a real listener over a real kernel, with panes in
//! memory.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod access_control;
mod actions;
mod auth;
mod client;
mod compat;
mod documents;
mod events;
mod limits;
mod shutdown;
mod test_server;
mod ws;
