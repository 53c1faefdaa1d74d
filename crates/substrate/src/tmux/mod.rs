//! tmux, spoken to over one control-mode connection: a stage to show panes on, and a place to find them.
//!
//! This module acts on tmux and reports what happens there; it keeps no record of its own. It starts no process
//! per operation, polls nothing, targets by id only, never says `respawn-pane` (a control client crashes tmux with
//! it), and text from outside reaches tmux only through [`Command`], which quotes every byte.

pub mod act;
mod client;
pub mod command;
pub mod decode;
mod error;
mod facts;
pub mod foreign;
mod ids;
mod name;
pub mod notice;
mod picture;
mod place;
pub mod query;
pub mod read;
mod rows;
mod views;
mod watchdog;
mod wire;

pub use client::{Client, DEADLINE, connect};
pub use command::Command;
pub use error::Error;
pub use facts::{Fact, Facts, Server};
pub use ids::{SessionId, TmuxPane, WindowId};
pub use name::SessionName;
pub use notice::Notice;
pub use place::Place;
pub use views::View;
