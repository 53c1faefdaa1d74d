//! The files of the workspace in memory, so that a rule is a function over values and a test can
//! build the tree it needs. Only [`Tree::read`] reads the disk.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::manifest::Manifest;
use crate::source::{self, Source};

/// The text files of the workspace.
pub(crate) struct Tree {
    files: Vec<File>,
}

impl Tree {
    /// Reads what git tracks or would track. Binary files and those just deleted are left out.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let mut files: Vec<File> = listed(root)?
            .iter()
            .filter_map(|path| {
                Some(File::new(path, std::fs::read_to_string(root.join(path)).ok()?))
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    /// A tree of these paths and texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| File::new(path, (*text).to_owned()));
        Tree { files: files.collect() }
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Every `Cargo.toml` that declares a package.
    pub(crate) fn manifests(&self) -> Vec<Manifest> {
        self.files.iter().filter_map(Manifest::parse).collect()
    }
}

/// One text file, and for Rust its code and comments apart.
pub(crate) struct File {
    /// From the root of the workspace, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Empty where the file is not Rust.
    pub(crate) source: Source,
}

impl File {
    pub(crate) fn new(path: &str, text: String) -> File {
        let rust = if path.ends_with(".rs") { text.as_str() } else { "" };
        File { path: path.to_owned(), source: source::split(rust), text }
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(crate) fn extension(&self) -> Option<&str> {
        self.name().rsplit_once('.').map(|(_, extension)| extension)
    }

    /// Whether the file lies in a folder called `tests`.
    pub(crate) fn is_in_tests(&self) -> bool {
        let folders = self.path.rsplit_once('/').map_or("", |(folders, _)| folders);
        folders.split('/').any(|folder| folder == "tests")
    }
}

fn listed(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        // On a build machine the folder often belongs to another user; listing files is harmless.
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("tidy asks git for the list of files")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git cannot list the files: {}", complaint.trim());
    let paths = String::from_utf8(output.stdout).context("a path is not UTF-8")?;
    Ok(paths.split_terminator('\0').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_knows_its_name_and_its_folder() {
        let file = File::new("crates/keeper/tests/tape.rs", String::new());
        assert_eq!(file.name(), "tape.rs");
        assert_eq!(file.extension(), Some("rs"));
        assert!(file.is_in_tests());
        assert!(!File::new("crates/keeper/src/tests.rs", String::new()).is_in_tests());
    }

    #[test]
    fn our_own_files_are_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(Tree::read(root).unwrap().get("xtask/src/tree.rs").is_some());
    }
}
