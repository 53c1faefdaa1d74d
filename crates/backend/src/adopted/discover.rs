//! Which tmux servers of this user there are, and what is on them.

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
    /// What there is, or why that cannot be said.
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
    /// Whom they show.
    pub views: Vec<TmuxPaneView>,
}

/// Every socket of this user's in the folder where tmux puts them, unless another user could replace it.
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
            let found = self.survey_one(&socket).await;
            SocketSurvey { socket, result: found }
        }))
        .await
    }

    async fn survey_one(&self, socket: &Path) -> Result<TmuxSurvey, Error> {
        let server = self.inner.servers.open(socket).await?;
        let client = server.client();
        let (sessions, windows) = (client.sessions().await?, client.windows(None).await?);
        let (panes, views) = (client.panes(None).await?, client.views().await?);
        let now = client.server().ok_or_else(|| Error::Gone("it was lost".to_owned()))?;
        Ok(TmuxSurvey { pid: now.pid, version: now.version, sessions, windows, panes, views })
    }
}
