//! `paned completions`: prints a completion script for a shell.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap_complete::Shell;

use crate::args::Cli;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned completions bash > ~/.local/share/bash-completion/completions/paned
  paned completions zsh > \"${fpath[1]}/_paned\"
  paned completions fish > ~/.config/fish/completions/paned.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::whole_command(), "paned", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
