//! A private folder next to the extensions, where one is made ready and from where it is renamed
//! into place. Its name begins with a dot, so that it is never taken for an extension.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use paned_model::{Code, Refusal};
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use super::tree::not_written;
use crate::private_dir::make_private;

const PREFIX: &str = ".paned-staging-";

/// The staging folder, which is deleted with everything in it when this is dropped.
pub(crate) struct Staging {
    folder: PathBuf,
    /// Locked, so that another server does not clean it up.
    _lock: File,
}

impl Staging {
    /// Makes one, and the folder around it where it is missing.
    pub(crate) fn new(parent: &Path) -> Result<Self, Refusal> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let make = || -> io::Result<Self> {
            make_private(parent)?;
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
            DirBuilder::new().mode(0o700).create(&folder)?;
            let lock = File::open(&folder)?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            Ok(Self { folder, _lock: lock })
        };
        make().map_err(|error| not_written(parent, &error))
    }

    /// A path in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Where the new extension is made.
    pub(super) fn new_folder(&self) -> PathBuf {
        self.path("new")
    }

    /// Where the old extension is while it is replaced.
    fn old_folder(&self, target: &Path) -> io::Result<PathBuf> {
        let old = self.path("old");
        match fs::create_dir(&old) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        Ok(old.join(target.file_name().unwrap_or_default()))
    }

    /// Renames the new extension to where nothing is yet.
    pub(super) fn place(&self, target: &Path) -> Result<(), Refusal> {
        match rename_to_free(&self.new_folder(), target) {
            Ok(()) => Ok(()),
            Err(error) if is_taken(&error) => {
                let sentence = format!("{} exists already; move it away first", target.display());
                Err(Refusal::new(Code::Conflict, sentence))
            }
            Err(error) => Err(not_written(target, &error)),
        }
    }

    /// Renames the new extension to where another one is, which is deleted with this folder.
    pub(super) fn replace(&self, target: &Path) -> Result<(), Refusal> {
        let swap = || -> io::Result<()> {
            match renameat_with(CWD, self.new_folder(), CWD, target, RenameFlags::EXCHANGE) {
                // Not every file system can swap two folders at once.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
                swapped => return Ok(swapped?),
            }
            let old = self.old_folder(target)?;
            fs::rename(target, &old)?;
            rename_to_free(&self.new_folder(), target).inspect_err(|_| {
                if let Err(error) = fs::rename(&old, target) {
                    tracing::error!(%error, "cannot restore {}", target.display());
                }
            })
        };
        swap().map_err(|error| not_written(target, &error))
    }

    /// Takes an extension out of its place and deletes it; of a link only the link.
    pub(super) fn take(&self, folder: &Path) -> Result<(), Refusal> {
        let removed = self.path("removed");
        let take = || -> io::Result<()> {
            fs::rename(folder, &removed)?;
            delete_all(&removed)
        };
        take()
            .map_err(|error| Refusal::system(format!("cannot delete {}", folder.display()), &error))
    }

    /// A refusal about a file in here, without the path that will be gone.
    pub(super) fn without_path(&self, refusal: Refusal) -> Refusal {
        let inner = format!("{}/", self.new_folder().display());
        Refusal { sentence: refusal.sentence.replace(&inner, ""), ..refusal }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = delete_all(&self.folder) {
            tracing::warn!(%error, "cannot delete {}", self.folder.display());
        }
    }
}

/// Deletes what servers left behind that were killed while they installed something. An extension
/// that was being replaced is put back.
pub(crate) fn clean_up(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.filter_map(Result::ok) {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let folder = entry.path();
        let Ok(lock) = File::open(&folder) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        restore(&folder.join("old"), parent);
        if let Err(error) = delete_all(&folder) {
            tracing::warn!(%error, "cannot delete {}", folder.display());
        }
    }
}

fn restore(old: &Path, parent: &Path) {
    let Ok(entries) = fs::read_dir(old) else { return };
    for entry in entries.filter_map(Result::ok) {
        // Fails if the new one is in place.
        let _ = rename_to_free(&entry.path(), &parent.join(entry.file_name()));
    }
}

/// Renames to where nothing is, which not every file system can check and do at once.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return Ok(renamed?),
    }
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// Deletes a file, a link or a folder; links are not followed.
fn delete_all(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn entries(dir: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(name).collect();
        names.sort();
        names
    }

    fn staged(parent: &Path, text: &str) -> Staging {
        let staging = Staging::new(parent).unwrap();
        fs::create_dir(staging.new_folder()).unwrap();
        fs::write(staging.new_folder().join("text"), text).unwrap();
        staging
    }

    #[test]
    fn a_folder_is_placed_where_nothing_is_and_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a");
        staged(dir.path(), "one").place(&target).unwrap();
        let refusal = staged(dir.path(), "two").place(&target).unwrap_err();
        assert_eq!(refusal.code, Code::Conflict);
        assert_eq!(fs::read_to_string(target.join("text")).unwrap(), "one");
        staged(dir.path(), "two").replace(&target).unwrap();
        assert_eq!(fs::read_to_string(target.join("text")).unwrap(), "two");
        assert_eq!(entries(dir.path()), ["a"]);
    }

    #[test]
    fn of_a_link_only_the_link_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let real = tempfile::tempdir().unwrap();
        fs::write(real.path().join("mine"), "").unwrap();
        let link = dir.path().join("link");
        symlink(real.path(), &link).unwrap();
        Staging::new(dir.path()).unwrap().take(&link).unwrap();
        assert!(entries(dir.path()).is_empty());
        symlink(real.path(), &link).unwrap();
        staged(dir.path(), "new").replace(&link).unwrap();
        assert_eq!(entries(dir.path()), ["link"]);
        assert_eq!(entries(real.path()), ["mine"]);
    }

    #[test]
    fn what_a_killed_server_left_is_cleaned_up_and_what_it_was_replacing_restored() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(format!("{PREFIX}1-1"));
        fs::create_dir_all(left.join("old/a")).unwrap();
        fs::create_dir_all(left.join("new")).unwrap();
        let busy = staged(dir.path(), "busy");
        clean_up(dir.path());
        assert!(busy.new_folder().exists());
        drop(busy);
        assert_eq!(entries(dir.path()), ["a"]);
    }
}
