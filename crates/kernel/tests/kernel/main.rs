//! The kernel through its public functions, over the fake backend, mostly in paused time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod actions;
mod approvals;
mod approvals_next_run;
mod audit;
mod delegation;
mod dynamic_actions;
mod full_disk;
mod grants;
mod hooks;
mod kill;
mod names;
mod next_run;
mod panes;
mod permissions;
mod questions;
mod reach;
mod reading;
mod restart;
mod schema;
mod schema_rules;
mod screens;
mod test_kernel;
mod tmux_view;
mod waiting;
mod waiting_for_ports;
