//! The tmux servers of this user, and what is on them.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::join_all;

use super::AdoptedPanes;
use crate::tmux::query::{TmuxPaneInfo, TmuxSession, TmuxWindow};
use crate::tmux::{Error, TmuxPaneView};
use crate::trusted_path;

/// What is at a socket.
#[derive(Debug)]
pub struct SocketSurvey {
    /// The socket.
    pub socket: PathBuf,
    /// What there is, or why it cannot be read.
    pub result: Result<TmuxSurvey, Error>,
}

/// What there is on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxSurvey {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its sessions.
    pub sessions: Vec<TmuxSession>,
    /// Their windows.
    pub windows: Vec<TmuxWindow>,
    /// Their panes.
    pub panes: Vec<TmuxPaneInfo>,
    /// The panes of ours that they show.
    pub views: Vec<TmuxPaneView>,
}

/// Every socket of this user in the folder where tmux puts them, except those that another user
/// could replace.
#[must_use]
pub fn sockets(tmpdir: Option<&str>) -> Vec<PathBuf> {
    let root = tmpdir.filter(|folder| !folder.is_empty()).unwrap_or("/tmp");
    let user = rustix::process::getuid().as_raw();
    let folder = Path::new(root).join(format!("tmux-{user}"));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sockets: Vec<_> = entries.map(|entry| entry.path()).collect();
    sockets.retain(|socket| trusted_path::TrustedSocket::find(socket).is_ok());
    sockets.sort();
    sockets
}

impl AdoptedPanes {
    /// What is at each of these sockets, all asked at once.
    pub async fn survey(&self, sockets: Vec<PathBuf>) -> Vec<SocketSurvey> {
        join_all(sockets.into_iter().map(|socket| async move {
            let result = self.survey_one(&socket).await;
            SocketSurvey { socket, result }
        }))
        .await
    }

    async fn survey_one(&self, socket: &Path) -> Result<TmuxSurvey, Error> {
        let server = self.inner.servers.open(socket).await?;
        let client = server.client();
        let sessions = client.sessions().await?;
        let windows = client.windows(None).await?;
        let panes = client.panes(None).await?;
        let views = client.views().await?;
        let now = client.server().ok_or_else(|| Error::Gone("it was lost".to_owned()))?;
        Ok(TmuxSurvey { pid: now.pid, version: now.version, sessions, windows, panes, views })
    }
}
