//! `paned rm`: removes panes that have ended.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::for_each;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned rm web
  paned rm $(paned ls --status exited --json | jq -r '.[].id')";

/// Forget panes that have ended, with their output
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The panes
    #[arg(required = true)]
    pane: Vec<String>,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| {
        let answer = context.action("pane:remove", &json!({ "paneId": pane }))?;
        if context.out.is_json() {
            context.out.json(&answer)?;
        } else {
            context.out.line(format!("{pane} removed"))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
