//! The state folder, as it was when the server started. If it was deleted or replaced since, writes
//! are lost: the open files no longer have names.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use paned_model::{Code, Refusal};

/// A folder's path, and its device and inode.
#[derive(Debug)]
pub(crate) struct StateFolderIdentity {
    path: PathBuf,
    id: (u64, u64),
}

impl StateFolderIdentity {
    /// The folder of a file, if it is there.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let path = file.parent()?.to_owned();
        Some(Self { id: id(&path)?, path })
    }

    /// Refuses if the folder is not at its path any more.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if id(&self.path) == Some(self.id) {
            return Ok(());
        }
        let sentence = format!(
            "the state folder {} was deleted or replaced while the server ran, so no change can \
            be saved; stop the server with `kill {}` and start it again: programs keep running \
            and are recovered",
            self.path.display(),
            std::process::id(),
        );
        Err(Refusal::new(Code::Unavailable, sentence))
    }
}

fn id(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Writes a file that only its user can read, whole or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let _ = fs::remove_file(&fresh);
    let mut open = OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
    writeln!(file, "{text}")?;
    fs::rename(fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_replaced_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        let folder = StateFolderIdentity::of(&state.join("token")).unwrap();
        folder.check().unwrap();
        fs::rename(&state, dir.path().join("moved")).unwrap();
        assert_eq!(folder.check().unwrap_err().code, Code::Unavailable);
        fs::create_dir(&state).unwrap();
        assert!(folder.check().unwrap_err().sentence.contains("start it again"));
    }
}
