//! `paned resize`: sets the size of a pane's terminal.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Size;
use serde_json::json;

use crate::context::Context;

const EXAMPLES: &str = "\
Examples:
  paned resize web 120x40";

/// Set the size of a pane's terminal
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// Its new size, as in 120x40
    size: Size,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let answer =
        context.action("pane:resize", &json!({ "paneId": args.pane, "size": args.size }))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.say(format!("{} is {} now", args.pane, args.size))?;
    }
    Ok(ExitCode::SUCCESS)
}
