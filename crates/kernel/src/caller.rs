//! Who asks.

use std::sync::Arc;

use paned_model::{Grant, PaneRef};

use crate::Kernel;
use crate::client::ConnectedClient;

/// Somebody who was let in: what they may do, and the pane they speak from.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What they may do.
    pub grant: Arc<Grant>,
    /// The pane they speak from, proven by its token.
    pub pane: Option<PaneRef>,
    /// Their connection, if it is one that stays: it may hold the sizes of panes.
    pub client: Option<Arc<ConnectedClient>>,
}

impl Caller {
    /// The same, on a connection that stays, of this kind.
    #[must_use]
    pub fn connected(self, kernel: &Kernel, kind: &str) -> Self {
        Self { client: Some(ConnectedClient::new(kernel.clone(), kind)), ..self }
    }
}
