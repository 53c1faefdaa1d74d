//! `paned write`: types into a pane.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::warn;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned write web 'ls -l' --enter       type a line
  paned write web $'\\x03'               press ^C";

/// Type exactly this text into a pane
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// What to type; nothing is added and nothing in it is special
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Press Enter after it
    #[arg(long)]
    enter: bool,
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let request = json!({ "paneId": args.pane, "text": args.text, "enter": args.enter });
    let answer = context.action("pane:write", &request)?;
    warn(context, &answer)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}
