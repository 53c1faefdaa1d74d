//! Folders that only their user can enter.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Makes a private folder, and its parents, where they are missing.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
