//! A file that is taken away only while it is ours.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that we have made. Its path goes by a pane's name, which somebody else may have by the time that we leave.
pub(crate) struct OwnedFile {
    path: PathBuf,
    identity: FileIdentity,
}

/// By what a file is known: its place, which is given away again, and when it was last made or moved.
type FileIdentity = (u64, u64, i64, i64);

impl OwnedFile {
    /// The file that is at a path now.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: file_identity(path)? })
    }

    /// Takes it away, if it is still there.
    pub(crate) fn remove(&self) {
        if file_identity(&self.path).is_ok_and(|mark| mark == self.identity) {
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
