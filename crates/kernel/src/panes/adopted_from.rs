//! Where an adopted pane came from: somebody's tmux.

use std::path::PathBuf;

use paned_backend::adopted::AdoptedLocation;
use paned_backend::tmux::TmuxPane;
use paned_backend::tmux::adopted::TmuxPaneIdentity;
use paned_model::TmuxOrigin;
use serde::{Deserialize, Serialize};

/// A pane of somebody's tmux, as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdoptedOrigin {
    socket: PathBuf,
    pane: u32,
    /// The tmux server's process: another one gives the same names to other panes.
    server: u32,
    /// The pane's process.
    pid: u32,
}

impl AdoptedOrigin {
    pub(crate) fn new(AdoptedLocation { socket, identity: known }: AdoptedLocation) -> Self {
        Self { socket, pane: known.pane.0, server: known.server, pid: known.pid }
    }

    pub(crate) fn location(&self) -> AdoptedLocation {
        let known =
            TmuxPaneIdentity { server: self.server, pane: TmuxPane(self.pane), pid: self.pid };
        AdoptedLocation { socket: self.socket.clone(), identity: known }
    }

    /// Whether it is this pane of this server.
    pub(crate) fn is(&self, server: u32, pane: TmuxPane) -> bool {
        self.server == server && self.pane == pane.0
    }
}

impl From<&AdoptedOrigin> for TmuxOrigin {
    fn from(origin: &AdoptedOrigin) -> Self {
        let socket = origin.socket.to_string_lossy().into_owned();
        Self { socket, pane: TmuxPane(origin.pane).to_string() }
    }
}
