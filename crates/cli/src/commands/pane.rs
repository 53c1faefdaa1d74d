//! `paned rename`, `resize`, `activate`, `kill`, `close`, `rm` and `prune`: change and end panes.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::frame::Survivor;
use paned_model::{Code, PaneInfo, Size};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::support::duration::{millis, millis_by_default};
use super::support::exit_status::exit_code;
use super::support::params::PaneParams;
use super::support::selection::{PaneSelection, SelectedPanes, act_on_each, confirm};
use crate::client;
use crate::context::CliContext;
use crate::out::units;

/// Change a pane's title
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned rename web 'the web server'")]
pub(crate) struct RenameArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The new title
    title: String,
}

pub(crate) fn rename(context: &CliContext, args: &RenameArgs) -> Result<ExitCode> {
    context.show("pane:rename", args, |_: Value| {
        let pane = context.names.meaning(&args.pane);
        context.out.line(format!("renamed {pane} to \"{}\"", args.title))
    })
}

/// Set the size of a pane's terminal
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned resize web 120x40
  paned resize web 120x40 --force  even if another client holds the size")]
pub(crate) struct ResizeArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The new size, as in 120x40
    size: Size,
    /// Take the size from the client that holds it
    #[arg(long)]
    force: bool,
}

pub(crate) fn resize(context: &CliContext, args: &ResizeArgs) -> Result<ExitCode> {
    context.show("pane:resize", args, |_: Value| {
        let pane = context.names.meaning(&args.pane);
        context.out.line(format!("resized {pane} to {}", args.size))
    })
}

/// Focus a pane in tmux
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned activate tests  clients of its session switch to it")]
pub(crate) struct ActivateArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
}

pub(crate) fn activate(context: &CliContext, args: &ActivateArgs) -> Result<ExitCode> {
    context.show("pane:activate", args, |_: Value| {
        context.out.line(format!("focused {}", context.names.meaning(&args.pane)))
    })
}

/// Delete finished panes and their output
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned rm web
  paned rm --tag build          all finished panes with this tag
  paned rm --all                all finished panes, as `paned prune` does

