//! The tmux client against a real tmux: private sockets in temporary folders, servers ended with each test.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod foreign;
mod hostile;
mod house;
mod losses;
mod panes;
mod people;
mod places;
mod speed;
