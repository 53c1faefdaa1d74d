//! Layout of panes in a tmux window: how many fit, which is split, which is replaced, and which
//! requests wait.
//!
//! Pure: a window, its owners, what it is to show and the limits in, a plan out. Nothing here
//! queries tmux or acts. A plan holds only for the window it was made for, so the caller queries
//! tmux again after each, until there is nothing to do.

mod balance;
mod cell;
mod decide;
mod limits;
mod owners;
mod queue;
mod reason;
mod reconcile;
mod region;
mod saved;
mod text;
mod window;

pub use cell::{CellContent, LayoutCell, LayoutDirection, LayoutError, TmuxPaneId};
pub use decide::{Decision, LayoutRequest, NoRoom, decide, plan_all, rebalance};
pub use limits::{Capacity, LayoutKind, LayoutLimits, LimitError, capacity};
pub use owners::{Blockers, ManagedPane, ManagedPaneState, PaneOwner, PaneOwners};
pub use queue::{LayoutQueue, LayoutQueueEntry, QueueFull};
pub use reason::{NotShownReason, ReplaceReason};
pub use reconcile::{BalanceRule, DesiredPane, DesiredView, ViewPlan, reconcile};
pub use saved::{SavedLayout, SavedLayoutError, SavedNode, SavedNodeKind, SavedRole};
pub use text::{LayoutParseError, LayoutTree};
pub use window::{LayoutStep, LayoutTile, LayoutWindow, reorder};

#[cfg(test)]
mod tests;
