//! `paned agent`: what concerns agents.

mod replay;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::context::Context;

/// Work with agents
#[derive(Subcommand)]
pub(crate) enum Command {
    Replay(replay::Args),
}

pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Replay(args) => replay::run(context, &args),
    }
}
