//! `paned restart`: ends the programs of panes and starts them again.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::PaneInfo;
use serde::Serialize;

use super::for_each;
use super::support::duration::millis_by_default;
use super::support::params::PaneParams;
use crate::context::CliContext;

/// Restart the programs of panes
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned restart web              a running program is asked to exit first
  paned restart web db --force   kill them at once
  paned logs web.previous        the output of the previous run

The program is started with the same command, environment, folder, umask, title, tags and place in \
tmux, and with the current size of the pane. This also works for a program that has exited. The output of the \
previous run stays readable in the pane NAME.previous until the next restart. If the program cannot be \
started, the pane is left unchanged.")]
pub(crate) struct Args {
    /// The panes
    #[arg(required = true)]
    #[serde(skip)]
    pane: Vec<String>,
    /// How long a program may take to exit before it is killed, as in 500ms or 3s; a number alone
    /// is milliseconds
    #[arg(long, value_name = "TIME", value_parser = millis_by_default)]
    grace_ms: Option<u64>,
    /// Kill it at once, even if its keeper does not respond
    #[arg(long)]
    force: bool,
    /// Allow it to restart the current pane
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
