//! Follows what happens to panes: approvals end with the pane that asks.

use crate::Kernel;
use crate::panes::{Pane, PaneChange, PaneObserver};

/// Ends the approvals of panes that end.
pub(crate) struct ApprovalPaneObserver;

impl PaneObserver for ApprovalPaneObserver {
    fn observe(&self, kernel: &Kernel, pane: &Pane, change: &PaneChange<'_>) {
        let reason = match change {
            PaneChange::Exited(_) | PaneChange::ExitRecovered => {
                "the program of the pane that asks has exited"
            }
            PaneChange::Removed => "the pane that asks was removed",
            PaneChange::Reconnected(_)
            | PaneChange::Disconnected
            | PaneChange::Refound
            | PaneChange::Typed(_)
            | PaneChange::View => return,
        };
        kernel.forget_approvals_of(pane.instance(), reason);
    }
}
