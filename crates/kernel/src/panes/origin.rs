//! Where an adopted pane came from: somebody's tmux.

use std::path::PathBuf;

use paned_model::Adopted;
use paned_substrate::foreign::Spot;
use paned_substrate::tmux::TmuxPane;
use paned_substrate::tmux::foreign::Known;
use serde::{Deserialize, Serialize};

/// A pane of somebody's tmux, as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Origin {
    socket: PathBuf,
    pane: u32,
    /// The tmux server's process: another one gives the same names to other panes.
    server: u32,
    /// The pane's process.
    pid: u32,
}

impl Origin {
    pub(crate) fn new(Spot { socket, known }: Spot) -> Self {
        Self { socket, pane: known.pane.0, server: known.server, pid: known.pid }
    }

    pub(crate) fn spot(&self) -> Spot {
        let known = Known { server: self.server, pane: TmuxPane(self.pane), pid: self.pid };
        Spot { socket: self.socket.clone(), known }
    }

    /// Whether it is this pane of this server.
    pub(crate) fn is(&self, server: u32, pane: TmuxPane) -> bool {
        self.server == server && self.pane == pane.0
    }
}

impl From<&Origin> for Adopted {
    fn from(origin: &Origin) -> Self {
        let socket = origin.socket.to_string_lossy().into_owned();
        Self { socket, pane: TmuxPane(origin.pane).to_string() }
    }
}
