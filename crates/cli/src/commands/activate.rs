//! `paned activate`: gives a pane the focus in tmux.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned activate tests                        whoever is attached to its session sees it";

/// Give a pane the focus in tmux
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let answer = context.action("pane:activate", &json!({ "paneId": args.pane }))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.line(format!("{} has the focus", args.pane))?;
    }
    Ok(ExitCode::SUCCESS)
}
