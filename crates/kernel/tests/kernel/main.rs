//! The kernel through its public doors, over the fake ground, in paused time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod actions;
mod grants;
mod hooks;
mod house;
mod panes;
mod questions;
mod reading;
mod restart;
mod schema;
mod screens;
mod waiting;
