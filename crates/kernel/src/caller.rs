//! Who asks.

use std::sync::Arc;

use paned_model::{Grant, PaneId};

/// Somebody who was let in: what they may do, and the pane they speak from.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What they may do.
    pub grant: Arc<Grant>,
    /// The pane they speak from, proven by its token.
    pub pane: Option<PaneId>,
}
