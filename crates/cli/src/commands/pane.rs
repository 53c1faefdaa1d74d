//! `paned rename`, `resize`, `activate`, `kill`, `close` and `rm`: change and end panes.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::frame::Survivor;
use paned_model::{Code, Size};
use serde::{Deserialize, Serialize};

use super::for_each;
use super::support::duration::millis_by_default;
use super::support::exit_status::exit_code;
use super::support::params::PaneParams;
use crate::context::CliContext;

/// Change a pane's title
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned rename web 'the web server'")]
pub(crate) struct RenameArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// What to call it
    title: String,
}

pub(crate) fn rename(context: &CliContext, args: &RenameArgs) -> Result<ExitCode> {
    context.confirm("pane:rename", args, format!("{} is called {}", args.pane, args.title))
}

/// Set the size of a pane's terminal
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned resize web 120x40
  paned resize web 120x40 --force             even if another client holds the size")]
pub(crate) struct ResizeArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// Its new size, as in 120x40
    size: Size,
    /// Take the size from the client that holds it
    #[arg(long)]
    force: bool,
}

pub(crate) fn resize(context: &CliContext, args: &ResizeArgs) -> Result<ExitCode> {
    context.confirm("pane:resize", args, format!("{} is {} now", args.pane, args.size))
}

/// Focus a pane in tmux
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned activate tests                        clients of its session switch to it")]
pub(crate) struct ActivateArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
}

pub(crate) fn activate(context: &CliContext, args: &ActivateArgs) -> Result<ExitCode> {
    context.confirm("pane:activate", args, format!("{} has the focus", args.pane))
}

/// Delete finished panes and their output
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned rm web
  paned rm $(paned ls --status exited --json | jq -r '.[].id')")]
pub(crate) struct RmArgs {
    /// The panes
    #[arg(required = true)]
    #[serde(skip)]
    pane: Vec<String>,
}

pub(crate) fn rm(context: &CliContext, args: &RmArgs) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| {
        let params = PaneParams { pane_id: pane, args };
        context.confirm("pane:remove", &params, format!("{pane} removed"))
    })
}

/// Stop panes and delete them and their output
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned close web
  paned close web db --force    end them at once, and forget them whatever happens")]
pub(crate) struct CloseArgs {
    /// The panes
    #[arg(required = true)]
    #[serde(skip)]
    pane: Vec<String>,
    /// End them at once, and forget them even if a process cannot be ended
    #[arg(long)]
    force: bool,
    /// Mean it, although it is the pane that this is typed in
    #[arg(long = "self")]
    #[serde(rename = "self")]
    itself: bool,
}

pub(crate) fn close(context: &CliContext, args: &CloseArgs) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| {
        let params = PaneParams { pane_id: pane, args };
        context.confirm("pane:close", &params, format!("{pane} closed"))
    })
}

/// Stop panes and all their child processes, keep their output
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned kill web                  ask it to exit, then kill it
  paned kill web db --grace-ms 0  at once
  paned kill web --force          at once, also if its keeper does not answer

The exit code is 9 (busy) if a process could not be stopped.")]
pub(crate) struct KillArgs {
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    force: bool,
    /// Mean it, although it is the pane that this is typed in
    #[arg(long = "self")]
    #[serde(rename = "self")]
    itself: bool,
}

/// The answer of `pane:kill`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaneKillReply {
    status: String,
    exit_code: Option<u8>,
    exit_signal: Option<String>,
    survivors: Vec<Survivor>,
}

pub(crate) fn kill(context: &CliContext, args: &KillArgs) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| {
        let show = |killed: &PaneKillReply| context.out.line(killed.sentence(pane));
        let params = PaneParams { pane_id: pane, args };
        let killed = context.show_and_return("pane:kill", &params, show)?;
        Ok(exit_code((!killed.survivors.is_empty()).then_some(Code::Busy)))
    })
}

impl PaneKillReply {
    fn sentence(&self, pane: &str) -> String {
        let code = self.exit_code.map(|code| format!("exit code {code}"));
        let exit = self.exit_signal.clone().or(code);
        let exit = exit.map_or_else(String::new, |exit| format!(" ({exit})"));
        let left: Vec<_> =
            self.survivors.iter().map(|it| format!("{} {}", it.pid, it.command)).collect();
        match left.is_empty() {
            true => format!("{pane} {}{exit}", self.status),
            false => format!("{pane} {}{exit}; still running: {}", self.status, left.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn survivors_are_named() {
        let answer = json!({
            "status": "running", "survivors": [{ "pid": 7, "command": "stuck" }],
        });
        let killed: PaneKillReply = serde_json::from_value(answer).unwrap();
        assert_eq!(killed.sentence("web"), "web running; still running: 7 stuck");
        let answer = json!({ "status": "killed", "exitSignal": "SIGTERM", "survivors": [] });
        let killed: PaneKillReply = serde_json::from_value(answer).unwrap();
        assert_eq!(killed.sentence("web"), "web killed (SIGTERM)");
    }
}
