//! The state folder: everything that must survive a restart, and the address of its server.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use paned_backend::native::{SocketFolder, StateDir};
use paned_backend::trusted_path::{self, TrustedDir};
use paned_model::{Code, PaneId, Refusal, Time};
use serde::{Deserialize, Serialize};

use crate::serve::remote::RemoteInfo;

/// `sun_path` holds at least 104 bytes on every system.
const LONGEST_SOCKET: usize = 100;

/// A state folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct StateFolder {
    folder: PathBuf,
}

/// The content of `server.json`: which process serves the folder, and where. The file exists while
/// the server runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerInfo {
    /// The server's process.
    pub(crate) pid: u32,
    /// Where it can be reached over TCP.
    pub(crate) url: String,
    /// Where it can be reached over a unix socket.
    pub(crate) socket: PathBuf,
    /// Its version.
    pub(crate) version: String,
    /// When it started to serve.
    #[serde(rename = "startedAt")]
    pub(crate) started_at: Time,
    /// The file with the owner's token.
    pub(crate) token_file: PathBuf,
    /// What it was started with, for a restart.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Why the last upgrade failed, if it did.
    #[serde(rename = "upgradeFailed", default, skip_serializing_if = "Option::is_none")]
    pub(crate) upgrade_failed: Option<String>,
    /// The URLs of the compat listeners (`--compat`), by protocol.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) compat: BTreeMap<String, String>,
    /// How other machines reach it, if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<RemoteInfo>,
}

impl StateFolder {
    /// The state folder at this path.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The state folder that holds a server's socket, if its folder is one.
    pub(crate) fn of_socket(socket: &Path) -> Option<Self> {
        let state = Self::at(socket.parent()?.to_owned());
        state.lock().exists().then_some(state)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join("journal.db")
    }

    pub(crate) fn token(&self) -> PathBuf {
        self.folder.join("token")
    }

    pub(crate) fn keeper_log(&self) -> PathBuf {
        self.folder.join("keeper.log")
    }

    /// The ports of the last start.
    pub(crate) fn ports(&self) -> PathBuf {
        self.folder.join("ports.json")
    }

    /// The certificate and the key of the listener that other machines reach.
    pub(crate) fn tls(&self) -> PathBuf {
        self.folder.join("tls.pem")
    }

    /// The key of the hashes that `paned up` stores.
    pub(crate) fn up_key(&self) -> PathBuf {
        self.folder.join("up.key")
    }

    pub(crate) fn server_log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    fn server_info_file(&self) -> PathBuf {
        self.folder.join("server.json")
    }

    /// Creates the folder, or checks that an existing one is private to its user.
    ///
    /// # Errors
    /// When it cannot be created, or other users could enter it.
    pub(crate) fn make(&self) -> Result<(), Refusal> {
        TrustedDir::make_private(&self.folder).map(drop).map_err(refused)
    }

    /// Where the server of this folder listens: in it, or in a short folder when its path is too
    /// long.
    pub(crate) fn socket(&self) -> PathBuf {
        let near = self.folder.join("paned.sock");
        if near.as_os_str().len() <= LONGEST_SOCKET {
            return near;
        }
        self.short_socket_dir().join("paned.sock")
    }

    /// The folder of our own tmux server's socket.
    pub(crate) fn tmux_dir(&self) -> PathBuf {
        let near = self.folder.join("tmux");
        if near.join("tmux.sock").as_os_str().len() <= LONGEST_SOCKET {
            return near;
        }
        self.short_socket_dir().join("tmux")
    }

    /// A folder of this user with a short path, for the sockets of one state folder. Keepers'
    /// sockets go there too.
    fn short_socket_dir(&self) -> PathBuf {
        SocketFolder::of(&self.folder).path().to_owned()
    }

    /// Creates the short socket folder if our sockets need it. An existing one is checked in any
    /// case, because keepers may listen in it.
    ///
    /// # Errors
    /// As [`StateFolder::make`].
    pub(crate) fn make_socket_folder(&self) -> Result<(), Refusal> {
        let short = SocketFolder::of(&self.folder);
        let is_needed =
            [self.socket(), self.tmux_dir()].iter().any(|it| it.starts_with(short.path()));
        if is_needed || short.path().exists() {
            short.make().map_err(refused)?;
        }
        Ok(())
    }

