//! The files of an extension that is being installed: which names are taken, how many, how large.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use paned_model::{Code, Refusal};

/// The most files and folders of an extension.
pub(super) const MOST_FILES: usize = 20_000;
/// The most bytes of an extension.
pub(super) const MOST_BYTES: u64 = 512 << 20;
/// The most folders inside each other.
pub(super) const DEEPEST: usize = 64;
const LONGEST_PATH: usize = 1024;
const LONGEST_NAME: usize = 255;
/// How many entries that were left out are listed.
const LISTED: usize = 5;

/// What may still be written.
pub(super) struct TreeBudget {
    files: usize,
    bytes: u64,
}

impl TreeBudget {
    pub(super) fn new() -> Self {
        Self { files: MOST_FILES, bytes: MOST_BYTES }
    }

    /// Counts a file or folder.
    pub(super) fn entry(&mut self) -> Result<(), Refusal> {
        self.files = self
            .files
            .checked_sub(1)
            .ok_or_else(|| limit(format!("it has more than {MOST_FILES} files")))?;
        Ok(())
    }

    /// Counts the bytes of a file.
    pub(super) fn bytes(&mut self, count: u64) -> Result<(), Refusal> {
        self.bytes = self.bytes.checked_sub(count).ok_or_else(too_large)?;
        Ok(())
    }
}

pub(super) fn too_large() -> Refusal {
    limit(format!("it is larger than {} MiB", MOST_BYTES >> 20))
}

fn limit(why: String) -> Refusal {
    Refusal::new(Code::Limit, format!("the extension was not installed: {why}"))
}

/// Entries that were not installed, by the reason.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<&'static str, Vec<String>>);

impl LeftOut {
    pub(super) fn add(&mut self, reason: &'static str, path: &Path) {
        self.0.entry(reason).or_default().push(path.to_string_lossy().into_owned());
    }

    /// One sentence for each reason.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentence = |(reason, paths): (&&'static str, &Vec<String>)| {
            let listed = paths.iter().take(LISTED).map(|path| path.escape_debug().to_string());
            let mut listed = listed.collect::<Vec<_>>().join(", ");
            if LISTED < paths.len() {
                listed += &format!(" and {} more", paths.len() - LISTED);
            }
            format!("{reason}: {listed}")
        };
        self.0.iter().map(sentence).collect()
    }
}

pub(super) const SYMLINK: &str = "symbolic links";
pub(super) const SYMLINK_OUTSIDE: &str = "symbolic links that lead outside";
pub(super) const SUBMODULE: &str = "git submodules";
pub(super) const SPECIAL: &str = "special files";

/// Refuses a path of a repository that could leave the folder or confuse its readers.
pub(super) fn check_path(path: &[u8]) -> Result<PathBuf, Refusal> {
    let shown: String = String::from_utf8_lossy(path).chars().take(200).collect();
    let refuse = |why: &str| {
        let sentence = format!("the repository has an entry `{}`: {why}", shown.escape_debug());
        Refusal::invalid(sentence)
    };
    let text = str::from_utf8(path).map_err(|_| refuse("its name is not UTF-8"))?;
    if LONGEST_PATH < text.len() {
        return Err(refuse("its path is too long"));
    }
    if text.chars().any(char::is_control) {
        return Err(refuse("its name contains a control character"));
    }
    let words: Vec<&str> = text.split('/').collect();
    if DEEPEST < words.len() {
        return Err(refuse("it is too deep"));
    }
    for word in &words {
        if matches!(*word, "" | "." | "..") {
            return Err(refuse("its path leaves the folder"));
        }
        if word.eq_ignore_ascii_case(".git") {
            return Err(refuse("git itself refuses that name"));
        }
        if LONGEST_NAME < word.len() {
            return Err(refuse("its name is too long"));
        }
    }
    let path = PathBuf::from(text);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_plain { Ok(path) } else { Err(refuse("its path leaves the folder")) }
}

/// Makes a folder; its parent exists. Permissions do not come from the source.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o755).create(path)
}

/// Writes a new file: never over another one, and never through a link.
pub(super) fn write_new_file(
    path: &Path,
    is_executable: bool,
    content: &mut impl Read,
) -> io::Result<u64> {
    let mode = if is_executable { 0o755 } else { 0o644 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    io::copy(content, &mut file)
}

/// Writes a folder with these files.
pub(super) fn write_files(folder: &Path, files: &[(PathBuf, String)]) -> Result<(), Refusal> {
    let write = || -> io::Result<()> {
        make_dir(folder)?;
        for (path, text) in files {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut file = File::create_new(&path)?;
            file.write_all(text.as_bytes())?;
        }
        Ok(())
    };
    write().map_err(|error| not_written(folder, &error))
}

/// The system's refusal to write.
pub(super) fn not_written(path: &Path, error: &io::Error) -> Refusal {
    Refusal::system(format!("cannot write {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_folder_are_refused() {
        for path in ["a", "a/b.ts", ".hidden", "a/..b", "ä/漢", ".gitignore", "x.git"] {
            assert_eq!(check_path(path.as_bytes()).unwrap(), Path::new(path));
        }
        let deep = "a/".repeat(80) + "a";
        let long = "x".repeat(256);
        for path in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            ".git",
            ".GIT/config",
            "a/.git/hooks/x",
            "a\nb",
            "a\0",
            "a\x1b[2J",
            &deep,
            &long,
        ] {
            assert!(check_path(path.as_bytes()).is_err(), "{path:?}");
        }
        assert!(check_path(b"\xff").is_err());
    }

    #[test]
    fn what_was_left_out_is_a_short_list() {
        let mut left_out = LeftOut::default();
        (0..7).for_each(|n| left_out.add(SYMLINK, Path::new(&format!("l{n}"))));
        left_out.add(SPECIAL, Path::new("fi\nfo"));
        assert_eq!(
            left_out.sentences(),
            ["special files: fi\\nfo", "symbolic links: l0, l1, l2, l3, l4 and 2 more"]
        );
    }
}
