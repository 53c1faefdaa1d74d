//! The tmux client against a real tmux: private sockets in temporary folders, servers killed with
//! each test.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod adopted;
mod attached_clients;
mod connection_loss;
mod hostile;
mod panes;
mod servers;
mod speed;
mod test_tmux;
