//! `paned close`: ends panes' programs and removes the panes.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::for_each;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned close web
  paned close web db --force    end them at once, and forget them whatever happens";

/// End panes' programs and forget the panes, with their output
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The panes
    #[arg(required = true)]
    pane: Vec<String>,
    /// End them at once, and forget them even if a process cannot be ended
    #[arg(long)]
    force: bool,
    /// Mean it, although it is the pane that this is typed in
    #[arg(long = "self")]
    itself: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| {
        let request = json!({ "paneId": pane, "force": args.force, "self": args.itself });
        let answer = context.action("pane:close", &request)?;
        if context.out.is_json() {
            context.out.json(&answer)?;
        } else {
            context.out.line(format!("{pane} closed"))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
