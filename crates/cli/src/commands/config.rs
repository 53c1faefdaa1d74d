//! `paned config`: shows, writes, edits and checks `config.toml`.

mod check;
mod show;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::Subcommand;
use paned_model::{Code, Refusal};
use serde_json::json;

use crate::context::CliContext;
use crate::settings::{page, process_env};

const PATH: &str = "\
Examples:
  paned config path
  cat \"$(paned config path)\"";

const SHOW: &str = "\
Examples:
  paned config show
  paned config show port limits.panes
  paned config show --json

Flags take precedence over variables, then the file, then the defaults. Tokens are not shown.";

const INIT: &str = "\
Examples:
  paned config init
  paned config init --force      replace the file

The file has every setting, commented out, with its default.";

const EDIT: &str = "\
Examples:
  paned config edit
  EDITOR=nano paned config edit

The editor is $VISUAL, $EDITOR or vi. If the file does not exist, it is created as by `paned config init`.";

const CHECK: &str = "\
Examples:
  paned config check
  paned --config ./config.toml config check

It also reports variables that have no effect. The exit code is 2 if there are errors.";

/// Show, write, edit and check the configuration
#[derive(Subcommand)]
pub(crate) enum ConfigSubcommand {
    /// Print the path of the configuration file
    #[command(after_help = PATH)]
    Path,
    /// Print each setting with its value and its source
    #[command(after_help = SHOW)]
    Show {
        /// Only these settings [default: all]
        #[arg(value_name = "SETTING")]
        keys: Vec<String>,
    },
    /// Write a sample file with every setting commented out
    #[command(after_help = INIT)]
    Init {
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Open the file in your editor, then check it
    #[command(after_help = EDIT)]
    Edit,
    /// Report errors in the file and in variables
    #[command(after_help = CHECK)]
    Check,
}

pub(crate) fn run(context: &CliContext, command: &ConfigSubcommand) -> Result<ExitCode> {
    match command {
        ConfigSubcommand::Path => path(context)?,
        ConfigSubcommand::Show { keys } => show::run(context, keys)?,
        ConfigSubcommand::Init { force } => init(context, *force)?,
        ConfigSubcommand::Edit => return edit(context),
        ConfigSubcommand::Check => return check::run(context),
    }
    Ok(ExitCode::SUCCESS)
}

fn path(context: &CliContext) -> Result<()> {
    let (path, _) = context.config_path()?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "path": path, "exists": path.exists() }))?);
    }
    Ok(context.out.line(path.display().to_string())?)
}

fn init(context: &CliContext, replace: bool) -> Result<()> {
    let (path, _) = context.config_path()?;
    write_sample(&path, replace)?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "path": path }))?);
    }
    let sentence = format!("wrote {}; edit it with `paned config edit`", path.display());
    Ok(context.out.line(sentence)?)
}

/// The file may get a token, so that only its user can read it.
fn write_sample(path: &Path, replace: bool) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(failed)?;
    }
    let mut open = OpenOptions::new();
    open.write(true).mode(0o600);
    let open = if replace { open.create(true).truncate(true) } else { open.create_new(true) };
    match open.open(path) {
        Ok(mut file) => file.write_all(page::sample().as_bytes()).with_context(failed),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let sentence = format!(
                "{} already exists; edit it with `paned config edit`, or replace it with `--force`",
                path.display()
            );
            Err(Refusal::new(Code::Conflict, sentence).into())
        }
        Err(error) => Err(error).with_context(failed),
    }
}

fn edit(context: &CliContext) -> Result<ExitCode> {
    let (path, _) = context.config_path()?;
    if !path.exists() {
        write_sample(&path, false)?;
    }
    let before = fs::read(&path).ok();
    let editor = process_env("VISUAL").or_else(|| process_env("EDITOR"));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    // The variable may hold arguments, as in `code --wait`, so a shell splits it.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("exec {editor} \"$1\""), "sh"]).arg(&path);
    let status = command.status().context("cannot start /bin/sh")?;
    if !status.success() {
        let sentence = format!("the editor `{editor}` failed ({status}); set EDITOR to another");
        return Err(Refusal::invalid(sentence).into());
    }
    let exit = check::run(context)?;
    if exit == ExitCode::SUCCESS && fs::read(&path).ok() != before {
        context.out.note("`paned server restart` applies it; panes keep running")?;
    }
    Ok(exit)
}
