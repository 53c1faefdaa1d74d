//! Reads a `Procfile`: a line `name: command` for each program.

use std::collections::BTreeMap;
use std::path::Path;

use paned_model::{PaneId, Refusal};

use super::definition::{PaneDefinition, Project, from_folder, shell};

/// The first `PORT`, as foreman has it; each further program gets the next hundred.
const FIRST_PORT: usize = 5000;
const PORT_STEP: usize = 100;

/// Reads the text of a Procfile. Each program gets a variable `PORT`, and those of `.env` if there
/// is such a file.
///
/// # Errors
/// When a line is not `name: command`, or a name occurs twice.
pub(super) fn parse(path: &Path, folder: &Path, text: &str) -> Result<Project, Refusal> {
    let env_file = from_folder(folder, ".env");
    let env_files = if env_file.is_file() { vec![env_file] } else { Vec::new() };
    let mut panes = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let refuse = |what: &str| {
            Refusal::invalid(format!("{} line {}: {what}", path.display(), number + 1))
        };
        let (name, command) =
            line.split_once(':').ok_or_else(|| refuse("write it as `name: command`"))?;
        let name = name.trim();
        let command = command.trim();
        if command.is_empty() {
            return Err(refuse("the command is missing"));
        }
        name.parse::<PaneId>().map_err(|error| refuse(&error.to_string()))?;
        let port = (FIRST_PORT + PORT_STEP * panes.len()).to_string();
        let pane = PaneDefinition {
            argv: shell(command),
            cwd: from_folder(folder, ""),
            env: BTreeMap::from([("PORT".to_owned(), port)]),
            env_files: env_files.clone(),
            ..PaneDefinition::default()
        };
        if panes.insert(name.to_owned(), pane).is_some() {
            return Err(refuse(&format!("`{name}` is defined twice")));
        }
    }
    if panes.is_empty() {
        return Err(Refusal::invalid(format!("{} defines no programs", path.display())));
    }
    Ok(Project { folder: folder.to_owned(), prefix: String::new(), panes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Project, String> {
        parse(Path::new("Procfile"), Path::new("/p"), text).map_err(|refusal| refusal.sentence)
    }

    #[test]
    fn each_line_is_a_program_with_a_port_of_its_own() {
        let project = read("# all\nweb: node a.js -p $PORT\n\n worker:  sleep 1:2\r\n").unwrap();
        let shown: Vec<_> = project
            .panes
            .iter()
            .map(|(name, it)| (name.as_str(), it.argv[2].as_str(), it.env["PORT"].as_str()))
            .collect();
        assert_eq!(shown, [("web", "node a.js -p $PORT", "5000"), ("worker", "sleep 1:2", "5100")]);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, expect) in [
            ("web", "Procfile line 1: write it as `name: command`"),
            ("a: x\nweb:", "Procfile line 2: the command is missing"),
            ("a: x\na: y", "Procfile line 2: `a` is defined twice"),
            ("# none", "Procfile defines no programs"),
        ] {
            assert_eq!(read(text).unwrap_err(), expect);
        }
    }
}
