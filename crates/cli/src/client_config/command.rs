//! The commands that are written into other programs' files, and how they are recognised there.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::commands::support::shell_words::shell_words;
use crate::settings::process_env;

/// How other programs start this one.
#[derive(Clone, Debug)]
pub(crate) struct OwnCommand {
    /// The program: its name if that finds it on PATH, otherwise its path.
    pub(crate) program: String,
}

/// How other programs start this one: by its name if PATH finds the same file, as that survives an
/// update into another folder.
pub(crate) fn own_program() -> Result<OwnCommand> {
    let current = env::current_exe().context("cannot determine the path of this program")?;
    let found = on_path(&process_env("PATH").unwrap_or_default());
    let is_same = |found: PathBuf| found.canonicalize().ok() == current.canonicalize().ok();
    let program = match found.is_some_and(is_same) {
        true => "paned".to_owned(),
        false => {
            let path = current.to_str().context("the path of this program is not UTF-8")?;
            path.strip_suffix(" (deleted)").unwrap_or(path).to_owned()
        }
    };
    Ok(OwnCommand { program })
}

/// The program that a shell would start as `paned`.
fn on_path(path: &str) -> Option<PathBuf> {
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join("paned")).find(|file| Path::is_file(file))
}

impl OwnCommand {
    /// The shell command that forwards a report of this agent's hook. It succeeds also if this
    /// program is gone or too old: several agents take exit code 2 for a refusal of the prompt.
    pub(crate) fn hook(&self, agent: &str, event: Option<&str>) -> String {
        let event = event.map(|event| format!(" --event {event}")).unwrap_or_default();
        let program = shell_words(std::slice::from_ref(&self.program));
        format!("{program}{}{event} || true", hook_mark(agent))
    }
}

/// What follows the program in each hook of ours.
fn hook_mark(agent: &str) -> String {
    format!(" agent hook --agent {agent}")
}

/// Whether a shell command is a hook of ours for this agent, whatever this program is called there.
pub(crate) fn is_own_command(command: &str, agent: &str) -> bool {
    let Some((program, rest)) = command.split_once(&hook_mark(agent)) else { return false };
    let is_quoted = 2 < program.len() && program.starts_with('\'') && program.ends_with('\'');
    let is_word = |c: char| !c.is_whitespace() && !"'\"$`;&|<>()".contains(c);
    let is_one_program = is_quoted || !program.is_empty() && program.chars().all(is_word);
    let rest = rest.strip_suffix(" || true").unwrap_or(rest);
    let is_event =
        |rest: &str| rest.strip_prefix(" --event ").is_some_and(|it| it.chars().all(is_word));
    is_one_program && (rest.is_empty() || is_event(rest))
}

/// The program that a hook of ours starts.
pub(crate) fn program_of(command: &str) -> Option<&str> {
    let (program, _) = command.split_once(" agent hook --agent ")?;
    Some(program.trim_matches('\''))
}
