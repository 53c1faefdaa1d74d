//! Notices that the manifest or the code of an extension was changed, so that it is reloaded.
//!
//! Linux only: elsewhere `paned ext reload` does it.

use std::collections::VecDeque;
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
/// What files of code end with.
const CODE: [&str; 9] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "py"];
/// Folders of packages and of compiled files.
const FOREIGN: [&str; 2] = ["node_modules", "__pycache__"];
/// How much of a folder is looked at: what an author writes by hand.
const MOST_FILES: usize = 500;
const MOST_FOLDERS: usize = 50;

/// The files of one extension that matter.
pub(crate) struct FileWatch {
    files: Vec<PathBuf>,
    /// How many of them, at the beginning, are named by the manifest.
    named: usize,
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
        let mut files = files_of(manifest);
        let named = files.len();
        files.extend(code_in(&manifest.folder));
        let folders = FolderWatch::new(files.iter().filter_map(|file| file.parent()));
        let stamps = stamps(&files);
        Self { files, named, stamps, folders, is_stirred: false }
    }

    /// The program is ready. Code that it wrote while it started, such as what it compiled, is no
    /// change: it would be started again and again.
    pub(crate) fn note_ready(&mut self) {
        self.stamps.truncate(self.named);
        self.stamps.extend(stamps(&self.files[self.named..]));
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

/// The files of code in a folder, those of packages left out. Links are not followed.
fn code_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = VecDeque::from([folder.to_owned()]);
    let mut looked_at = 0;
    while let Some(folder) = folders.pop_front() {
        looked_at += 1;
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            let is_code = Path::new(&name)
                .extension()
                .is_some_and(|ending| CODE.iter().any(|code| ending == *code));
            if kind.is_file() && is_code && files.len() < MOST_FILES {
                files.push(entry.path());
            }
            let is_own = !name.starts_with('.') && !FOREIGN.contains(&name.as_str());
            if kind.is_dir() && is_own && looked_at + folders.len() < MOST_FOLDERS {
                folders.push_back(entry.path());
            }
        }
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
        for folder in ["lib/deep", "node_modules/a", ".cache"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let files = ["main.py", "lib/deep/part.py", "node_modules/a/index.js", ".cache/main.js"];
        for file in files {
            fs::write(dir.path().join(file), "1").unwrap();
        }
        let mut watch = FileWatch::new(&manifest(dir.path()));
        for file in ["notes", "lib/data.json", "node_modules/a/index.js", ".cache/main.js"] {
            fs::write(dir.path().join(file), "xx").unwrap();
        }
        assert!(timeout(2 * SETTLE, watch.changed()).await.is_err());
        for name in ["main.py", "lib/deep/part.py", "paned.toml"] {
            let fresh = dir.path().join("fresh");
            fs::write(&fresh, "22").unwrap();
            fs::rename(fresh, dir.path().join(name)).unwrap();
            timeout(Duration::from_secs(10), watch.changed()).await.expect(name);
        }
        fs::remove_file(dir.path().join("paned.toml")).unwrap();
        timeout(Duration::from_secs(10), watch.changed()).await.expect("a removal");
        fs::write(dir.path().join("lib/deep/part.py"), "compiled").unwrap();
        watch.note_ready();
        assert!(timeout(2 * SETTLE, watch.changed()).await.is_err(), "written by the start");
    }
}
