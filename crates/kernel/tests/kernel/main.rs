//! The kernel through its public functions, over the fake backend, mostly in paused time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod actions;
mod activity;
mod approvals;
mod approvals_next_run;
mod audit;
mod delegation;
mod dynamic_actions;
mod event_list;
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
mod replay;
mod restart;
mod schema;
mod schema_rules;
mod screens;
mod sign_in;
mod test_kernel;
mod tmux_view;
mod waiting;
mod waiting_for_ports;
