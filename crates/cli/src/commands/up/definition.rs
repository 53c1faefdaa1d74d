//! What a project runs: the panes that `paned.toml` or a `Procfile` defines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use paned_model::near::closest;
use paned_model::{PaneRestartPolicy, Refusal};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::super::support::env_file;

/// The panes of a project, by their names in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Project {
    /// The folder of the file, which identifies the project.
    pub(super) folder: PathBuf,
    /// What the ids of its panes start with.
    pub(super) prefix: String,
    pub(super) panes: BTreeMap<String, PaneDefinition>,
}

/// One pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PaneDefinition {
    pub(super) argv: Vec<String>,
    pub(super) cwd: PathBuf,
    /// Variables on top of the caller's; those of files are read when the pane is started.
    pub(super) env: BTreeMap<String, String>,
    pub(super) env_files: Vec<PathBuf>,
    pub(super) wait: Option<Readiness>,
    pub(super) restart: PaneRestartPolicy,
    pub(super) depends_on: Vec<String>,
    pub(super) tags: Vec<String>,
}

/// When a pane counts as ready: then the panes that depend on it are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Readiness {
    pub(super) condition: ReadyCondition,
    pub(super) timeout_ms: u64,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadyCondition {
    /// A line that matches.
    Pattern(String),
    /// A port of this machine that accepts connections.
    Port(u16),
    /// An address that answers with success.
    Http(String),
    /// The end of the program, with exit code 0.
    Exit,
}

/// How long a pane may take to become ready, unless the file says otherwise.
pub(super) const DEFAULT_WAIT_MS: u64 = 60_000;

impl ReadyCondition {
    /// What is waited for, in words.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Pattern(pattern) => format!("a line that matches `{pattern}`"),
            Self::Port(port) => format!("port {port}"),
            Self::Http(url) => url.clone(),
            Self::Exit => "its exit".to_owned(),
        }
    }
}

impl Project {
    /// The id of a pane of the project.
    pub(super) fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The names of panes and of all that they depend on, dependencies first. All panes when no
    /// names are given.
    ///
    /// # Errors
    /// When a name is not defined, or panes depend on each other in a circle.
    pub(super) fn in_order(&self, names: &[String]) -> Result<Vec<String>, Refusal> {
        let mut order = Vec::new();
        let mut path = Vec::new();
        let all: Vec<String> = self.panes.keys().cloned().collect();
        for name in if names.is_empty() { &all } else { names } {
            self.visit(name, &mut path, &mut order)?;
        }
        Ok(order)
    }

    fn visit(
        &self,
        name: &str,
        path: &mut Vec<String>,
        order: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        if order.iter().any(|done| done == name) {
            return Ok(());
        }
        if let Some(at) = path.iter().position(|on_path| on_path == name) {
            let circle = [&path[at..], &[name.to_owned()]].concat().join(" → ");
            let sentence = format!("circular dependency: {circle}");
            return Err(Refusal::invalid(sentence));
        }
        let pane = self.panes.get(name).ok_or_else(|| self.unknown(name, path.last()))?;
        path.push(name.to_owned());
        for dependency in &pane.depends_on {
            self.visit(dependency, path, order)?;
        }
        path.pop();
        order.push(name.to_owned());
        Ok(())
    }

    fn unknown(&self, name: &str, dependent: Option<&String>) -> Refusal {
        let near = closest(name, self.panes.keys().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let shown = name.escape_debug();
        let sentence = match dependent {
            Some(dependent) => format!("`{dependent}` depends on `{shown}`, which is not defined"),
            None => format!("no pane `{shown}` is defined in {}", self.folder.display()),
        };
        Refusal::invalid(format!("{sentence}{near}"))
    }
}

impl PaneDefinition {
    /// The variables of the files and of the definition, in the order in which they count.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn variables(&self) -> Result<Vec<(String, String)>, Refusal> {
        let mut variables = Vec::new();
        for file in &self.env_files {
            variables.extend(env_file::read(file)?);
        }
        variables.extend(self.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        Ok(variables)
    }

    /// A text that changes when the program has to be started again for a change of the
    /// definition. What is only waited for does not matter. Without the key, a reader of the pane's
    /// meta cannot find out the values of variables by trying them.
    ///
    /// # Errors
    /// When a file of variables cannot be read.
    pub(super) fn hash(&self, key: &str) -> Result<String, Refusal> {
        let variables: BTreeMap<_, _> = self.variables()?.into_iter().collect();
        let restart = self.restart.to_string();
        let text = json!([key, self.argv, self.cwd, variables, restart, self.tags]).to_string();
        let digest = Sha256::digest(text.as_bytes());
        Ok(BASE64_URL_SAFE_NO_PAD.encode(digest))
    }
}

/// A command line that a shell reads.
pub(super) fn shell(command: &str) -> Vec<String> {
    vec!["/bin/sh".to_owned(), "-c".to_owned(), command.to_owned()]
}

/// A path from the folder of the file, without `.` in it.
pub(super) fn from_folder(folder: &Path, path: &str) -> PathBuf {
    folder.join(path).components().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// `web<db,cache` is a pane `web` that depends on two others.
    pub(crate) fn project(panes: &str) -> Project {
        let pane = |text: &str| {
            let (name, on) = text.split_once('<').unwrap_or((text, ""));
            let depends_on =
                on.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            (name.to_owned(), PaneDefinition { depends_on, ..PaneDefinition::default() })
        };
        let panes = panes.split(' ').map(pane).collect();
        Project { folder: "/p".into(), prefix: String::new(), panes }
    }

    #[track_caller]
    fn check(panes: &str, names: &str, expect: &str) {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        let order = project(panes).in_order(&names);
        let order = order.map_or_else(|refusal| refusal.sentence, |order| order.join(" "));
        assert_eq!(order, expect, "{panes}");
    }

    #[test]
    fn dependencies_come_first() {
        check("a b c", "", "a b c");
        check("a<c b<a c", "", "c a b");
        check("web<db,cache db cache other", "web", "db cache web");
        check("a<b,c b<d c<d d", "", "d b c a");
    }

    #[test]
    fn circles_and_unknown_names_are_named() {
        let circle = "circular dependency: ";
        check("a<b b<c c<a", "", &format!("{circle}a → b → c → a"));
        check("a<a", "", &format!("{circle}a → a"));
        check("x<a a<b b<a", "x", &format!("{circle}a → b → a"));
        let unknown = "`web` depends on `dbb`, which is not defined; did you mean `db`?";
        check("web<dbb db", "", unknown);
        check("web db", "wbe", "no pane `wbe` is defined in /p; did you mean `web`?");
    }

    #[test]
    fn the_hash_changes_with_what_runs_only() {
        let one = PaneDefinition { argv: shell("a"), ..PaneDefinition::default() };
        let hash = one.hash("key").unwrap();
        let condition = ReadyCondition::Port(1);
        let wait = Some(Readiness { condition, timeout_ms: 1 });
        let waits = PaneDefinition { wait, depends_on: vec!["x".into()], ..one.clone() };
        assert_eq!(waits.hash("key").unwrap(), hash);
        assert_ne!(one.hash("other").unwrap(), hash);
        let other = PaneDefinition { argv: shell("b"), ..one };
        assert_ne!(other.hash("key").unwrap(), hash);
    }
}
