//! The caller of an action.

use std::sync::Arc;

use paned_model::{Grant, PaneRef};

use crate::Kernel;
use crate::client::ConnectedClient;
use crate::grants::Token;

/// An authenticated caller: its grant, and the pane it runs in.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What it may do.
    pub grant: Arc<Grant>,
    /// The pane it runs in, proven by that pane's token.
    pub pane: Option<PaneRef>,
    /// That token, for programs that are started on its behalf.
    pub(crate) pane_token: Option<Arc<Token>>,
    /// Its connection, if that is persistent: such a client may hold the sizes of panes.
    pub client: Option<Arc<ConnectedClient>>,
}

impl Caller {
    /// The same caller on a persistent connection of this kind.
    #[must_use]
    pub fn connected(self, kernel: &Kernel, kind: &str) -> Self {
        Self { client: Some(ConnectedClient::new(kernel.clone(), kind)), ..self }
    }
}
