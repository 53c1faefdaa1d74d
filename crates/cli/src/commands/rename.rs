//! `paned rename`: gives a pane another title.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned rename web 'the web server'";

/// Give a pane another title
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// What to call it
    title: String,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let params = json!({ "paneId": args.pane, "title": args.title });
    let answer = context.action("pane:rename", &params)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.line(format!("{} is called {}", args.pane, args.title))?;
    }
    Ok(ExitCode::SUCCESS)
}
