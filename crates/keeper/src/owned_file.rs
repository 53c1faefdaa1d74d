//! A file that is removed only while it is still the one we created.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A file that we created. Its path contains the pane's name, and another pane may have that name
/// by the time we remove the file.
pub(crate) struct OwnedFile {
    path: PathBuf,
    identity: FileIdentity,
}

/// Identifies a file: device and inode, and its change time, because inode numbers are reused.
type FileIdentity = (u64, u64, i64, i64);

impl OwnedFile {
    /// The file that is at a path now.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: file_identity(path)? })
    }

    /// Removes the file if it is still ours.
    pub(crate) fn remove(&self) {
        if file_identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn file_identity(path: &Path) -> io::Result<FileIdentity> {
    let data = fs::symlink_metadata(path)?;
    Ok((data.dev(), data.ino(), data.ctime(), data.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_is_ours_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        fs::write(&path, "ours").unwrap();
        let own = OwnedFile::new(&path).unwrap();
        own.remove();
        assert!(!path.exists());
        // The clock of a file system may stand still for a while.
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            fs::write(&path, "theirs").unwrap();
            if file_identity(&path).unwrap() != own.identity {
                break;
            }
            assert!(Instant::now() < deadline, "the same mark for a minute");
            fs::remove_file(&path).unwrap();
        }
        own.remove();
        assert!(path.exists());
    }
}
