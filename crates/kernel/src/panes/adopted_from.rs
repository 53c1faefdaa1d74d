//! Where an adopted pane came from: a tmux server that we did not start.

use std::path::PathBuf;

use paned_backend::adopted::AdoptedLocation;
use paned_backend::tmux::TmuxPane;
use paned_backend::tmux::adopted::TmuxPaneIdentity;
use paned_model::TmuxOrigin;
use serde::{Deserialize, Serialize};

/// The tmux pane that was adopted, as it is stored in the pane's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdoptedOrigin {
    socket: PathBuf,
    pane: u32,
    /// The process id of the tmux server: a new server reuses the pane ids for other panes.
    server: u32,
    /// The process id of the pane's program.
    pid: u32,
}

impl AdoptedOrigin {
    pub(crate) fn new(AdoptedLocation { socket, identity }: AdoptedLocation) -> Self {
        Self { socket, pane: identity.pane.0, server: identity.server, pid: identity.pid }
    }

    pub(crate) fn location(&self) -> AdoptedLocation {
        let identity =
            TmuxPaneIdentity { server: self.server, pane: TmuxPane(self.pane), pid: self.pid };
        AdoptedLocation { socket: self.socket.clone(), identity }
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
