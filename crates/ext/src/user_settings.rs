//! What the user decided about extensions, in a private file of the state folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use paned_model::{Refusal, Scope};
use serde::{Deserialize, Serialize};

use crate::private_dir::make_private;

/// What the user decided about one extension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserSettings {
    /// The scopes, in place of those in the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scopes: Option<BTreeSet<Scope>>,
    /// Whether it is not started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) disabled: bool,
}

/// The settings by the name of the extension.
pub(crate) type SettingsByName = BTreeMap<String, UserSettings>;

/// Reads the file; empty if it does not exist.
///
/// # Errors
/// When it is damaged: what the user turned off must not be started by accident.
pub(crate) fn load(path: &Path) -> Result<SettingsByName, Refusal> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => {
            return Err(Refusal::system(format!("cannot read {}", path.display()), &error));
        }
    };
    serde_json::from_str(&text).map_err(|error| {
        Refusal::internal(format!(
            "cannot read {}: {error}; delete it to start every extension with the scopes in its \
            manifest",
            path.display()
        ))
    })
}

/// Writes the file, whole or not at all.
pub(crate) fn store(path: &Path, settings: &SettingsByName) -> Result<(), Refusal> {
    let text = serde_json::to_string_pretty(settings).map_err(Refusal::internal)?;
    let write = || -> io::Result<()> {
        path.parent().map_or(Ok(()), make_private)?;
        let fresh = path.with_extension("new");
        let _ = fs::remove_file(&fresh);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        writeln!(file, "{text}")?;
        file.sync_all()?;
        fs::rename(fresh, path)
    };
    write().map_err(|error| Refusal::system(format!("cannot write {}", path.display()), &error))
}

/// Changes the settings of one extension.
pub(crate) fn change(
    path: &Path,
    name: &str,
    change: impl FnOnce(&mut UserSettings),
) -> Result<(), Refusal> {
    let mut all = load(path)?;
    let settings = all.entry(name.to_owned()).or_default();
    change(settings);
    if *settings == UserSettings::default() {
        all.remove(name);
    }
    store(path, &all)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn settings_are_private_and_survive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ext/settings.json");
        assert_eq!(load(&path).unwrap(), BTreeMap::new());
        change(&path, "guard", |settings| settings.disabled = true).unwrap();
        let scopes = BTreeSet::from([Scope::Read]);
        change(&path, "guard", |settings| settings.scopes = Some(scopes.clone())).unwrap();
        let guard = load(&path).unwrap()["guard"].clone();
        assert_eq!(guard, UserSettings { scopes: Some(scopes), disabled: true });
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        change(&path, "guard", |settings| *settings = UserSettings::default()).unwrap();
        assert_eq!(load(&path).unwrap(), BTreeMap::new());
        fs::write(&path, "{").unwrap();
        assert!(load(&path).unwrap_err().sentence.contains("delete it"));
    }
}
