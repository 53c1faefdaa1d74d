//! How modules above the panes learn what happens to panes: they register an observer at start, and
//! the panes know none of them.

use std::sync::Arc;

use paned_model::{PaneRef, Time};

use super::Pane;
use crate::Kernel;

/// Follows changes of panes. Called in line, so it must not block.
pub(crate) trait PaneObserver: Send + Sync + 'static {
    /// This happened to a pane.
    fn observe(&self, kernel: &Kernel, pane: &Pane, change: &PaneChange<'_>);
}

/// What happened to a pane.
pub(crate) enum PaneChange<'a> {
    /// Its keeper was found at start, or is connected again.
    Reconnected(&'a Arc<Pane>),
    /// The connection to its keeper was closed; a new one is being made.
    Disconnected,
    /// It was recorded as lost, and it lives.
    Refound,
    /// A client typed into it at the keeper, not through us.
    Typed(TypedInput),
    /// A fact that a view of it depends on has changed.
    View,
    /// Its program has exited; the exit is recorded, and clients are not woken yet.
    Exited(PaneExitReport<'a>),
    /// Its program exited while no task followed it.
    ExitRecovered,
    /// It is being removed: its files are gone, its name is not free yet.
    Removed,
}

/// An exit, as observers get it.
pub(crate) struct PaneExitReport<'a> {
    /// The pane, unless it was removed from the table before its exit.
    pub(crate) listed: Option<&'a Arc<Pane>>,
    /// The pane that gets a notice of it, and the text.
    pub(crate) notice: Option<(&'a PaneRef, &'a str)>,
}

/// Input that a client typed.
#[derive(Clone)]
pub(crate) struct TypedInput {
    pub(crate) bytes: Vec<u8>,
    /// When it was typed.
    pub(crate) at: Time,
    /// The end of the output at that time, as an offset.
    pub(crate) end: u64,
}