    /// A pane's folder, which exists as long as the pane does.
    pub(crate) fn pane(&self, id: &PaneId) -> PathBuf {
        self.folder.join("panes").join(id.as_str())
    }

    /// Where a pane's keeper listens.
    pub(crate) fn keeper_socket(&self, id: &PaneId) -> PathBuf {
        StateDir::new(&self.folder).socket(id)
    }

    /// Whether a path is one of this folder's keepers' sockets.
    pub(crate) fn has_keeper_at(&self, socket: &Path) -> bool {
        let is_short = socket.starts_with(self.short_socket_dir()) && socket != self.socket();
        is_short || socket.starts_with(self.folder.join("panes"))
    }

    /// Reads `server.json`; `None` when there is none, or it is malformed.
    pub(crate) fn server_info(&self) -> Option<ServerInfo> {
        serde_json::from_slice(&fs::read(self.server_info_file()).ok()?).ok()
    }

    /// Writes `server.json` atomically, for its user only.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write_server_info(&self, info: &ServerInfo) -> io::Result<()> {
        let fresh = self.folder.join("server.json.new");
        let _ = fs::remove_file(&fresh);
        let mut open = OpenOptions::new();
        let mut file = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
        serde_json::to_writer(&mut file, info)?;
        file.write_all(b"\n")?;
        fs::rename(fresh, self.server_info_file())
    }

    /// Whether a server has used this folder before: then there must be a journal.
    pub(crate) fn is_used(&self) -> bool {
        let has_panes =
            fs::read_dir(self.folder.join("panes")).is_ok_and(|mut panes| panes.next().is_some());
        has_panes || self.token().exists()
    }

    /// Removes `server.json`: no server serves the folder any more.
    pub(crate) fn remove_server_info(&self) {
        let _ = fs::remove_file(self.server_info_file());
    }
}

/// Checks that a folder is private to its user, and that no other user can replace it.
///
/// # Errors
/// When it is not; the message says what to do.
pub(crate) fn check_private(folder: &Path) -> Result<(), Refusal> {
    TrustedDir::open_private(folder).map(drop).map_err(refused)
}

fn refused(error: trusted_path::Error) -> Refusal {
    let code = match error {
        trusted_path::Error::Io { .. } => Code::Internal,
        trusted_path::Error::Untrusted(_) => Code::Forbidden,
    };
    Refusal::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_that_others_can_enter_is_refused_with_the_cure() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o750)).unwrap();
        let refusal = StateFolder::at(open).make().unwrap_err();
        assert!(refusal.sentence.contains("chmod 700"), "{refusal}");
        StateFolder::at(dir.path().join("a/b")).make().unwrap();
    }

    #[test]
    fn a_long_path_gets_a_short_socket() {
        let near = StateFolder::at("/s".into()).socket();
        assert_eq!(near, Path::new("/s/paned.sock"));
        let far = StateFolder::at(format!("/{}", "deep/".repeat(30)).into()).socket();
        assert!(far.as_os_str().len() <= LONGEST_SOCKET, "{}", far.display());
    }

    #[test]
    fn a_keepers_socket_is_told_from_the_servers_wherever_both_lie() {
        let check = |folder: String| {
            let state = StateFolder::at(folder.into());
            assert!(!state.has_keeper_at(&state.socket()));
            assert!(!state.has_keeper_at(Path::new("/elsewhere/panes/a/keeper.sock")));
            assert!(state.has_keeper_at(&state.folder().join("panes/a/keeper.sock")));
            assert!(state.has_keeper_at(&state.short_socket_dir().join("0123456789abcdef")));
            assert!(state.has_keeper_at(&state.keeper_socket(&"web".parse().unwrap())));
        };
        check("/s".into());
        check(format!("/{}", "deep/".repeat(30)));
    }

    #[test]
    fn who_serves_is_written_for_the_user_only_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(dir.path().to_owned());
        assert_eq!(state.server_info(), None);
        let served = ServerInfo {
            pid: 1,
            url: "http://127.0.0.1:1".into(),
            socket: state.socket(),
            version: "0".into(),
            started_at: Time(1000),
            token_file: state.token(),
            args: vec![],
            upgrade_failed: None,
            compat: BTreeMap::new(),
            remote: None,
        };
        state.write_server_info(&served).unwrap();
        assert_eq!(state.server_info(), Some(served));
        let mode = fs::metadata(state.server_info_file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
