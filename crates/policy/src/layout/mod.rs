//! Where panes go in a tmux window: how many fit, which is split, which makes room, and who waits.
//!
//! Pure: a window, its owners, a request and the limits in, a decision out. Nothing here asks tmux or acts. What is
//! decided holds for the window as it was told, so whoever acts asks tmux again before and looks after.

mod cell;
mod decide;
mod even;
mod limits;
mod owners;
mod queue;
mod reason;
mod region;
mod saved;
mod text;
mod window;

pub use cell::{Cell, Direction, Inside, Misfit, TmuxId};
pub use decide::{Decision, Request, decide, plan_all, settle};
pub use limits::{BadLimit, Capacity, Kind, Limits, capacity};
pub use owners::{Kept, Ours, Owner, Owners, State};
pub use queue::{Entry, Full, Queue};
pub use reason::{Oldest, Reason};
pub use saved::{NoFit, Node, Role, Saved, Shape};
pub use text::{BadLayout, Layout};
pub use window::{Step, Tile, Window, reorder};

#[cfg(test)]
mod tests;
