//! Which tmux servers of this user there are, and what is on them.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::join_all;

use super::Foreign;
use crate::tmux::query::{Pane, Session, Window};
use crate::tmux::{Error, View};
use crate::trusted_path;

/// What is at a socket.
#[derive(Debug)]
pub struct Place {
    /// The socket.
    pub socket: PathBuf,
    /// What there is, or why that cannot be said.
    pub found: Result<Survey, Error>,
}

/// What there is on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its sessions.
    pub sessions: Vec<Session>,
    /// Their windows.
    pub windows: Vec<Window>,
    /// Their panes.
    pub panes: Vec<Pane>,
    /// Whom they show.
    pub views: Vec<View>,
}

/// Every socket of this user's in the folder where tmux puts them, unless another user could replace it.
#[must_use]
pub fn sockets(tmpdir: Option<&str>) -> Vec<PathBuf> {
    let root = tmpdir.filter(|folder| !folder.is_empty()).unwrap_or("/tmp");
    let user = rustix::process::getuid().as_raw();
    let folder = Path::new(root).join(format!("tmux-{user}"));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sockets: Vec<_> = entries.map(|entry| entry.path()).collect();
    sockets.retain(|socket| trusted_path::Socket::find(socket).is_ok());
    sockets.sort();
    sockets
}

impl Foreign {
    /// What is at each of these sockets, all asked at once.
    pub async fn survey(&self, sockets: Vec<PathBuf>) -> Vec<Place> {
        join_all(sockets.into_iter().map(|socket| async move {
            let found = self.look(&socket).await;
            Place { socket, found }
        }))
        .await
    }

    async fn look(&self, socket: &Path) -> Result<Survey, Error> {
        let server = self.inner.servers.open(socket).await?;
        let client = server.client();
        let (sessions, windows) = (client.sessions().await?, client.windows(None).await?);
        let (panes, views) = (client.panes(None).await?, client.views().await?);
        let now = client.server().ok_or_else(|| Error::Gone("it was lost".to_owned()))?;
        Ok(Survey { pid: now.pid, version: now.version, sessions, windows, panes, views })
    }
}
