//! `paned completions`: prints and installs completion scripts.
//!
//! The scripts ask `paned complete`, so that they never are out of date.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Subcommand, ValueEnum};
use paned_model::Refusal;
use serde_json::json;

use crate::context::CliContext;
use crate::settings::process_env;

const BASH: &str = "\
Examples:
  source <(paned completions bash)
  paned completions install bash";

const ZSH: &str = "\
Examples:
  source <(paned completions zsh)      after `compinit`
  paned completions install zsh";

const FISH: &str = "\
Examples:
  paned completions fish | source
  paned completions install fish";

const INSTALL: &str = "\
Examples:
  paned completions install            for your login shell
  paned completions install zsh

It writes one file into your home folder and prints any remaining steps.";

const UNINSTALL: &str = "\
Examples:
  paned completions uninstall
  paned completions uninstall zsh";

/// Where the folder of zsh functions is, below the folder of user data.
const ZSH_FUNCTIONS: &str = "zsh/site-functions";
/// Where bash-completion is usually installed.
const BASH_COMPLETION: [&str; 5] = [
    "/usr/share/bash-completion/bash_completion",
    "/etc/bash_completion",
    "/usr/local/share/bash-completion/bash_completion",
    "/usr/local/etc/profile.d/bash_completion.sh",
    "/opt/homebrew/etc/profile.d/bash_completion.sh",
];

/// Install or print shell completions
#[derive(Subcommand)]
pub(crate) enum CompletionsSubcommand {
    /// Print the script for bash
    #[command(after_help = BASH)]
    Bash,
    /// Print the script for zsh
    #[command(after_help = ZSH)]
    Zsh,
    /// Print the script for fish
    #[command(after_help = FISH)]
    Fish,
    /// Install the script for a shell
    #[command(after_help = INSTALL)]
    Install {
        /// The shell [default: your login shell]
        shell: Option<ShellName>,
    },
    /// Remove the script that `install` wrote
    #[command(after_help = UNINSTALL)]
    Uninstall {
        /// The shell [default: your login shell]
        shell: Option<ShellName>,
    },
}

/// A shell that has completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
}

impl ShellName {
    const fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("completions/paned.bash"),
            Self::Zsh => include_str!("completions/_paned"),
            Self::Fish => include_str!("completions/paned.fish"),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// Where the shell looks for the scripts of its user.
    fn path(self) -> Result<PathBuf, Refusal> {
        Ok(match self {
            Self::Bash => user_folder("XDG_DATA_HOME", ".local/share")?
                .join("bash-completion/completions/paned"),
            Self::Zsh => {
                user_folder("XDG_DATA_HOME", ".local/share")?.join(ZSH_FUNCTIONS).join("_paned")
            }
            Self::Fish => {
                user_folder("XDG_CONFIG_HOME", ".config")?.join("fish/completions/paned.fish")
            }
        })
    }

    /// What remains to be done after the script was written to `path`.
    fn advice(self, path: &Path) -> String {
        match self {
            Self::Fish => "fish loads it immediately".to_owned(),
            Self::Bash if BASH_COMPLETION.iter().any(|file| Path::new(file).exists()) => {
                "new shells load it through bash-completion".to_owned()
            }
            Self::Bash => format!("add this line to ~/.bashrc:\n  source {}", path.display()),
            Self::Zsh => {
                let folder = path.parent().unwrap_or(path).display();
                format!(
                    "add this line to ~/.zshrc before `compinit`, unless it is already there:\n  \
                     fpath=({folder} $fpath)\nif new shells do not complete, run `rm -f ~/.zcompdump*`"
                )
            }
        }
    }
}

/// The folder that a variable names, or the usual one in the home folder.
fn user_folder(variable: &str, usual: &str) -> Result<PathBuf, Refusal> {
    let named = process_env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| Some(Path::new(&process_env("HOME")?).join(usual)));
    folder.ok_or_else(|| Refusal::invalid("HOME is not set; set it to your home folder"))
}

pub(crate) fn run(context: &CliContext, command: &CompletionsSubcommand) -> Result<ExitCode> {
    match command {
        CompletionsSubcommand::Bash => print(context, ShellName::Bash)?,
        CompletionsSubcommand::Zsh => print(context, ShellName::Zsh)?,
        CompletionsSubcommand::Fish => print(context, ShellName::Fish)?,
        CompletionsSubcommand::Install { shell } => install(context, *shell)?,
        CompletionsSubcommand::Uninstall { shell } => uninstall(context, *shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(context: &CliContext, shell: ShellName) -> Result<()> {
    Ok(context.out.bytes(shell.script().as_bytes())?)
}

fn install(context: &CliContext, shell: Option<ShellName>) -> Result<()> {
    let shell = shell.map_or_else(login_shell, Ok)?;
    let path = shell.path()?;
    let failed = || format!("cannot write {}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(&path)).with_context(failed)?;
    fs::write(&path, shell.script()).with_context(failed)?;
    let advice = shell.advice(&path);
    if context.out.is_json() {
        let answer = json!({ "shell": shell.name(), "path": path, "next": advice });
        return Ok(context.out.json(&answer)?);
    }
    context.out.line(format!("wrote {}", path.display()))?;
    Ok(advice.lines().try_for_each(|line| context.out.line(line))?)
}

fn uninstall(context: &CliContext, shell: Option<ShellName>) -> Result<()> {
    let shell = shell.map_or_else(login_shell, Ok)?;
    let path = shell.path()?;
    match fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let sentence = format!("no completions for {} at {}", shell.name(), path.display());
            return Err(Refusal::not_found(sentence).into());
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot remove {}", path.display()));
        }
    }
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "shell": shell.name(), "path": path }))?);
    }
    Ok(context.out.line(format!("removed {}", path.display()))?)
}

/// The shell that `SHELL` names.
fn login_shell() -> Result<ShellName, Refusal> {
    let shell = process_env("SHELL").unwrap_or_default();
    let name = Path::new(&shell).file_name().map(|name| name.to_string_lossy().into_owned());
    ShellName::from_str(&name.unwrap_or_default(), false).map_err(|_| {
        let sentence = format!(
            "no completions for the shell `{}`; pass bash, zsh or fish",
            shell.escape_debug()
        );
        Refusal::invalid(sentence)
    })
}
