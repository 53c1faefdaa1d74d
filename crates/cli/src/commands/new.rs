//! `paned new`: starts a program in a new pane.

use std::num::NonZeroU32;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{PaneId, PaneInfo, PaneRestartPolicy};
use serde::Serialize;

use super::support::duration::seconds;
use super::support::params::WindowParams;
use super::support::spawn_args::{SpawnArgs, SpawnViewArgs};
use super::support::view_note;
use crate::context::CliContext;

/// Start a program in a new pane and print the pane's id
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned new                                         a login shell here
  paned new -- cargo watch -x test                  a program with its arguments
  paned new --id web --size 120x40 -- npm run dev
  paned new --session work -- vim notes.md          show it in a tmux session
  paned new --env PORT=3000 --meta owner=ann --tag web --timeout 10m -- ./serve
  paned new --env-file .env --clean-env -- ./serve
  paned new --id dev --replace -- npm run dev       replace pane dev
  paned new --id api --restart on-failure -- ./api  restart it when it fails

The program has your environment, folder and umask, and a terminal as large as yours. Variables about \
your own terminal (TERM, TMUX, …) are not passed on; the pane has its own.

With --restart, the program is restarted one second after it exits, then after 2, 4, 8 … up to 60 \
seconds; a run of a minute resets the delay. A program that was stopped with `paned kill` is not restarted.")]
pub(crate) struct Args {
    /// The id of the pane [default: generated]
    #[arg(long)]
    id: Option<PaneId>,
    /// Stop and delete an existing pane with that id first, with its output
    #[arg(long, requires = "id")]
    replace: bool,
    /// Allow --replace to stop the current pane
    #[arg(long = "self", requires = "replace")]
    #[serde(rename = "self")]
    itself: bool,
    /// When to restart the program after it exits: no, on-failure, on-failure:5 (at most five
    /// times in a row) or always [default: no]
    #[arg(long, value_name = "POLICY")]
    restart: Option<PaneRestartPolicy>,
    #[command(flatten)]
    #[serde(flatten)]
    spawn: SpawnArgs,
    /// Stop it after this time, as in 90s or 10m; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    #[serde(rename = "timeoutSeconds")]
    timeout: Option<u32>,
    /// Keep only this many of its last lines of output
    #[arg(long, value_name = "N")]
    #[serde(rename = "maxLines")]
    max_lines: Option<NonZeroU32>,
    /// Exclude it from automatic clean-up
    #[arg(long)]
    persist: bool,
    /// Send a notice when it exits: an event, and a message to the agent that started it
    #[arg(long)]
    notify_on_exit: bool,
    /// What the token of its program permits besides reading and typing
    #[arg(long, value_name = "POWER", value_delimiter = ',', value_parser = ["spawn", "approve"])]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    can: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    view: SpawnViewArgs,
    /// Show it in tmux: never, always, or auto, which shows it if its command is interactive
    /// [default: in the session that follows new panes]
    #[arg(long, value_name = "WHEN", value_parser = ["never", "auto", "always"])]
    visible: Option<String>,
    /// What happens to it when the user closes it in tmux
    #[arg(long, value_name = "WHAT", value_parser = ["close", "detach"])]
    on_view_closed: Option<String>,
    /// The program and its arguments [default: your login shell]
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) argv: Vec<String>,
}

pub(crate) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    args.spawn.resolve(context.out, &context.client_or_start()?)?;
    let params = WindowParams::new(&args, args.view.here)?;
    context.show("pane:new", &params, |pane: PaneInfo| {
        context.out.line(pane.id.as_str())?;
        view_note::print(context.out, &pane)
    })
}

/// Starts the user's login shell in a new pane, as `paned new` without arguments does.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn start_login_shell(context: &CliContext) -> Result<PaneInfo> {
    let command = <Args as clap::Args>::augment_args(clap::Command::new("new"));
    let matches = command.try_get_matches_from(["new"])?;
    let mut args = <Args as clap::FromArgMatches>::from_arg_matches(&matches)?;
    args.spawn.resolve(context.out, &context.client_or_start()?)?;
    context.call("pane:new", &args)
}
