//! A client with a persistent connection. What it holds is released when it disconnects, for
//! whatever reason.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use paned_backend::PaneCommand;
use paned_model::PaneId;
use tokio::runtime::Handle;

use crate::Kernel;

static COUNT: AtomicU64 = AtomicU64::new(1);

/// A client that stays connected and may hold the sizes of panes. Dropping it releases them.
pub struct ConnectedClient {
    kernel: Kernel,
    name: String,
    held_sizes: Mutex<BTreeSet<PaneId>>,
}

impl ConnectedClient {
    pub(crate) fn new(kernel: Kernel, kind: &str) -> Arc<Self> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{kind} {number}");
        Arc::new(Self { kernel, name, held_sizes: Mutex::default() })
    }

    /// The name shown to other clients.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Releases everything the client holds, even if requests of its own still run.
    pub fn disconnect(&self) {
        let held =
            std::mem::take(&mut *self.held_sizes.lock().unwrap_or_else(PoisonError::into_inner));
        let find_sender = |id: PaneId| self.kernel.panes().get(&id).ok()?.sender().ok();
        let senders: Vec<_> = held.into_iter().filter_map(find_sender).collect();
        // Without a runtime the server is shutting down; keepers notice that by themselves.
        let Ok(runtime) = Handle::try_current() else { return };
        for pane in senders {
            let release = PaneCommand::Release(self.name.clone());
            runtime.spawn(async move { pane.send(release).await });
        }
    }

    /// Releases a pane's size. Returns whether the client may have held it.
    pub(crate) async fn release(&self, pane: &PaneId) -> bool {
        let was_held = self.held_sizes.lock().unwrap_or_else(PoisonError::into_inner).remove(pane);
        let sender = self.kernel.panes().get(pane).and_then(|pane| pane.sender());
        if was_held && let Ok(sender) = sender {
            // An error means that the pane has ended, and the hold with it.
            let _ = sender.send(PaneCommand::Release(self.name.clone())).await;
        }
        was_held
    }

    /// Another client holds the size.
    pub(crate) fn forget_size_hold(&self, pane: &PaneId) {
        self.held_sizes.lock().unwrap_or_else(PoisonError::into_inner).remove(pane);
    }

    /// Records that the client requested a pane's size and may hold it from now on.
    pub(crate) fn note_size_hold(&self, pane: &PaneId) {
        self.held_sizes.lock().unwrap_or_else(PoisonError::into_inner).insert(pane.clone());
    }
}

impl std::fmt::Debug for ConnectedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ConnectedClient").field(&self.name).finish()
    }
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.disconnect();
    }
}
