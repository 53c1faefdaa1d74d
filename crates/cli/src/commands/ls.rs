//! `paned ls`: shows the panes.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{PaneInfo, PaneStatus, Time};
use serde_json::json;

use super::{params, read};
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable, units};

const EXAMPLES: &str = "\
Examples:
  paned ls                      all panes, oldest first
  paned ls --status running     those that run
  paned ls --tag web --json     those with a tag, for a program";

/// Show the panes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only panes with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only panes in this status: starting, running, exited, killed or lost
    #[arg(long)]
    status: Option<String>,
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let request = params([("tag", json!(args.tag)), ("status", json!(args.status))]);
    let answer = context.action("pane:list", &request)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let panes: Vec<PaneInfo> = read(answer)?;
    if panes.is_empty() {
        context.out.note("no panes; start one with `paned new -- <program>`")?;
    } else {
        context.out.table(&table(&panes, paned_keeper::time::now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(panes: &[PaneInfo], now: Time) -> TextTable {
    let mut table = TextTable::new(&["ID", "STATUS", "PID", "SIZE", "AGE", "LINES", "TITLE"]);
    for pane in panes {
        table.row(vec![
            StyledLine::new(TextStyle::Strong, pane.id.as_str()),
            status(pane),
            pid(pane).into(),
            pane.size.to_string().into(),
            units::age(now.since(pane.created_at)).into(),
            pane.lines.to_string().into(),
            pane.title.as_str().into(),
        ]);
    }
    table
}

/// The pid while the process runs; afterwards the number may belong to another process.
fn pid(pane: &PaneInfo) -> String {
    let pid = pane.pid.filter(|_| pane.status.is_live());
    pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string())
}

/// The status, with how it ended: `exited 1`, `killed SIGTERM`.
pub(super) fn status(pane: &PaneInfo) -> StyledLine {
    let style = match pane.status {
        PaneStatus::Starting | PaneStatus::Running => TextStyle::Good,
        PaneStatus::Exited if pane.exit_code == Some(0) => TextStyle::Faint,
        PaneStatus::Exited | PaneStatus::Killed => TextStyle::Warn,
        PaneStatus::Lost => TextStyle::Bad,
    };
    let code = pane.exit_code.map(|code| code.to_string());
    let exit = pane.exit_signal.clone().or(code);
    let late = if pane.timed_out { " timed-out" } else { "" };
    let exit = exit.map_or_else(String::new, |exit| format!(" {exit}"));
    StyledLine::new(style, &format!("{}{exit}{late}", pane.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(more: serde_json::Value) -> PaneInfo {
        let mut pane = json!({
            "id": "web", "title": "npm\x1b[2J", "argv": ["npm"], "cwd": "/", "pid": 7, "timedOut": false,
            "size": { "cols": 80, "rows": 24 }, "status": "running", "substrate": "pty",
            "createdAt": "2026-11-15T21:30:00.000Z", "guarantee": "exact", "meta": {}, "tags": [],
            "persist": false, "lines": 12, "bytes": 100, "dropped": 0,
        });
        let more = more.as_object().unwrap().clone();
        pane.as_object_mut().unwrap().extend(more);
        serde_json::from_value(pane).unwrap()
    }

    #[test]
    fn a_row_says_how_it_runs_or_ended() {
        let panes = [
            pane(json!({})),
            pane(json!({ "status": "exited", "exitCode": 3 })),
            pane(json!({ "status": "killed", "exitSignal": "SIGKILL", "timedOut": true })),
        ];
        let now = Time(panes[0].created_at.0 + 90_000);
        assert_eq!(
            table(&panes, now).lines(false),
            [
                "ID   STATUS                    PID  SIZE   AGE  LINES  TITLE",
                "web  running                   7    80x24  1m   12     npm\\x1b[2J",
                "web  exited 3                  -    80x24  1m   12     npm\\x1b[2J",
                "web  killed SIGKILL timed-out  -    80x24  1m   12     npm\\x1b[2J",
            ]
        );
    }
}
