//! Where extensions, their data and their logs are.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The two folders: one of the user with the extensions, one of the server with their state.
#[derive(Clone, Debug)]
pub struct Folders {
    extensions: PathBuf,
    state: PathBuf,
}

impl Folders {
    /// Folders that need not exist yet: the extensions folder, and the server's state folder.
    #[must_use]
    pub fn new(extensions: impl Into<PathBuf>, state: impl AsRef<Path>) -> Self {
        Self { extensions: extensions.into(), state: state.as_ref().join("extensions") }
    }

    /// The folder with the extensions.
    #[must_use]
    pub fn extensions(&self) -> &Path {
        &self.extensions
    }

    /// The private folder of an extension, which is kept when it is replaced.
    #[must_use]
    pub fn data(&self, name: &str) -> PathBuf {
        self.state_of(name).join("data")
    }

    /// The log of an extension.
    #[must_use]
    pub fn log(&self, name: &str) -> PathBuf {
        self.state_of(name).join("log")
    }

    /// What the server keeps about an extension.
    pub(crate) fn state_of(&self, name: &str) -> PathBuf {
        // Names of folders come here too, while their manifest is invalid.
        self.state.join("of").join(name.replace(['/', '\0'], "_"))
    }

    /// The file with the user's settings for extensions.
    pub(crate) fn settings(&self) -> PathBuf {
        self.state.join("settings.json")
    }
}

/// Makes a folder that only its user can enter, and its parents, where they are missing.
///
/// # Errors
/// When that fails.
pub fn make_private(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
