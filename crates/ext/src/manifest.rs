//! What the folder of an extension declares: `paned.toml`, or the `package.json` of a Node package.
//!
//! Only small files inside the folder are read, and nothing is run.

mod package_json;
mod paned_toml;
mod values;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paned_model::{Refusal, Scope};

use crate::files::read_text;

/// The largest `paned.toml` or `package.json` that is read.
const LARGEST: usize = 1 << 20;

/// What the folder of an extension declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Its name. A Node package may export another one when it is loaded.
    pub name: String,
    /// Its version, if it declares one.
    pub version: Option<String>,
    /// One sentence, if it declares one.
    pub description: Option<String>,
    /// What is run.
    pub program: Program,
    /// What its calls may do, as it asks for.
    pub scopes: BTreeSet<Scope>,
    /// The events it receives, as patterns. It may subscribe to more when it runs.
    pub subscribe: Vec<String>,
    /// The actions it is asked about before they run, as patterns.
    pub veto: Vec<String>,
    /// Whether those actions are refused if it does not answer.
    pub required: bool,
    /// How long one event or one veto may take, if it declares that.
    pub timeout: Option<Duration>,
    /// Its folder, as an absolute path.
    pub folder: PathBuf,
    /// The dependencies in `package.json` that are not in `node_modules`.
    pub missing: Vec<String>,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program that speaks the protocol itself, started in the folder without a shell.
    Command(Vec<String>),
    /// A module that the Node host loads, as an absolute path inside the folder.
    Node(PathBuf),
}

impl Manifest {
    /// Reads the manifest of a folder; none if the folder has none. `paned.toml` comes before
    /// `package.json`.
    ///
    /// # Errors
    /// When the manifest is invalid, with a sentence that names the file.
    pub fn read(folder: &Path) -> Result<Option<Self>, Refusal> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Self::read_as(folder, &name)
    }

    /// The same, for a folder that will have this name.
    pub(crate) fn read_as(folder: &Path, folder_name: &str) -> Result<Option<Self>, Refusal> {
        if let Some(text) = read_text(folder, paned_toml::FILE, LARGEST)? {
            return paned_toml::manifest(folder, &text).map(Some);
        }
        match read_text(folder, package_json::FILE, LARGEST)? {
            Some(text) => package_json::manifest(folder, folder_name, &text),
            None => Ok(None),
        }
    }

    /// The command that installs what is missing, if anything is. It runs no install scripts.
    #[must_use]
    pub fn install_command(&self) -> Option<String> {
        let folder = values::shell_word(&self.folder.to_string_lossy());
        let install = format!("cd {folder} && npm install --ignore-scripts --omit=dev");
        (!self.missing.is_empty()).then_some(install)
    }
}

#[cfg(test)]
mod tests;
