//! The one place that reads and writes other programs' configuration files.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use paned_model::{Code, Refusal};
use rustix::fs::{FlockOperation, flock};

/// How long to wait for another `paned` that changes the same file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// A larger file is not a configuration.
const LARGEST_FILE: u64 = 64 << 20;
/// Between the name of a file and the time of its backup.
const BACKUP: &str = ".paned-backup-";
/// The same for what was undone: it is kept, but undoing again does not bring it back.
const UNDONE: &str = ".paned-undone-";

/// Why a copy of the old file is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyKind {
    /// So that the change can be undone.
    Backup,
    /// It was undone.
    Undone,
}

/// A configuration file: where it really is, and its text; none if there is no such file.
#[derive(Debug)]
pub(super) struct ConfigFile {
    /// The path that the program knows, which may be a link.
    pub(super) path: PathBuf,
    /// The file that the path leads to.
    target: PathBuf,
    pub(super) text: Option<String>,
}

impl ConfigFile {
    /// Reads a file. A link is followed, so that it stays a link.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound => missing(path)?,
            Err(error) => return Err(error).with_context(|| cannot("read", path)),
        };
        let text = text(&target).with_context(|| cannot("read", path))?;
        Ok(Self { path: path.to_owned(), target, text })
    }

    /// Replaces the text at once, or deletes the file; answers the path of the copy.
    pub(super) fn write(&self, new: Option<&str>, kind: CopyKind) -> Result<Option<PathBuf>> {
        let folder = self.target.parent().context("a file without a folder")?;
        fs::create_dir_all(folder).with_context(|| cannot("create", folder))?;
        let _lock = lock(folder)?;
        if text(&self.target)? != self.text {
            let path = self.path.display();
            let sentence = format!("{path} has changed meanwhile; run the command again");
            return Err(Refusal::new(Code::Conflict, sentence).into());
        }
        let backup = self.text.is_some().then(|| self.copy(kind)).transpose()?;
        match new {
            Some(new) => self.replace(folder, new)?,
            None => {
                fs::remove_file(&self.target).with_context(|| cannot("delete", &self.target))?;
            }
        }
        File::open(folder)?.sync_all().with_context(|| cannot("write", folder))?;
        Ok(backup)
    }

    fn replace(&self, folder: &Path, new: &str) -> Result<()> {
        let fresh = folder.join(format!(".paned-{}.tmp", std::process::id()));
        let written = create(&fresh, new.as_bytes(), self.target.metadata().ok().as_ref())
            .and_then(|()| fs::rename(&fresh, &self.target));
        if written.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        written.with_context(|| cannot("write", &self.path))
    }

    /// A copy beside the file, with its mode: it may contain secrets.
    fn copy(&self, kind: CopyKind) -> Result<PathBuf> {
        let infix = match kind {
            CopyKind::Backup => BACKUP,
            CopyKind::Undone => UNDONE,
        };
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let time = Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ");
        let path = self.target.with_file_name(format!("{name}{infix}{time}"));
        let bytes = fs::read(&self.target).with_context(|| cannot("read", &self.target))?;
        create(&path, &bytes, self.target.metadata().ok().as_ref())
            .with_context(|| cannot("write", &path))?;
        Ok(path)
    }

    /// The text of the newest backup that is not the text of now.
    pub(super) fn newest_backup(&self) -> Result<Option<String>> {
        let Some(folder) = self.target.parent() else { return Ok(None) };
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let start = format!("{name}{BACKUP}");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let is_backup = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))
        };
        let mut backups: Vec<_> = paths.filter(is_backup).collect();
        backups.sort();
        for path in backups.iter().rev() {
            let before = text(path).with_context(|| cannot("read", path))?;
            if before != self.text {
                return Ok(before);
            }
        }
        Ok(None)
    }
}

/// Where a file that is missing would be. The folder may be a link; the file may not lead nowhere.
fn missing(path: &Path) -> Result<PathBuf> {
    if let Ok(to) = fs::read_link(path) {
        let path = path.display();
        let to = to.display();
        let sentence = format!("{path} is a link to {to}, which does not exist");
        return Err(Refusal::new(Code::NotFound, sentence).into());
    }
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let name = path.file_name().context("a path without a name")?;
    Ok(folder.map_or_else(|| path.to_owned(), |folder| folder.join(name)))
}

fn text(path: &Path) -> Result<Option<String>> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !found.is_file() || LARGEST_FILE < found.len() {
        let sentence = format!("{} is not a configuration file", path.display());
        return Err(Refusal::invalid(sentence).into());
    }
    let bytes = fs::read(path)?;
    let refuse = |_| Refusal::invalid(format!("{} is not UTF-8", path.display()));
    Ok(Some(String::from_utf8(bytes).map_err(refuse)?))
}

/// Creates a file with the mode and the owner of another one, and waits until it is on the disk.
fn create(path: &Path, bytes: &[u8], like: Option<&fs::Metadata>) -> std::io::Result<()> {
    let mut open = OpenOptions::new();
    open.write(true).create_new(true);
    // Closed until it has the mode of the other file.
    if like.is_some() {
        open.mode(0o600);
    }
    let mut file = open.open(path)?;
    if let Some(like) = like {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            std::os::unix::fs::fchown(&file, Some(like.uid()), Some(like.gid()))?;
        }
        file.set_permissions(fs::Permissions::from_mode(like.mode() & 0o7777))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Locks a folder against another `paned`. The lock is on the folder itself, so it leaves no file.
fn lock(folder: &Path) -> Result<File> {
    let file = File::open(folder).with_context(|| cannot("open", folder))?;
    let deadline = Instant::now() + LOCK_TIMEOUT;
    while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        if deadline < Instant::now() {
            let sentence =
                format!("another paned is changing files in {}; try again", folder.display());
            return Err(Refusal::new(Code::Busy, sentence).into());
        }
        sleep(RETRY_INTERVAL);
    }
    Ok(file)
}

fn cannot(verb: &str, path: &Path) -> String {
    format!("cannot {verb} {}", path.display())
}
