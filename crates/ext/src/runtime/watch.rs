//! Notices that the manifest or the code of an extension was changed, so that it is reloaded.
//!
//! Linux only: elsewhere `paned ext reload` does it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use crate::manifest::{Manifest, Program};

/// How long after a change the files are looked at: editors and version control write several.
const SETTLE: Duration = Duration::from_millis(300);
/// Manifests of extensions.
const MANIFESTS: [&str; 2] = ["paned.toml", "package.json"];

/// The files of one extension that matter.
pub(crate) struct FileWatch {
    files: Vec<PathBuf>,
    stamps: Vec<FileStamp>,
    folders: FolderWatch,
    /// Something happened in the folders that was not looked at.
    is_stirred: bool,
}

/// What differs when a file is another one: inode, size and modification time.
type FileStamp = Option<(u64, u64, i64, i64)>;

impl FileWatch {
    /// Watches the manifest and the program's own files. Without the system's help, none is ever
    /// found changed.
    pub(crate) fn new(manifest: &Manifest) -> Self {
        let files = files_of(manifest);
        let folders = FolderWatch::new(files.iter().filter_map(|file| file.parent()));
        let stamps = stamps(&files);
        Self { files, stamps, folders, is_stirred: false }
    }

    /// Waits until a file was changed. Cancel-safe.
    pub(crate) async fn changed(&mut self) {
        loop {
            if !self.is_stirred {
                self.folders.stirred().await;
                self.is_stirred = true;
            }
            sleep(SETTLE).await;
            self.is_stirred = false;
            let stamps = stamps(&self.files);
            if stamps != self.stamps {
                self.stamps = stamps;
                return;
            }
        }
    }
}

/// The manifest, and the files in its folder that its command names.
fn files_of(manifest: &Manifest) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = MANIFESTS.map(|name| manifest.folder.join(name)).into();
    match &manifest.program {
        Program::Command(argv) => {
            let named = argv.iter().map(|word| manifest.folder.join(word));
            files.extend(named.filter(|path| path.starts_with(&manifest.folder) && path.is_file()));
        }
        Program::Node(main) => files.push(main.clone()),
    }
    files
}

fn stamps(files: &[PathBuf]) -> Vec<FileStamp> {
    let stamp = |file: &PathBuf| {
        let found = fs::metadata(file).ok()?;
        Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
    };
    files.iter().map(stamp).collect()
}

#[cfg(target_os = "linux")]
mod folder_watch {
    use std::collections::BTreeSet;
    use std::future::pending;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use tokio::io::unix::AsyncFd;

    use super::Path;

    #[expect(deprecated, reason = "its successor is unsafe; an OwnedFd keeps its descriptor")]
    fn async_fd(fd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
        AsyncFd::new(fd)
    }

    /// Folders in which files are written, moved and deleted.
    pub(super) struct FolderWatch(Option<AsyncFd<OwnedFd>>);

    impl FolderWatch {
        pub(super) fn new<'a>(folders: impl Iterator<Item = &'a Path>) -> Self {
            let folders: BTreeSet<&Path> = folders.collect();
            let watch = || -> std::io::Result<AsyncFd<OwnedFd>> {
                let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
                let wanted = WatchFlags::CLOSE_WRITE
                    | WatchFlags::MOVED_TO
                    | WatchFlags::MOVED_FROM
                    | WatchFlags::DELETE;
                for folder in folders {
                    add_watch(&watch, folder, wanted | WatchFlags::ONLYDIR)?;
                }
                async_fd(watch)
            };
            let watch = watch();
            if let Err(error) = &watch {
                tracing::debug!(%error, "changes of an extension's files are not noticed");
            }
            Self(watch.ok())
        }

        /// Waits until something happened there.
        pub(super) async fn stirred(&mut self) {
            let Some(watch) = &self.0 else { return pending().await };
            let Ok(mut ready) = watch.readable().await else { return pending().await };
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(watch.get_ref(), &mut buffer);
            // What happened does not matter: the files are looked at afterwards.
            while events.next().is_ok() {}
            ready.clear_ready();
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod folder_watch {
    use super::Path;

    /// Nothing is watched.
    pub(super) struct FolderWatch;

    impl FolderWatch {
        pub(super) fn new<'a>(_: impl Iterator<Item = &'a Path>) -> Self {
            Self
        }

        /// Never returns.
        pub(super) async fn stirred(&mut self) {
            std::future::pending().await
        }
    }
}

use folder_watch::FolderWatch;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tokio::time::timeout;

    use super::*;

    fn manifest(folder: &Path) -> Manifest {
        Manifest {
            name: "a".into(),
            version: None,
            description: None,
            program: Program::Command(vec!["python3".into(), "main.py".into()]),
            scopes: BTreeSet::new(),
            subscribe: Vec::new(),
            veto: Vec::new(),
            required: false,
            timeout: None,
            folder: folder.to_owned(),
            missing: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_change_of_the_code_or_the_manifest_is_noticed_and_other_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.py"), "1").unwrap();
        let mut watch = FileWatch::new(&manifest(dir.path()));
        fs::write(dir.path().join("notes"), "x").unwrap();
        assert!(timeout(2 * SETTLE, watch.changed()).await.is_err());
        for name in ["main.py", "paned.toml"] {
            let fresh = dir.path().join("fresh");
            fs::write(&fresh, "22").unwrap();
            fs::rename(fresh, dir.path().join(name)).unwrap();
            timeout(Duration::from_secs(10), watch.changed()).await.expect(name);
        }
        fs::remove_file(dir.path().join("paned.toml")).unwrap();
        timeout(Duration::from_secs(10), watch.changed()).await.expect("a removal");
    }
}
