//! Reading small files of a folder that may be hostile.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use paned_model::Refusal;
use rustix::fs::OFlags;

/// Reads a text file of a folder; none if it does not exist. Symbolic links may not leave the
/// folder.
pub(crate) fn read_text(folder: &Path, name: &str, most: usize) -> Result<Option<String>, Refusal> {
    let path = folder.join(name);
    let refuse = |why: String| Refusal::invalid(format!("cannot read {}: {why}", path.display()));
    let Some(found) = inside(folder, Path::new(name)).map_err(&refuse)? else { return Ok(None) };
    let read = || -> io::Result<Option<Vec<u8>>> {
        // Without waiting, because opening a FIFO waits for its writer.
        let nonblock = OFlags::NONBLOCK.bits().cast_signed();
        let file = File::options().read(true).custom_flags(nonblock).open(&found)?;
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(most as u64 + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    };
    let bytes = match read() {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(refuse("it is not a file".into())),
        Err(error) => return Err(refuse(error.to_string())),
    };
    if most < bytes.len() {
        return Err(refuse(format!("it is larger than {} KiB", most / 1024)));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".into()))?;
    Ok(Some(text))
}

/// Resolves a path inside a folder; none if nothing exists there.
///
/// # Errors
/// When it leaves the folder, or cannot be resolved.
pub(crate) fn inside(folder: &Path, path: &Path) -> Result<Option<PathBuf>, String> {
    let root = fs::canonicalize(folder).map_err(|error| error.to_string())?;
    match fs::canonicalize(root.join(path)) {
        Ok(found) if found.starts_with(&root) => Ok(Some(found)),
        Ok(_) => Err("it leads out of the folder of the extension".into()),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_small_text_files_inside_the_folder_are_read() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("ext");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        fs::write(folder.join("good"), "text").unwrap();
        fs::write(folder.join("large"), "x".repeat(101)).unwrap();
        fs::write(folder.join("binary"), [0xff]).unwrap();
        symlink("../secret", folder.join("leak")).unwrap();
        symlink("good", folder.join("link")).unwrap();
        symlink("nowhere", folder.join("dangling")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.join("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let read = |name: &str| read_text(&folder, name, 100);
        assert_eq!(read("good").unwrap().as_deref(), Some("text"));
        assert_eq!(read("link").unwrap().as_deref(), Some("text"));
        assert_eq!(read("missing").unwrap(), None);
        assert_eq!(read("dangling").unwrap(), None);
        for (name, why) in [
            ("leak", "leads out"),
            ("../secret", "leads out"),
            ("large", "larger"),
            ("binary", "UTF-8"),
            ("sub", "not a file"),
            ("fifo", "not a file"),
        ] {
            let refusal = read(name).unwrap_err();
            assert!(refusal.sentence.contains(why), "{name}: {refusal}");
        }
    }
}
