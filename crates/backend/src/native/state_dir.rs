//! The paths of native panes' files.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use paned_model::PaneId;

use super::socket_folder::{LONGEST_SOCKET, SocketFolder, hash};
use crate::Error;
use crate::trusted_path::{self, TrustedDir};

/// The paths of all pane files in one state folder.
#[derive(Clone, Debug)]
pub struct StateDir {
    panes: PathBuf,
    /// Where sockets go whose own path would be too long.
    short: SocketFolder,
}

impl StateDir {
    /// The paths in this state folder.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { panes: state.join("panes"), short: SocketFolder::of(state) }
    }

    /// The folder that has one folder for each pane.
    #[must_use]
    pub fn panes_dir(&self) -> &Path {
        &self.panes
    }

    /// The folder of one pane.
    #[must_use]
    pub fn pane_dir(&self, id: &PaneId) -> PathBuf {
        self.panes.join(id.as_str())
    }

    /// A pane's tape.
    #[must_use]
    pub fn tape(&self, id: &PaneId) -> PathBuf {
        self.pane_dir(id).join("tape")
    }

    /// The file with the kernel's record of a pane.
    #[must_use]
    pub fn record(&self, id: &PaneId) -> PathBuf {
        self.pane_dir(id).join("pane.json")
    }

    /// The file with what is needed to start a pane again.
    #[must_use]
    pub fn launch_record(&self, id: &PaneId) -> PathBuf {
        self.pane_dir(id).join("launch.json")
    }

    /// Where a pane's keeper listens: in the pane's folder, or in the short folder when that path
    /// is too long.
    #[must_use]
    pub fn socket(&self, id: &PaneId) -> PathBuf {
        let near = self.pane_dir(id).join("keeper.sock");
        if near.as_os_str().len() <= LONGEST_SOCKET {
            return near;
        }
        self.short.path().join(format!("{:016x}", hash(id.as_str().as_bytes())))
    }

    fn make_parents(&self, id: &PaneId) -> Result<(), Error> {
        let refused = |error: &trusted_path::Error| match error {
            trusted_path::Error::Io { doing, path, errno: Some(errno), .. } => Error::Io {
                what: format!("{doing} {}", path.display()),
                source: io::Error::from_raw_os_error(*errno),
            },
            error => Error::Machine(error.to_string()),
        };
        TrustedDir::make_private(&self.panes).map_err(|error| refused(&error))?;
        if self.socket(id).starts_with(self.short.path()) {
            self.short.make().map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Makes a pane's folder with the kernel's records in it. The folder reserves the pane's id.
    pub(super) fn make(
        &self,
        id: &PaneId,
        record: &str,
        launch_record: Option<&str>,
    ) -> Result<(), Error> {
        let io = |what: &str| {
            let what = format!("{what} {}", self.pane_dir(id).display());
            move |source| Error::Io { what, source }
        };
        self.make_parents(id)?;
        match DirBuilder::new().mode(0o700).create(self.pane_dir(id)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::NameTaken(id.clone()));
            }
            Err(error) => return Err(io("make")(error)),
        }
        if let Some(launch_record) = launch_record {
            write_private(&self.launch_record(id), launch_record).map_err(io("write to"))?;
        }
        write_private(&self.record(id), record).map_err(io("write to"))
    }

    /// What is needed to start a pane again, if that was stored.
    pub(super) async fn read_launch_record(&self, id: &PaneId) -> Result<Option<String>, Error> {
        let path = self.launch_record(id);
        let read = tokio::task::spawn_blocking(move || match fs::read_to_string(&path) {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Io { what: format!("read {}", path.display()), source }),
        });
        read.await.map_err(|panic| Error::Machine(panic.to_string()))?
    }

    /// Moves the files of a pane whose keeper is gone to another name.
    pub(super) async fn rename(&self, from: &PaneId, to: &PaneId) -> Result<(), Error> {
        let state_dir = self.clone();
        let from = from.clone();
        let to = to.clone();
        let renamed = tokio::task::spawn_blocking(move || state_dir.rename_now(&from, &to));
        renamed.await.map_err(|panic| Error::Machine(panic.to_string()))?
    }

    fn rename_now(&self, from: &PaneId, to: &PaneId) -> Result<(), Error> {
        let target = self.pane_dir(to);
        // A rename would replace an empty folder.
        if target.exists() {
            return Err(Error::NameTaken(to.clone()));
        }
        // Nothing listens there any more.
        let _ = fs::remove_file(self.socket(from));
        let folder = self.pane_dir(from);
        let what = || format!("rename {} to {}", folder.display(), target.display());
        fs::rename(&folder, &target).map_err(|source| Error::Io { what: what(), source })
    }

    /// Removes a pane's files, the record first: a folder without a record is deleted by recovery.
    pub(super) async fn remove(&self, id: &PaneId) -> Result<(), Error> {
        let state_dir = self.clone();
        let id = id.clone();
        let removed = tokio::task::spawn_blocking(move || state_dir.remove_now(&id));
        removed.await.map_err(|panic| Error::Machine(panic.to_string()))?
    }

    /// The same, for callers that may block on the disk.
    pub fn remove_now(&self, id: &PaneId) -> Result<(), Error> {
        let _ = fs::remove_file(self.record(id));
        let _ = fs::remove_file(self.launch_record(id));
        let _ = fs::remove_file(self.socket(id));
        let _ = fs::remove_file(self.tape(id));
        let folder = self.pane_dir(id);
        // Listing a folder needs a file descriptor, and there may be none left. Usually the folder
        // is empty by now.
        if fs::remove_dir(&folder).is_ok() {
            return Ok(());
        }
        match fs::remove_dir_all(&folder) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(Error::Io { what: format!("remove {}", folder.display()), source })
            }
            Err(_) | Ok(()) => Ok(()),
        }
    }
}

/// Writes a new file that only its user can read.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut open = OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_state_folder_gets_short_sockets_and_a_short_one_keeps_its_own() {
        let id: PaneId = "x".repeat(64).parse().unwrap();
        let near = StateDir::new(Path::new("/s")).socket(&id);
        assert!(near.starts_with("/s/panes"));
        let far = StateDir::new(Path::new(&format!("/{}", "deep/".repeat(30)))).socket(&id);
        assert!(far.as_os_str().len() <= LONGEST_SOCKET, "{}", far.display());
    }

    #[test]
    fn a_name_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(dir.path());
        let id: PaneId = "one".parse().unwrap();
        state_dir.make(&id, "{}", None).unwrap();
        assert!(matches!(state_dir.make(&id, "{}", None), Err(Error::NameTaken(_))));
    }
}
