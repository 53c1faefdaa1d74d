//! What an attacker tried against the whole program: a narrow grant, another user, a hostile
//! program in a pane, damaged files, a full disk. `make attack` runs these tests alone.
#![forbid(unsafe_code)]

mod budgets;
mod compat;
mod environment;
mod files;
mod folders;
mod journal;
mod kill;
mod limits;
mod reach;
mod tmux_sockets;
mod web;
