//! Which panes print: for clients that show a list, so that they need not ask again and again.
//! Output bytes are no events, so none of this is in the journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use paned_model::Instance;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::panes::Pane;
use crate::panes::activity::PaneActivity;
use crate::{Caller, Kernel};

/// How often a feed reports at most.
const OFTEN: Duration = Duration::from_secs(1);
/// How many panes are looked at between two chances for other tasks.
const TURN: usize = 32;

/// The panes of a caller that have printed, at most once a second. Pull-based: a slow reader gets
/// fewer reports, and costs nothing more.
pub struct ActivityFeed {
    kernel: Kernel,
    caller: Caller,
    changes: watch::Receiver<u64>,
    /// How much each pane had printed at the last report.
    reported: HashMap<Instance, u64>,
    /// Whether any pane has printed since the panes were looked at.
    has_changed: bool,
    next_at: Instant,
}

impl ActivityFeed {
    /// A feed of what is printed from now on.
    pub(crate) fn new(kernel: Kernel, caller: Caller) -> Self {
        let changes = kernel.panes().activity.watch();
        let mut feed = Self {
            kernel,
            caller,
            changes,
            reported: HashMap::new(),
            has_changed: false,
            next_at: Instant::now(),
        };
        feed.reported = feed.panes().iter().map(printed_bytes).collect();
        feed
    }

    /// The panes that have printed since the last report, or since the feed was opened. Waits while
    /// there are none. Cancel-safe.
    pub async fn next(&mut self) -> Vec<PaneActivity> {
        loop {
            if !self.has_changed && self.changes.changed().await.is_err() {
                return std::future::pending().await;
            }
            self.has_changed = true;
            sleep_until(self.next_at).await;
            // Before the panes are looked at, so that no output in between is missed.
            self.changes.mark_unchanged();
            let printed = self.take_printed().await;
            self.has_changed = false;
            self.next_at = Instant::now() + OFTEN;
            if !printed.is_empty() {
                return printed;
            }
        }
    }

    async fn take_printed(&mut self) -> Vec<PaneActivity> {
        let panes = self.panes();
        let now: HashMap<Instance, u64> = panes.iter().map(printed_bytes).collect();
        let is_new = |pane: &&Arc<Pane>| {
            let bytes = now.get(pane.instance()).copied().unwrap_or(0);
            bytes != self.reported.get(pane.instance()).copied().unwrap_or(0)
        };
        let mut printed = Vec::new();
        for (n, pane) in panes.iter().filter(is_new).enumerate() {
            printed.push(pane.activity());
            if n % TURN == TURN - 1 {
                tokio::task::yield_now().await;
            }
        }
        self.reported = now;
        printed
    }

    fn panes(&self) -> Vec<Arc<Pane>> {
        let mut panes = self.kernel.panes().list();
        panes.retain(|pane| self.kernel.reaches(&pane.id, &self.caller));
        panes
    }
}

/// How much a pane has printed, as far as its task has seen.
fn printed_bytes(pane: &Arc<Pane>) -> (Instance, u64) {
    let bytes = pane.output().map_or(0, |output| output.last_seen().1);
    (pane.instance().clone(), bytes)
}
