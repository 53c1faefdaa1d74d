//! The face as anybody meets it: a real listener over a real kernel, with panes in memory.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod actions;
mod client;
mod documents;
mod doors;
mod endings;
mod events;
mod house;
mod limits;
mod walls;
mod who;
mod ws;
