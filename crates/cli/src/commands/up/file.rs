//! Reads `paned.toml`: unknown keys and wrong values are refused with their line.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use paned_model::near::closest;
use paned_model::{PaneId, Refusal};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::definition::{
    DEFAULT_WAIT_MS, PaneDefinition, Project, Readiness, ReadyCondition, from_folder, shell,
};
use crate::commands::support::duration::millis;

const FILE_KEYS: [&str; 2] = ["panes", "prefix"];
const PANE_KEYS: [&str; 8] =
    ["command", "cwd", "depends_on", "env", "env_file", "restart", "tags", "wait"];
const WAIT_KEYS: [&str; 5] = ["exit", "http", "pattern", "port", "timeout"];

type Value<'a> = Spanned<DeValue<'a>>;

/// Reads the text of a file.
///
/// # Errors
/// When it is not TOML, or has an unknown key or a wrong value.
pub(super) fn parse(path: &Path, folder: &Path, text: &str) -> Result<Project, Refusal> {
    let reader = ProjectReader { path, folder, text };
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or_default();
        reader.refuse(&at, error.message())
    })?;
    reader.project(document.get_ref())
}

struct ProjectReader<'a> {
    path: &'a Path,
    folder: &'a Path,
    text: &'a str,
}

impl ProjectReader<'_> {
    fn project(&self, document: &DeTable<'_>) -> Result<Project, Refusal> {
        let folder = self.folder.to_owned();
        let mut project = Project { folder, prefix: String::new(), panes: BTreeMap::new() };
        for (key, value) in document {
            match key.get_ref().as_ref() {
                "prefix" => project.prefix = self.string("prefix", value)?,
                "panes" => {
                    for (name, pane) in self.table("panes", value)? {
                        self.check_name(&name.span(), name.get_ref())?;
                        let pane = self.pane(name.get_ref(), pane)?;
                        project.panes.insert(name.get_ref().to_string(), pane);
                    }
                }
                unknown => return Err(self.unknown(&key.span(), unknown, &FILE_KEYS)),
            }
        }
        match project.panes.is_empty() {
            true => Err(self.refuse(
                &(0..0),
                "no panes are defined; write `[panes.web]` and `command = \"…\"`",
            )),
            false => Ok(project),
        }
    }

    fn check_name(&self, at: &Range<usize>, name: &str) -> Result<(), Refusal> {
        let error = |error| self.refuse(at, &format!("{error}"));
        name.parse::<PaneId>().map(drop).map_err(error)
    }

    fn pane(&self, name: &str, value: &Value<'_>) -> Result<PaneDefinition, Refusal> {
        let mut pane =
            PaneDefinition { cwd: from_folder(self.folder, ""), ..PaneDefinition::default() };
        for (key, value) in self.table(name, value)? {
            match key.get_ref().as_ref() {
                "command" => pane.argv = self.command(value)?,
                "cwd" => pane.cwd = from_folder(self.folder, &self.string("cwd", value)?),
                "depends_on" => pane.depends_on = self.strings("depends_on", value)?,
                "env" => pane.env = self.variables(value)?,
                "env_file" => {
                    let files = self.strings("env_file", value)?;
                    pane.env_files =
                        files.iter().map(|file| from_folder(self.folder, file)).collect();
                }
                "restart" => {
                    let policy = self.string("restart", value)?.parse();
                    pane.restart =
                        policy.map_err(|error| self.refuse(&value.span(), &format!("{error}")))?;
                }
                "tags" => pane.tags = self.strings("tags", value)?,
                "wait" => pane.wait = Some(self.readiness(value)?),
                unknown => return Err(self.unknown(&key.span(), unknown, &PANE_KEYS)),
            }
        }
        match pane.argv.is_empty() {
            true => {
                let what = format!("pane `{name}` has no `command`");
                Err(self.refuse(&value.span(), &what))
            }
            false => Ok(pane),
        }
    }

    /// A text is for a shell; a list is a program and its arguments.
    fn command(&self, value: &Value<'_>) -> Result<Vec<String>, Refusal> {
        match value.get_ref().as_str() {
            Some(command) if !command.trim().is_empty() => Ok(shell(command)),
            Some(_) => Err(self.refuse(&value.span(), "`command` is empty")),
            None => self.strings("command", value),
        }
    }

    fn readiness(&self, value: &Value<'_>) -> Result<Readiness, Refusal> {
        let mut condition = None;
        let mut timeout_ms = DEFAULT_WAIT_MS;
        for (key, value) in self.table("wait", value)? {
            let found = match key.get_ref().as_ref() {
                "pattern" => ReadyCondition::Pattern(self.string("pattern", value)?),
                "http" => ReadyCondition::Http(self.string("http", value)?),
                "port" => ReadyCondition::Port(self.port(value)?),
                "exit" if value.get_ref().as_bool() == Some(true) => ReadyCondition::Exit,
                "exit" => return Err(self.refuse(&value.span(), "`exit` can only be `true`")),
                "timeout" => {
                    let text = self.string("timeout", value)?;
                    timeout_ms = millis(&text).map_err(|error| {
                        self.refuse(&value.span(), &format!("`timeout`: {error}"))
                    })?;
                    continue;
                }
                unknown => return Err(self.unknown(&key.span(), unknown, &WAIT_KEYS)),
            };
            if condition.replace(found).is_some() {
                let what = "`wait` takes only one of `pattern`, `port`, `http` and `exit`";
                return Err(self.refuse(&key.span(), what));
            }
        }
        let missing = || {
            let what = "`wait` requires `pattern`, `port`, `http` or `exit`";
            self.refuse(&value.span(), what)
        };
        Ok(Readiness { condition: condition.ok_or_else(missing)?, timeout_ms })
    }

    fn port(&self, value: &Value<'_>) -> Result<u16, Refusal> {
        let number = value.get_ref().as_integer();
        let port = number.and_then(|it| u16::from_str_radix(it.as_str(), it.radix()).ok());
        let wrong = || self.refuse(&value.span(), "`port` must be a number from 1 to 65535");
        port.filter(|port| 0 < *port).ok_or_else(wrong)
    }

    fn variables(&self, value: &Value<'_>) -> Result<BTreeMap<String, String>, Refusal> {
        let mut variables = BTreeMap::new();
        for (name, value) in self.table("env", value)? {
            let text = scalar(value.get_ref()).ok_or_else(|| {
                let what = format!("`{}` must be a string, a number or a boolean", name.get_ref());
                self.refuse(&value.span(), &what)
            })?;
            variables.insert(name.get_ref().to_string(), text);
        }
        Ok(variables)
    }

    fn table<'v, 'd>(&self, key: &str, value: &'v Value<'d>) -> Result<&'v DeTable<'d>, Refusal> {
        let wrong = || self.refuse(&value.span(), &format!("`{key}` must be a table"));
        value.get_ref().as_table().ok_or_else(wrong)
    }

    fn string(&self, key: &str, value: &Value<'_>) -> Result<String, Refusal> {
        let wrong = || self.refuse(&value.span(), &format!("`{key}` must be a string"));
        value.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)
    }

    /// A list of texts; one text stands for a list of one.
    fn strings(&self, key: &str, value: &Value<'_>) -> Result<Vec<String>, Refusal> {
        if let Some(text) = value.get_ref().as_str() {
            return Ok(vec![text.to_owned()]);
        }
        let texts = |list: &toml::de::DeArray<'_>| {
            let texts = list.iter().map(|text| text.get_ref().as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        };
        let wrong = || self.refuse(&value.span(), &format!("`{key}` must be a list of strings"));
        value.get_ref().as_array().and_then(texts).ok_or_else(wrong)
    }

    fn unknown(&self, at: &Range<usize>, key: &str, known: &[&str]) -> Refusal {
        let key = key.escape_debug();
        let hint = match closest(&key.to_string(), known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        self.refuse(at, &format!("unknown key `{key}`; {hint}"))
    }

    fn refuse(&self, at: &Range<usize>, what: &str) -> Refusal {
        let before = &self.text.as_bytes()[..at.start.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let what = what.trim().replace('\n', ", ");
        Refusal::invalid(format!("{} line {line}: {what}", self.path.display()))
    }
}

/// A value of a variable, as a text.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    let number = |number: &toml::de::DeInteger<'_>| {
        i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
    };
    let text = value.as_str().map(str::to_owned);
    text.or_else(|| value.as_integer().and_then(number))
        .or_else(|| value.as_bool().map(|truth| truth.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Project, String> {
        parse(Path::new("paned.toml"), Path::new("/p"), text).map_err(|refusal| refusal.sentence)
    }

    #[test]
    fn everything_that_the_page_shows_is_read() {
        let text = r#"
            prefix = "shop-"
            [panes.db]
            command = ["postgres", "-D", "data"]
            wait = { port = 5432, timeout = "2m" }
            [panes.web]
            command = "npm run dev"
            cwd = "web"
            env = { PORT = 3000, DEBUG = true, NAME = "x" }
            env_file = ".env"
            wait = { pattern = "listening" }
            restart = "on-failure:5"
            depends_on = ["db"]
            tags = ["dev"]
        "#;
        let project = read(text).unwrap();
        assert_eq!(project.id("web"), "shop-web");
        let db = &project.panes["db"];
        assert_eq!(db.argv, ["postgres", "-D", "data"]);
        let condition = ReadyCondition::Port(5432);
        assert_eq!(db.wait, Some(Readiness { condition, timeout_ms: 120_000 }));
        let web = &project.panes["web"];
        assert_eq!(web.argv, ["/bin/sh", "-c", "npm run dev"]);
        assert_eq!(
            (web.cwd.as_path(), web.env_files[0].as_path()),
            (Path::new("/p/web"), Path::new("/p/.env"))
        );
        let env: Vec<_> = web.env.values().map(String::as_str).collect();
        assert_eq!(env, ["true", "x", "3000"]);
        assert_eq!(web.restart.to_string(), "on-failure:5");
        assert_eq!(
            (web.depends_on.as_slice(), web.tags.as_slice()),
            (&["db".to_owned()][..], &["dev".to_owned()][..])
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let pane = |line: &str| format!("[panes.web]\ncommand = \"x\"\n{line}\n");
        for (text, expect) in [
            (pane("comand = 1"), "line 3: unknown key `comand`; did you mean `command`?"),
            (pane("colour = 1"), "line 3: unknown key `colour`; the keys are command, cwd,"),
            ("pane = 1".to_owned(), "line 1: unknown key `pane`; did you mean `panes`?"),
            (pane("wait = { prot = 1 }"), "line 3: unknown key `prot`; did you mean `port`?"),
            (pane("wait = { port = 0 }"), "line 3: `port` must be a number from 1 to 65535"),
            (pane("wait = {}"), "line 3: `wait` requires `pattern`, `port`, `http` or `exit`"),
            (pane("wait = { port = 1, exit = true }"), "line 3: `wait` takes only one of"),
            (pane("restart = \"often\""), "line 3: invalid restart policy `often`; use no,"),
            (pane("env = { A = [] }"), "line 3: `A` must be a string, a number"),
            ("[panes.web]\n".to_owned(), "pane `web` has no `command`"),
            ("[panes.\"a b\"]\ncommand = \"x\"".to_owned(), "line 1: "),
            ("panes = 3".to_owned(), "line 1: `panes` must be a table"),
            (String::new(), "no panes are defined"),
            ("[panes".to_owned(), "line 1: "),
        ] {
            let refused = read(&text).unwrap_err();
            assert!(refused.starts_with("paned.toml ") && refused.contains(expect), "{refused}");
        }
    }
}
