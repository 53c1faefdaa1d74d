//! Where the state of extensions is: one folder for each, below `extensions` in the server's state
//! folder.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder `extensions` in the server's state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionPaths {
    folder: PathBuf,
}

impl ExtensionPaths {
    /// The paths below this state folder.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("extensions") }
    }

    /// The folder that holds everything else.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.folder
    }

    /// The folder of one extension.
    #[must_use]
    pub fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The private folder of an extension, in which it keeps what it wants.
    #[must_use]
    pub fn data(&self, name: &str) -> PathBuf {
        self.folder(name).join("data")
    }

    /// What an extension wrote to standard error, and notes of ours. Once it is too long it becomes
    /// [`Self::old_log`].
    #[must_use]
    pub fn log(&self, name: &str) -> PathBuf {
        self.folder(name).join("log")
    }

    /// The part of the log before [`Self::log`].
    #[must_use]
    pub fn old_log(&self, name: &str) -> PathBuf {
        self.folder(name).join("log.1")
    }

    /// The place of an extension in the journal.
    #[must_use]
    pub fn place(&self, name: &str) -> PathBuf {
        self.folder(name).join("place.json")
    }

    /// The process of an extension, for a server that was killed before it could end it.
    pub(crate) fn process(&self, name: &str) -> PathBuf {
        self.folder(name).join("process.json")
    }

    /// Makes the folders of an extension, which only its user can read.
    pub(crate) fn make(&self, name: &str) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.data(name))
    }
}
