//! A tmux client over one control-mode connection: to show panes on tmux, and to find panes there.
//!
//! This module acts on tmux and reports what happens there; it keeps no record of its own. It
//! starts no process per operation, polls nothing, targets by id only, and never sends
//! `respawn-pane` (a control client crashes tmux with it). Text from outside reaches tmux only
//! through [`TmuxCommand`], which quotes every byte.

pub mod adopted;
mod attach_lock;
pub mod capture;
mod client;
pub mod command;
mod control_process;
pub mod decode;
mod error;
mod events;
mod ids;
mod name;
pub mod notice;
pub mod operations;
mod own_server;
pub mod query;
mod redraw;
mod rows;
mod server_addr;
mod views;
mod watchdog;

pub use client::{ControlClient, DEADLINE, connect};
pub use command::TmuxCommand;
pub use error::Error;
pub use events::{TmuxEvent, TmuxEvents, TmuxServerInfo};
pub use ids::{SessionId, TmuxPane, WindowId};
pub use name::SessionName;
pub use notice::Notice;
pub use server_addr::{TmuxServerAddr, installed_version};
pub use views::{NewView, TmuxPaneView, TmuxSnapshot, ViewCommands};
