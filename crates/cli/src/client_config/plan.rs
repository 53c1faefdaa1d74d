//! A change of one file: shown, asked about, written, and undone.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal};
use serde_json::{Value, json};

use super::file::{ConfigFile, CopyKind};
use super::{Edit, InstallState, command, diff};
use crate::context::CliContext;

/// How a file is changed.
#[derive(clap::Args)]
pub(crate) struct ChangeArgs {
    /// Change the file of the project in the current folder
    #[arg(long)]
    pub(crate) project: bool,
    /// Print the change and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Put our part in.
    Install,
    /// Take our part out.
    Remove,
    /// Restore the backup if nothing else has changed since, otherwise take our part out.
    Undo,
}

/// A file of a program, and our part of it.
pub(crate) struct Target {
    /// The program.
    pub(crate) program: &'static str,
    /// What our part is, as `hooks`.
    pub(crate) part: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) edit: Edit,
    /// What the user has to do or know after the installation.
    pub(crate) notes: Vec<String>,
}

/// Changes a file after its user has agreed.
pub(crate) fn change(
    context: &CliContext,
    target: &Target,
    operation: Operation,
    args: &ChangeArgs,
) -> Result<ExitCode> {
    let file = ConfigFile::read(&target.path)?;
    let new = new_text(&file, &target.edit, operation)?;
    let old = file.text.as_deref();
    let is_change = new.as_deref() != old;
    let path = file.path.display().to_string();
    let diff = diff::unified(old.unwrap_or_default(), new.as_deref().unwrap_or_default(), &path);
    let is_restored =
        operation == Operation::Undo && new.is_some() && new == file.newest_backup()?;
    let mut backup = None;
    if args.dry_run {
        if !context.out.is_json() {
            context.out.bytes(diff.as_bytes())?;
        }
    } else if is_change {
        if !agree(context, &diff, args)? {
            context.out.note("paned: nothing was changed")?;
            return Ok(ExitCode::SUCCESS);
        }
        let kind = match operation {
            Operation::Install | Operation::Remove => CopyKind::Backup,
            Operation::Undo => CopyKind::Undone,
        };
        backup = file.write(new.as_deref(), kind)?;
    }
    let done = is_change && !args.dry_run;
    if context.out.is_json() {
        context.out.json(&json!({
            "agent": target.program, "path": target.path, "changed": is_change,
            "written": done, "backup": backup, "diff": diff,
        }))?;
    } else {
        if is_restored && done {
            context.out.line(format!("restored {path} as it was before"))?;
        } else {
            say(context, target, operation, is_change, args.dry_run)?;
        }
        if let Some(backup) = backup {
            context.out.note(format!("the old file is kept as {}", backup.display()))?;
        }
    }
    if operation == Operation::Install && !args.dry_run {
        target.notes.iter().try_for_each(|note| context.out.note(note.as_str()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The text after the operation; none if there is to be no file.
fn new_text(file: &ConfigFile, edit: &Edit, operation: Operation) -> Result<Option<String>> {
    let refuse = |error| {
        let sentence = format!("{} {error}", file.path.display());
        Refusal::new(Code::Conflict, sentence)
    };
    let old = file.text.as_deref();
    let backup = file.newest_backup()?;
    let removed = || -> Result<Option<String>> {
        let Some(old) = old else { return Ok(None) };
        let is_result = |before: &str| {
            edit.install(before).is_ok_and(|it| it == old)
                && edit.installed(before) == Ok(InstallState::Absent)
        };
        // Nothing has changed since the installation, so it is undone to the last byte.
        if let Some(before) = backup.as_deref().filter(|before| is_result(before)) {
            return Ok(Some(before.to_owned()));
        }
        if backup.is_none() && is_result("") {
            return Ok(None);
        }
        let rest = edit.remove(old).map_err(refuse)?;
        let is_own_file = matches!(edit, Edit::Script(_)) && rest.is_empty();
        Ok((!is_own_file).then_some(rest))
    };
    match operation {
        Operation::Install => Ok(Some(edit.install(old.unwrap_or_default()).map_err(refuse)?)),
        Operation::Remove => removed(),
        Operation::Undo => {
            let is_ours = |before: &String| {
                let rest = |text| edit.remove(text).ok();
                edit.install(before).ok().as_deref() == old || rest(before) == old.and_then(rest)
            };
            backup.clone().filter(is_ours).map_or_else(removed, |before| Ok(Some(before)))
        }
    }
}

/// Shows the change and asks, if there is a user to ask.
fn agree(context: &CliContext, diff: &str, args: &ChangeArgs) -> Result<bool> {
    if args.yes {
        return Ok(true);
    }
    diff::print(context.out, diff)?;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() || context.out.is_json() {
        let sentence = "without a terminal nothing is changed unless `--yes` is passed";
        return Err(Refusal::invalid(sentence).into());
    }
    write!(io::stderr(), "Write this change? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn say(
    context: &CliContext,
    target: &Target,
    operation: Operation,
    is_change: bool,
    is_dry: bool,
) -> io::Result<()> {
    let Target { program, part, path, .. } = target;
    let path = path.display();
    let sentence = match (operation, is_change) {
        (_, true) if is_dry => return Ok(()),
        (Operation::Install, true) => format!("installed the {part} for {program} in {path}"),
        (Operation::Install, false) => format!("{path} has the {part} for {program} already"),
        (Operation::Remove | Operation::Undo, true) => {
            format!("removed the {part} for {program} from {path}")
        }
        (Operation::Remove | Operation::Undo, false) => {
            format!("{path} has nothing of paned to remove")
        }
    };
    context.out.line(sentence)
}

/// What is installed, as one row of a table and as JSON.
pub(crate) fn status(target: &Target) -> ([String; 4], Value) {
    let (state, detail) = match read_status(target) {
        Ok(InstallState::Current) => ("installed", None),
        Ok(InstallState::Absent) => ("absent", None),
        Ok(InstallState::Outdated(commands)) => {
            let programs = commands.iter().map(|it| command::program_of(it).unwrap_or(it));
            let mut programs: Vec<&str> = programs.collect();
            programs.dedup();
            ("outdated", Some(format!("runs {}", programs.join(", "))))
        }
        Err(error) => ("unreadable", Some(format!("{error:#}"))),
    };
    let path = target.path.display().to_string();
    let detail = detail.unwrap_or_default();
    let json = json!({ "agent": target.program, "status": state, "path": path, "detail": detail });
    ([target.program.to_owned(), state.to_owned(), path, detail], json)
}

fn read_status(target: &Target) -> Result<InstallState> {
    let file = ConfigFile::read(&target.path)?;
    let text = file.text.unwrap_or_default();
    Ok(target.edit.installed(&text).map_err(Refusal::invalid)?)
}
