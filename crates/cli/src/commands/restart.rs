//! `paned restart`: ends the programs of panes and starts them again.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::PaneInfo;
use serde::Serialize;

use super::for_each;
use super::support::duration::millis_by_default;
use super::support::params::PaneParams;
use crate::context::CliContext;

/// End the programs of panes and start them again
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned restart web              a running program is asked to end first
  paned restart web db --force   end them at once
  paned logs web.previous        what the run before printed

A program is started again as it was started: the same command, environment, folder, umask, title, tags \
and place in tmux, and the size that the pane has now. This also works for a program that has ended. The \
output so far stays readable in the pane NAME.previous, until the next restart. If the program cannot be \
started, the pane stays as it was.")]
pub(crate) struct Args {
    /// The panes
    #[arg(required = true)]
    #[serde(skip)]
    pane: Vec<String>,
    /// How long a program may take to end when asked, as in 500ms or 3s; a number alone is
    /// milliseconds
    #[arg(long, value_name = "TIME", value_parser = millis_by_default)]
    grace_ms: Option<u64>,
    /// End it at once, without its keeper if that does not answer
    #[arg(long)]
    force: bool,
    /// Allow it for the pane that this is typed in
    #[arg(long = "self")]
    #[serde(rename = "self")]
    itself: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| {
        let params = PaneParams { pane_id: pane, args };
        context.show("pane:restart", &params, |new: PaneInfo| {
            let pid = new.pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
            context.out.line(format!("restarted {}{pid}", new.id))
        })
    })
}
