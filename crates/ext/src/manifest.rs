//! What the folder of an extension declares: `paned.toml`, or the `package.json` of a Node package.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paned_model::{Refusal, Scope};

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
    /// Reads the manifest of a folder; none if the folder has none.
    ///
    /// # Errors
    /// When the manifest is invalid, with a sentence that names the file.
    pub fn read(folder: &Path) -> Result<Option<Self>, Refusal> {
        let sentence = format!("cannot read the manifest in {}", folder.display());
        Err(Refusal::invalid(sentence))
    }
}
