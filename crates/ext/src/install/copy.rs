//! Copying a local folder file by file. Folders are opened one inside the other and links are never
//! followed, so that nothing outside the folder is read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use paned_model::Refusal;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};

use super::tree::{
    DEEPEST, LeftOut, MOST_BYTES, SPECIAL, SYMLINK_OUTSIDE, TreeBudget, make_dir, not_written,
    too_large, write_new_file,
};

const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Without waiting, because opening a FIFO waits for its writer.
const OPEN_FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const EXECUTABLE: u32 = 0o100;

/// Copies a folder to a path where nothing is.
pub(super) fn copy(source: &Path, target: &Path) -> Result<LeftOut, Refusal> {
    let root = fs::canonicalize(source).map_err(|error| not_read(source, &error))?;
    let staging = target.parent().map(fs::canonicalize).transpose();
    let staging = staging.map_err(|error| not_written(target, &error))?;
    if staging.is_some_and(|staging| staging.starts_with(&root)) {
        return Err(Refusal::invalid(format!(
            "cannot install {}: the extensions folder is inside it",
            source.display()
        )));
    }
    let folder = openat(CWD, &root, OPEN_DIR, Mode::empty());
    let folder = folder.map_err(|error| not_read(source, &error.into()))?;
    make_dir(target).map_err(|error| not_written(target, &error))?;
    let mut copier = TreeCopier {
        source: root,
        target: target.to_owned(),
        budget: TreeBudget::new(),
        left_out: LeftOut::default(),
    };
    copier.copy_dir(&folder, Path::new(""), 0)?;
    Ok(copier.left_out)
}

struct TreeCopier {
    source: PathBuf,
    target: PathBuf,
    budget: TreeBudget,
    left_out: LeftOut,
}

impl TreeCopier {
    fn copy_dir(&mut self, folder: &OwnedFd, path: &Path, depth: usize) -> Result<(), Refusal> {
        if depth == DEEPEST {
            return Err(self.not_read(path, "its folders are nested too deeply"));
        }
        let entries = Dir::read_from(folder).map_err(|error| self.not_read(path, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.not_read(path, error))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            // The history of a repository is not part of the extension.
            if name != "." && name != ".." && name != ".git" {
                self.copy_entry(folder.as_fd(), name, &path.join(name), depth)?;
            }
        }
        Ok(())
    }

    fn copy_entry(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> Result<(), Refusal> {
        self.budget.entry()?;
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let found = found.map_err(|error| self.not_read(path, error))?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                let inner = openat(folder, name, OPEN_DIR, Mode::empty());
                let inner = inner.map_err(|error| self.not_read(path, error))?;
                make_dir(&self.target.join(path)).map_err(|error| not_written(path, &error))?;
                self.copy_dir(&inner, path, depth + 1)
            }
            FileType::RegularFile => self.copy_file(folder, name, path),
            FileType::Symlink => self.copy_link(folder, name, path),
            _ => {
                self.left_out.add(SPECIAL, path);
                Ok(())
            }
        }
    }

    fn copy_file(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> Result<(), Refusal> {
        let file = openat(folder, name, OPEN_FILE, Mode::empty());
        let file = File::from(file.map_err(|error| self.not_read(path, error))?);
        let found = fstat(&file).map_err(|error| self.not_read(path, error))?;
        // It may have become something else since it was listed.
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            self.left_out.add(SPECIAL, path);
            return Ok(());
        }
        if MOST_BYTES < u64::try_from(found.st_size).unwrap_or_default() {
            return Err(too_large());
        }
        // Of all permissions only that to run it is kept.
        let is_executable = found.st_mode & EXECUTABLE != 0;
        let mut content = file.take(MOST_BYTES + 1);
        let target = self.target.join(path);
        let written = write_new_file(&target, is_executable, &mut content);
        self.budget.bytes(written.map_err(|error| not_written(path, &error))?)
    }

    fn copy_link(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> Result<(), Refusal> {
        let to = readlinkat(folder, name, Vec::new());
        let to = to.map_err(|error| self.not_read(path, error))?;
        let to = Path::new(OsStr::from_bytes(to.to_bytes()));
        if !stays_inside(path, to) {
            self.left_out.add(SYMLINK_OUTSIDE, path);
            return Ok(());
        }
        symlink(to, self.target.join(path)).map_err(|error| not_written(path, &error))
    }

    fn not_read(&self, path: &Path, error: impl ToString) -> Refusal {
        let path = self.source.join(path);
        Refusal::invalid(format!("cannot copy {}: {}", path.display(), error.to_string()))
    }
}

fn not_read(path: &Path, error: &io::Error) -> Refusal {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Refusal::not_found(format!(
            "no folder {path}; for a git repository write its address, such as https://HOST/PATH"
        )),
        _ => Refusal::invalid(format!("cannot read the folder {path}: {error}")),
    }
}

/// Whether a link at this path stays inside the folder. `..` may only come first: after another
/// word, which may itself be a link, it could lead elsewhere than it seems.
fn stays_inside(path: &Path, to: &Path) -> bool {
    let above = path.components().count() - 1;
    let mut ups = 0;
    let mut is_down = false;
    for part in to.components() {
        match part {
            Component::ParentDir if !is_down => ups += 1,
            Component::Normal(_) => is_down = true,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    ups <= above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_may_go_up_first_and_then_down_but_never_out() {
        for (path, to) in [
            ("a", "b"),
            ("a", "./b/c"),
            ("node_modules/.bin/tsc", "../typescript/bin/tsc"),
            ("a/b/c", "../.."),
        ] {
            assert!(stays_inside(Path::new(path), Path::new(to)), "{path} -> {to}");
        }
        for (path, to) in [
            ("a", "/etc/passwd"),
            ("a", ".."),
            ("a", "../b"),
            ("a/b", "../../c"),
            ("a", "b/../../c"),
            ("a/b/c", "d/.."),
        ] {
            assert!(!stays_inside(Path::new(path), Path::new(to)), "{path} -> {to}");
        }
    }
}
