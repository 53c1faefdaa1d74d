//! OpenCode's configuration files of a project.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use paned_policy::permissions::OpenCodeRules;

/// The names that OpenCode reads in each folder.
const NAMES: [&str; 3] = ["opencode.jsonc", "opencode.json", ".opencode/opencode.json"];
/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The rules of a project, and its folder.
pub(crate) struct OpenCodeProject {
    pub(super) folder: PathBuf,
    /// The file that is named in explanations.
    pub(super) file: String,
    pub(super) found: Result<OpenCodeRules, String>,
}

impl OpenCodeProject {
    /// Rules that a caller sends, for a project in this folder.
    pub(crate) fn given(folder: PathBuf, config: &str) -> Self {
        let found = OpenCodeRules::parse(config);
        Self { folder, file: "openCode".to_owned(), found }
    }

    /// The files that apply to a folder: those of each folder up to the root of its git
    /// repository, of which the nearer ones count, and that of the user.
    pub(crate) fn find(folder: &Path, user: Option<&Path>) -> Self {
        let root = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder);
        let mut file = None;
        let mut all = Ok(OpenCodeRules::default());
        for folder in folder.ancestors() {
            for path in NAMES.map(|name| folder.join(name)) {
                add(&mut all, &mut file, &path);
            }
            if folder == root {
                break;
            }
        }
        if let Some(path) = user {
            add(&mut all, &mut file, path);
        }
        let file = file.unwrap_or_else(|| "opencode.json".to_owned());
        Self { folder: root.to_owned(), file, found: all }
    }
}

fn add(all: &mut Result<OpenCodeRules, String>, file: &mut Option<String>, path: &Path) {
    let Ok(before) = all.clone() else { return };
    let text = match fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return;
        }
        Ok(found) if MAX_BYTES < found.len() => Err("it is too large".to_owned()),
        _ => fs::read_to_string(path).map_err(|error| error.to_string()),
    };
    let shown = path.display();
    let read = text.and_then(|text| OpenCodeRules::parse(&text));
    file.get_or_insert_with(|| shown.to_string());
    *all = match read {
        Ok(rules) => Ok(before.or(rules)),
        Err(error) => Err(format!("cannot read {shown}: {error}")),
    };
}
