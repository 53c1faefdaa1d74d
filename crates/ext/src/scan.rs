//! Which extensions are in the extensions folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use paned_model::Refusal;

use crate::Manifest;

/// A folder with a manifest.
#[derive(Clone, Debug)]
pub(crate) struct FoundExtension {
    /// The name in the manifest; that of the folder if the manifest is invalid.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// Where the folder is, if it is a symbolic link.
    pub(crate) link: Option<PathBuf>,
    /// Its manifest, or why it cannot be used.
    pub(crate) manifest: Result<Manifest, String>,
}

/// What is in the extensions folder.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// By name.
    pub(crate) extensions: Vec<FoundExtension>,
    /// Entries that are not extensions.
    pub(crate) ignored: Vec<PathBuf>,
}

impl Scan {
    /// Reads the extensions folder, which may be missing.
    ///
    /// # Errors
    /// When it cannot be read, or other users can write to it.
    pub(crate) fn read(extensions: &Path) -> Result<Self, Refusal> {
        let failed = |error| {
            Refusal::system(format!("cannot read the folder {}", extensions.display()), &error)
        };
        let entries = match fs::read_dir(extensions) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(error)),
        };
        check_owner(extensions).map_err(Refusal::invalid)?;
        let mut scan = Self::default();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                scan.add(entry.path());
            }
        }
        scan.extensions.sort_by(|a, b| order(a).cmp(&order(b)));
        scan.refuse_duplicates();
        Ok(scan)
    }

    fn add(&mut self, folder: PathBuf) {
        let is_link = fs::symlink_metadata(&folder).is_ok_and(|found| found.is_symlink());
        let manifest = match fs::metadata(&folder) {
            Ok(found) if found.is_dir() => {
                let manifest = Manifest::read(&folder);
                manifest.map_err(|refusal| refusal.sentence).transpose()
            }
            _ => None,
        };
        let Some(manifest) = manifest else {
            self.ignored.push(folder);
            return;
        };
        let manifest = manifest.and_then(|manifest| {
            check_owner(&folder)?;
            Ok(manifest)
        });
        let name = match &manifest {
            Ok(manifest) => manifest.name.clone(),
            Err(_) => folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let link = is_link.then(|| fs::canonicalize(&folder).ok()).flatten();
        self.extensions.push(FoundExtension { name, folder, link, manifest });
    }

    /// Of several folders with one name, the first is the extension.
    fn refuse_duplicates(&mut self) {
        for index in 1..self.extensions.len() {
            let (before, this) = self.extensions.split_at_mut(index);
            let this = &mut this[0];
            let first =
                before.iter().find(|other| other.name == this.name && other.manifest.is_ok());
            if let (Some(first), Ok(_)) = (first, &this.manifest) {
                this.manifest = Err(format!(
                    "the name `{}` belongs to the extension in {}; rename or delete one of them",
                    this.name,
                    first.folder.display()
                ));
            }
        }
    }

    /// The names of all whose manifest can be used.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let valid = self.extensions.iter().filter(|found| found.manifest.is_ok());
        valid.map(|found| found.name.clone()).collect()
    }

    /// The extension of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&FoundExtension> {
        let named = || self.extensions.iter().filter(|found| found.name == name);
        named().find(|found| found.manifest.is_ok()).or_else(|| named().next())
    }
}

/// By name; of two with one name, the one whose folder has that name comes first.
fn order(found: &FoundExtension) -> (&str, bool, &Path) {
    let is_elsewhere = !found.folder.ends_with(&found.name);
    (&found.name, is_elsewhere, &found.folder)
}

/// The server runs what is in the folder, so no other user may be able to change it.
fn check_owner(folder: &Path) -> Result<(), String> {
    const WORLD_WRITABLE: u32 = 0o002;
    let found = fs::metadata(folder).map_err(|error| error.to_string())?;
    let own = rustix::process::geteuid().as_raw();
    let folder = folder.display();
    if found.uid() != own && found.uid() != 0 {
        return Err(format!("{folder} belongs to another user (uid {})", found.uid()));
    }
    if found.mode() & WORLD_WRITABLE != 0 {
        return Err(format!("every user can write to {folder}; run `chmod o-w {folder}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn write(folder: &Path, name: &str) {
        fs::create_dir_all(folder).unwrap();
        let text = format!("name = '{name}'\ncommand = ['x']");
        fs::write(folder.join("paned.toml"), text).unwrap();
    }

    /// `name folder problem` of each extension.
    fn scan(dir: &Path) -> Vec<(String, String, Option<String>)> {
        let scan = Scan::read(dir).unwrap();
        let row = |found: &FoundExtension| {
            let folder = found.folder.file_name().unwrap().to_string_lossy().into_owned();
            (found.name.clone(), folder, found.manifest.clone().err())
        };
        scan.extensions.iter().map(row).collect()
    }

    #[test]
    fn folders_with_a_manifest_are_extensions_and_the_rest_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert!(Scan::read(&root.join("missing")).unwrap().extensions.is_empty());
        write(&root.join("b"), "b");
        write(&root.join(".staging"), "hidden");
        write(&root.join("broken"), "Not A Name");
        fs::create_dir(root.join("plain")).unwrap();
        fs::write(root.join("loose.ts"), "").unwrap();
        symlink("/nowhere", root.join("dangling")).unwrap();
        let found = scan(root);
        assert_eq!(found[0], ("b".into(), "b".into(), None));
        assert_eq!(found[1].0, "broken");
        assert!(found[1].2.as_ref().unwrap().contains("invalid extension name"));
        assert_eq!(found.len(), 2);
        assert_eq!(Scan::read(root).unwrap().ignored.len(), 3);
    }

    #[test]
    fn of_two_folders_with_one_name_that_with_the_name_wins() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a", "guard", "z"] {
            write(&dir.path().join(folder), "guard");
        }
        let found = scan(dir.path());
        let folders: Vec<_> = found.iter().map(|(_, folder, _)| folder.as_str()).collect();
        assert_eq!(folders, ["guard", "a", "z"]);
        assert_eq!(found[0].2, None);
        for (_, _, problem) in &found[1..] {
            let problem = problem.as_ref().unwrap();
            assert!(problem.contains("/guard; rename or delete"), "{problem}");
        }
    }

    #[test]
    fn a_link_to_a_folder_is_an_extension() {
        let dir = tempfile::tempdir().unwrap();
        let real = tempfile::tempdir().unwrap();
        write(real.path(), "mine");
        symlink(real.path(), dir.path().join("mine")).unwrap();
        let scan = Scan::read(dir.path()).unwrap();
        let link = scan.get("mine").unwrap().link.clone();
        assert_eq!(link, Some(fs::canonicalize(real.path()).unwrap()));
    }

    #[test]
    fn what_other_users_can_change_is_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("open");
        write(&folder, "open");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(scan(dir.path())[0].2.as_ref().unwrap().contains("chmod o-w"));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Scan::read(dir.path()).unwrap_err().sentence.contains("every user can write"));
    }
}
