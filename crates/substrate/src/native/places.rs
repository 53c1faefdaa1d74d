//! Where the files of native panes are.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use paned_model::PaneId;

use crate::Error;

/// A socket's path fits in 104 bytes on every system.
const LONGEST_SOCKET: usize = 100;

/// Where the files of the panes of one state folder are.
#[derive(Clone, Debug)]
pub struct Places {
    panes: PathBuf,
    /// Where sockets go whose own path would be too long.
    short: PathBuf,
}

impl Places {
    /// The places of this state folder.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { panes: state.join("panes"), short: short_folder(state) }
    }

    pub(super) fn all(&self) -> &Path {
        &self.panes
    }

    pub(crate) fn folder(&self, id: &PaneId) -> PathBuf {
        self.panes.join(id.as_str())
    }

    /// A pane's tape.
    #[must_use]
    pub fn tape(&self, id: &PaneId) -> PathBuf {
        self.folder(id).join("tape")
    }

    pub(super) fn record(&self, id: &PaneId) -> PathBuf {
        self.folder(id).join("pane.json")
    }

    /// Where a pane's keeper listens: in the pane's folder, or in the short one when that path is too long.
    #[must_use]
    pub fn socket(&self, id: &PaneId) -> PathBuf {
        let near = self.folder(id).join("keeper.sock");
        if near.as_os_str().len() <= LONGEST_SOCKET {
            return near;
        }
        self.short.join(format!("{:016x}", hash(id.as_str().as_bytes())))
    }

    fn parents(&self, id: &PaneId) -> Result<(), Error> {
        let io = |source| Error::Io {
            what: format!("make a folder for the files of pane `{id}`"),
            source,
        };
        private_folder(&self.panes).map_err(io)?;
        if self.socket(id).starts_with(&self.short) {
            // Its parent lies where others can write, so each of the two is checked.
            private_folder(self.short.parent().unwrap_or(&self.short)).map_err(io)?;
            private_folder(&self.short).map_err(io)?;
        }
        Ok(())
    }

    /// Makes a pane's folder with the kernel's record in it. The folder is the name's reservation.
    pub(super) fn make(&self, id: &PaneId, record: &str) -> Result<(), Error> {
        let io = |what: &str| {
            let what = format!("{what} {}", self.folder(id).display());
            move |source| Error::Io { what, source }
        };
        self.parents(id)?;
        match DirBuilder::new().mode(0o700).create(self.folder(id)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::Taken(id.clone()));
            }
            Err(error) => return Err(io("make")(error)),
        }
        let mut open = OpenOptions::new();
        let file = open.write(true).create_new(true).mode(0o600).open(self.record(id));
        file.and_then(|mut file| file.write_all(record.as_bytes())).map_err(io("write into"))
    }

    /// Removes a pane's files, the record first: a folder without one is rubbish.
    pub(super) async fn remove(&self, id: &PaneId) -> Result<(), Error> {
        let (record, socket, folder) = (self.record(id), self.socket(id), self.folder(id));
        let removed = tokio::task::spawn_blocking(move || {
            let _ = fs::remove_file(record);
            let _ = fs::remove_file(socket);
            match fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err((folder, error)),
                Err(_) | Ok(()) => Ok(()),
            }
        });
        let removed = removed.await.map_err(|panic| Error::Machine(panic.to_string()))?;
        let what = |folder: PathBuf| format!("remove {}", folder.display());
        removed.map_err(|(folder, source)| Error::Io { what: what(folder), source })
    }
}

/// Makes a folder that only its user can enter, or checks that it is one.
fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)?;
    let found = fs::symlink_metadata(path)?;
    let own = found.is_dir() && found.uid() == rustix::process::getuid().as_raw();
    if own && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::PermissionDenied, "it is not ours alone"))
}

/// A short folder of this user's for the sockets of one state folder.
#[must_use]
pub fn short_folder(state: &Path) -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_absolute() && path.as_os_str().len() < 60);
    let root = match runtime {
        Some(runtime) => runtime.join("paned"),
        None => PathBuf::from(format!("/tmp/paned-{user}")),
    };
    root.join(format!("{:016x}", hash(state.as_os_str().as_encoded_bytes())))
}

/// FNV-1a: the same on every run and build, which is all that is asked of it.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_state_folder_gets_short_sockets_and_a_short_one_keeps_its_own() {
        let id: PaneId = "x".repeat(64).parse().unwrap();
        let near = Places::new(Path::new("/s")).socket(&id);
        assert!(near.starts_with("/s/panes"));
        let far = Places::new(Path::new(&format!("/{}", "deep/".repeat(30)))).socket(&id);
        assert!(far.as_os_str().len() <= LONGEST_SOCKET, "{}", far.display());
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(private_folder(&open).is_err());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/tmp", &link).unwrap();
        assert!(private_folder(&link).is_err());
        private_folder(&dir.path().join("own")).unwrap();
    }

    #[test]
    fn a_name_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::new(dir.path());
        let id: PaneId = "one".parse().unwrap();
        places.make(&id, "{}").unwrap();
        assert!(matches!(places.make(&id, "{}"), Err(Error::Taken(_))));
    }
}
