//! `paned resize`: sets the size of a pane's terminal.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Size;
use serde_json::json;

use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned resize web 120x40
  paned resize web 120x40 --force             also while somebody is attached and holds the size";

/// Set the size of a pane's terminal
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// Its new size, as in 120x40
    size: Size,
    /// Take the size from the client that holds it
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let params = json!({ "paneId": args.pane, "size": args.size, "force": args.force });
    let answer = context.action("pane:resize", &params)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.line(format!("{} is {} now", args.pane, args.size))?;
    }
    Ok(ExitCode::SUCCESS)
}
