//! `paned ls` and `paned get`: show panes.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{PaneInfo, PaneStatus, Time};
use serde::Serialize;

use super::support::{restart_note, view_note};
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable, units};

/// List panes
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned ls                      all panes, oldest first
  paned ls --status running     those that run
  paned ls --tag web --json     those with a tag, for a program")]
pub(crate) struct LsArgs {
    /// Only panes with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only panes in this status: starting, running, exited, killed or lost
    #[arg(long)]
    status: Option<String>,
}

pub(crate) fn ls(context: &CliContext, args: &LsArgs) -> Result<ExitCode> {
    let out = context.out;
    context.show("pane:list", args, |panes: Vec<PaneInfo>| match panes.is_empty() {
        true => out.note("no panes; start one with `paned new -- <program>`"),
        false => out.table(&table(&panes, paned_keeper::time::now())),
    })
}

fn table(panes: &[PaneInfo], now: Time) -> TextTable {
    let head = &["ID", "STATUS", "PID", "SIZE", "AGE", "LINES", "TITLE"];
    TextTable::new(head, panes, |pane| {
        [
            StyledLine::new(TextStyle::Strong, pane.id.as_str()),
            status(pane).then(TextStyle::Warn, &restart_note::suffix(pane, now)),
            pid(pane).into(),
            pane.size.to_string().into(),
            units::age(now.since(pane.created_at)).into(),
            pane.lines.to_string().into(),
            pane.title.as_str().into(),
        ]
    })
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

/// Show the details of a pane
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned get web
  paned get web --json")]
pub(crate) struct GetArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
}

pub(crate) fn get(context: &CliContext, args: &GetArgs) -> Result<ExitCode> {
    context.show("pane:get", args, |pane: PaneInfo| context.out.fields(&fields(&pane)))
}

fn fields(pane: &PaneInfo) -> Vec<(&'static str, StyledLine)> {
    let now = paned_keeper::time::now();
    let age = units::age(now.since(pane.created_at));
    let mut fields: Vec<(&str, StyledLine)> = vec![
        ("id", pane.id.as_str().into()),
        ("title", pane.title.as_str().into()),
        ("status", status(pane)),
        ("argv", shell_words(&pane.argv).into()),
        ("cwd", pane.cwd.as_str().into()),
        ("size", pane.size.to_string().into()),
        ("created", format!("{} ({age} ago)", pane.created_at).into()),
        ("output", output(pane).into()),
    ];
    let mut put = |name, value: Option<String>| fields.extend(value.map(|it| (name, it.into())));
    put("pid", pane.pid.map(|pid| pid.to_string()));
    put("ended", pane.ended_at.map(|time| time.to_string()));
    put("tmux", pane.view.as_ref().and_then(view_note::summary));
    put("restart", pane.restart.as_ref().map(|it| restart_note::summary(it, now)));
    put("previous run of", pane.previous_of.as_ref().map(ToString::to_string));
    put("parent", pane.parent.as_ref().map(ToString::to_string));
    put("tags", (!pane.tags.is_empty()).then(|| pane.tags.join(", ")));
    for (key, value) in &pane.meta {
        fields.push(("meta", format!("{key} = {value}").into()));
    }
    fields
}

fn output(pane: &PaneInfo) -> String {
    let dropped = match pane.dropped {
        0 => String::new(),
        dropped => format!(", the first {} no longer kept", units::bytes(dropped)),
    };
    format!("{} lines, {}{dropped}", pane.lines, units::bytes(pane.bytes))
}

/// The arguments, quoted for a shell.
fn shell_words(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let word = |word: &String| match word.is_empty() || !word.chars().all(plain) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => word.clone(),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A running pane that is called `web`, with these fields on top.
    pub(crate) fn pane(more: serde_json::Value) -> PaneInfo {
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
    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        let argv = ["sh", "-c", "echo 'a b'", ""].map(str::to_owned);
        assert_eq!(shell_words(&argv), "sh -c 'echo '\\''a b'\\''' ''");
    }
}