Panes are selected by their id or a unique prefix of it, not by their title. In a terminal, --all and --tag ask \
before they delete more than one pane; --yes skips the question.")]
pub(crate) struct RmArgs {
    #[command(flatten)]
    panes: PaneSelection,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn rm(context: &CliContext, args: &RmArgs) -> Result<ExitCode> {
    let has_ended = |pane: &PaneInfo| !pane.status.is_live() && !is_restart_due(pane);
    let panes = args.panes.find(context, false, has_ended)?;
    if !may_lose(context, &panes, args.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    let params = |pane: &str| Ok(json!({ "paneId": pane }));
    act_on_each(context, &panes.ids, "pane:remove", params, |pane, _| {
        let pane = context.names.meaning(pane);
        confirm_one(context, &json!({ "id": pane }), format!("deleted {pane}"))
    })
}

/// Asks before the output of several panes that were not named is deleted.
fn may_lose(context: &CliContext, panes: &SelectedPanes, yes: bool) -> Result<bool> {
    if panes.is_named || panes.ids.len() < 2 {
        return Ok(true);
    }
    let count = units::count(panes.ids.len(), "pane");
    confirm(context, &format!("delete {count} with their output?"), yes)
}

/// Prints what was done to one pane.
fn confirm_one(context: &CliContext, answer: &Value, sentence: String) -> Result<ExitCode> {
    match context.out.is_json() {
        true => context.out.json(answer)?,
        false => context.out.line(sentence)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Stop panes and delete them and their output
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned close web
  paned close web db --force    kill them at once, and delete them in any case
  paned close --tag build       all panes with this tag
  paned close --all --yes       all panes

Panes are selected by their id or a unique prefix of it, not by their title. In a terminal, --all and --tag ask \
before they delete more than one pane; --yes skips the question. They exclude the current pane \
unless you pass --self.")]
pub(crate) struct CloseArgs {
    #[command(flatten)]
    #[serde(skip)]
    panes: PaneSelection,
    /// Kill them at once, and delete them even if a process cannot be killed
    #[arg(long)]
    force: bool,
    /// Include the current pane
    #[arg(long = "self")]
    #[serde(rename = "self")]
    itself: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    #[serde(skip)]
    yes: bool,
}

pub(crate) fn close(context: &CliContext, args: &CloseArgs) -> Result<ExitCode> {
    let panes = args.panes.find(context, args.itself, |_| true)?;
    if !may_lose(context, &panes, args.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    let params = |pane: &str| Ok(client::params(&PaneParams { pane_id: pane, args })?.into());
    act_on_each(context, &panes.ids, "pane:close", params, |pane, _| {
        let pane = context.names.meaning(pane);
        confirm_one(context, &json!({ "id": pane }), format!("closed {pane}"))
    })
}

/// Delete all finished panes and their output
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned prune
  paned prune --older 1h        panes that finished at least an hour ago
  paned prune --dry-run         show what would be deleted

In a terminal, it asks before it deletes more than one pane; --yes skips the question.")]
pub(crate) struct PruneArgs {
    /// Only panes that finished at least this long ago, as in 30m or 1h; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "olderMs")]
    older: Option<u64>,
    /// Only panes with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    #[serde(skip)]
    yes: bool,
}

/// The answer of `pane:prune`.
#[derive(Deserialize)]
struct PanePruneReply {
    removed: Vec<PrunedPane>,
    kept: Vec<UnprunedPane>,
    bytes: u64,
}

#[derive(Deserialize)]
struct PrunedPane {
    id: String,
}

#[derive(Deserialize)]
struct UnprunedPane {
    id: String,
    why: String,
}

pub(crate) fn prune(context: &CliContext, args: &PruneArgs) -> Result<ExitCode> {
    if !args.dry_run && !args.yes && !context.out.is_json() {
        let mut params = client::params(args)?;
        params.insert("dryRun".to_owned(), true.into());
        let found: PanePruneReply = context.call("pane:prune", &params)?;
        let count = units::count(found.removed.len(), "pane");
        let question = format!("delete {count} with {} of output?", units::bytes(found.bytes));
        if 1 < found.removed.len() && !confirm(context, &question, false)? {
            return Ok(ExitCode::FAILURE);
        }
    }
    context.show("pane:prune", args, |pruned: PanePruneReply| {
        let verb = if args.dry_run { "would delete" } else { "deleted" };
        for pane in &pruned.removed {
            context.out.line(format!("{verb} {}", pane.id))?;
        }
        for pane in &pruned.kept {
            context.out.note(format!("paned: skipped {}: {}", pane.id, pane.why))?;
        }
        let count = units::count(pruned.removed.len(), "pane");
        context.out.line(match pruned.removed.len() {
            0 => "no finished panes to delete".to_owned(),
            _ => format!("{verb} {count} with {} of output", units::bytes(pruned.bytes)),
        })
    })
}

/// Stop panes and their child processes, keeping their output
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned kill web                  ask it to exit, then kill it
  paned kill web db --grace-ms 0  at once
  paned kill web --force          at once, even if its keeper does not respond
  paned kill --tag build          all running panes with this tag
  paned kill --all                all running panes

Panes are selected by their id or a unique prefix of it, not by their title. --all and --tag exclude adopted \
tmux panes, and the current pane unless you pass --self.

The exit code is 9 (busy) if a process could not be stopped.")]
pub(crate) struct KillArgs {
    #[command(flatten)]
    #[serde(skip)]
    panes: PaneSelection,
    /// How long a program may take to exit before it is killed, as in 500ms or 3s; a number alone
    /// is milliseconds
    #[arg(long, value_name = "TIME", value_parser = millis_by_default)]
    grace_ms: Option<u64>,
    /// Kill it at once, even if its keeper does not respond
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    force: bool,
    /// Include the current pane
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
    #[serde(default)]
    restart_cancelled: bool,
    survivors: Vec<Survivor>,
}

pub(crate) fn kill(context: &CliContext, args: &KillArgs) -> Result<ExitCode> {
    let panes = args.panes.find(context, args.itself, is_to_kill)?;
    let params = |pane: &str| Ok(client::params(&PaneParams { pane_id: pane, args })?.into());
    act_on_each(context, &panes.ids, "pane:kill", params, |pane, answer| {
        let killed: PaneKillReply = client::read(answer.clone())?;
        confirm_one(context, answer, killed.sentence(&context.names.meaning(pane)))?;
        Ok(exit_code((!killed.survivors.is_empty()).then_some(Code::Busy)))
    })
}

/// Whether a program runs in it that paned started. An adopted pane belongs to the user's tmux.
pub(crate) fn is_ours_and_live(pane: &PaneInfo) -> bool {
    pane.status.is_live() && pane.adopted.is_none()
}

/// Whether its program has ended and will be started again.
fn is_restart_due(pane: &PaneInfo) -> bool {
    pane.restart.as_ref().is_some_and(|restart| restart.next_at.is_some())
}

/// Whether `paned kill --all` means it. A kill also cancels a restart, so a program that crashes
/// again and again does not escape between two runs.
pub(crate) fn is_to_kill(pane: &PaneInfo) -> bool {
    is_ours_and_live(pane) || is_restart_due(pane)
}

impl PaneKillReply {
    fn sentence(&self, pane: &str) -> String {
        let code = self.exit_code.map(|code| format!("exit code {code}"));
        let exit = self.exit_signal.clone().or(code);
        let mut exit = exit.map_or_else(String::new, |exit| format!(" ({exit})"));
        if self.restart_cancelled {
            exit.push_str("; its restart is cancelled");
        }
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
        let answer = json!({
            "status": "exited", "exitCode": 1, "restartCancelled": true, "survivors": [],
        });
        let killed: PaneKillReply = serde_json::from_value(answer).unwrap();
        let sentence = "web exited (exit code 1); its restart is cancelled";
        assert_eq!(killed.sentence("web"), sentence);
    }
}
