//! That panes print, and what of it lists show.

use paned_model::{Instance, PaneId, Time};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

use super::Pane;

/// Wakes the feeds. A level, so that no output is missed.
pub(crate) struct OutputActivity(watch::Sender<u64>);

impl Default for OutputActivity {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl OutputActivity {
    /// A pane has printed. Costs nothing while no feed is open.
    pub(crate) fn printed(&self) {
        if 0 < self.0.receiver_count() {
            self.0.send_modify(|count| *count += 1);
        }
    }

    /// A counter that rises while panes print.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// What a pane has printed up to now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaneActivity {
    /// The pane.
    pub pane: PaneId,
    /// Distinguishes it from earlier and later panes of its name.
    pub instance: Instance,
    /// The number of bytes of output so far.
    pub bytes: u64,
    /// The number of lines of output so far.
    pub lines: u64,
    /// When it printed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed_at: Option<Time>,
    /// Its last line with text, see [`paned_model::PaneInfo::last_line`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
}

impl Pane {
    /// What it has printed up to now.
    pub(crate) fn activity(&self) -> PaneActivity {
        let state = self.lock();
        let stats = state.output_stats();
        let tail = state.output_tail(stats.bytes);
        PaneActivity {
            pane: self.id.clone(),
            instance: self.instance().clone(),
            bytes: stats.bytes,
            lines: stats.lines,
            printed_at: tail.printed_at,
            last_line: tail.last_line,
        }
    }
}
