//! `paned ls`: lists panes, once or live.

use std::cmp::Reverse;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use paned_model::{PaneInfo, PaneStatus, Time};
use serde::Serialize;
use serde_json::Value;

use super::support::live_list::LiveList;
use super::support::restart_note;
use super::support::shell_words::shell_words;
use super::support::table_args::TableArgs;
use crate::client;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable, units};

/// Events after which the live list is fetched again.
const LIST_EVENTS: &str = "pane:*";
/// A pane that ended longer ago is hidden.
const HIDE_AFTER_MS: u64 = 60 * 60 * 1000;

/// List panes
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned ls                      running panes and those of the last hour
  paned ls -a                   all panes
  paned ls --watch              a live table; ctrl+c exits
  paned ls --status exited -q   ids only, for a script
  paned ls --tag web --json     for a program: always all panes, oldest first

A terminal shows the columns that fit; --wide and pipes have all of them.")]
pub(crate) struct LsArgs {
    /// Include panes that ended more than an hour ago
    #[arg(short, long)]
    #[serde(skip)]
    all: bool,
    /// Only panes with this status, however old
    #[arg(long)]
    status: Option<PaneStatusArg>,
    /// Only panes with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Print ids only
    #[arg(short, long)]
    #[serde(skip)]
    quiet: bool,
    /// Update the list as it changes
    #[arg(short, long, conflicts_with = "quiet")]
    #[serde(skip)]
    watch: bool,
    #[command(flatten)]
    #[serde(skip)]
    table: TableArgs,
}

#[derive(Clone, Copy, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum PaneStatusArg {
    /// The program is being started
    Starting,
    /// The program runs
    Running,
    /// The program ended by itself
    Exited,
    /// paned ended it
    Killed,
    /// It is not known how the program ended
    Lost,
}

pub(crate) fn ls(context: &CliContext, args: &LsArgs) -> Result<ExitCode> {
    let out = context.out;
    if args.watch {
        let client = context.client()?;
        let list = LiveList {
            action: "pane:list",
            args,
            events: LIST_EVENTS,
            lines: &|answer| live_lines(context, args, answer),
        };
        client::block_on(list.watch(out, &client))??;
        return Ok(ExitCode::SUCCESS);
    }
    context.show("pane:list", args, |panes: Vec<PaneInfo>| {
        let now = paned_keeper::time::now();
        let listed = ListedPanes::new(panes, args, now);
        if args.quiet {
            return listed.shown.iter().try_for_each(|pane| out.line(pane.id.as_str()));
        }
        if listed.shown.is_empty() && listed.hidden == 0 {
            return out.note("no panes; start one with `paned new -- <program>`");
        }
        if !listed.shown.is_empty() {
            out.table_in(&table(&listed.shown, now), args.table.width(out))?;
        }
        match listed.hidden_note() {
            Some(note) if out.has_reader() => out.note(StyledLine::new(TextStyle::Faint, &note)),
            Some(_) | None => Ok(()),
        }
    })
}

fn live_lines(context: &CliContext, args: &LsArgs, answer: Value) -> Result<Vec<String>> {
    let now = paned_keeper::time::now();
    let listed = ListedPanes::new(client::read(answer)?, args, now);
    let out = context.out;
    Ok(out.lines(&table(&listed.shown, now), args.table.width(out)))
}

/// Panes in the order of a list, without those that are hidden.
struct ListedPanes {
    shown: Vec<PaneInfo>,
    hidden: usize,
}

impl ListedPanes {
    /// Running panes first, oldest first; then those that have ended, newest first.
    fn new(mut panes: Vec<PaneInfo>, args: &LsArgs, now: Time) -> Self {
        let count = panes.len();
        if !args.all && args.status.is_none() {
            panes
                .retain(|pane| pane.status.is_live() || now.since(ended_at(pane)) <= HIDE_AFTER_MS);
        }
        panes.sort_by_key(|pane| match pane.status.is_live() {
            true => (false, Reverse(Time(0)), pane.created_at),
            false => (true, Reverse(ended_at(pane)), pane.created_at),
        });
        Self { hidden: count - panes.len(), shown: panes }
    }

    fn hidden_note(&self) -> Option<String> {
        let what = units::count(self.hidden, "pane");
        let ended = format!("{what} ended more than an hour ago; `paned ls -a` lists all");
        (0 < self.hidden).then_some(ended)
    }
}

/// When a pane ended; a lost one may not have a time of its own.
fn ended_at(pane: &PaneInfo) -> Time {
    pane.ended_at.unwrap_or(pane.created_at)
}

fn table(panes: &[PaneInfo], now: Time) -> TextTable {
    let head = &["ID", "STATUS", "PID", "SIZE", "LINES", "CREATED", "COMMAND", "TITLE"];
    let table = TextTable::new(head, panes, |pane| {
        [
            StyledLine::new(TextStyle::Strong, pane.id.as_str()),
            status_with_time(pane, now).then(TextStyle::Warn, &restart_note::suffix(pane, now)),
            pid(pane).into(),
            pane.size.to_string().into(),
            pane.lines.to_string().into(),
            units::ago(now.since(pane.created_at)).into(),
            shell_words(&pane.argv).into(),
            pane.title.as_str().into(),
        ]
    });
    table.only_wide(&["CREATED", "COMMAND"]).dropping(&["PID", "SIZE", "LINES"])
}

/// The pid while the process runs; afterwards the number may belong to another process.
fn pid(pane: &PaneInfo) -> String {
    let pid = pane.pid.filter(|_| pane.status.is_live());
    pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string())
}

/// The status with a time: `running 3m` since it started, `exited 0  5m ago` since it ended.
fn status_with_time(pane: &PaneInfo, now: Time) -> StyledLine {
    let time = match (pane.status.is_live(), pane.ended_at) {
        (true, _) => format!(" {}", units::age(now.since(pane.created_at))),
        (false, Some(ended)) => format!("  {}", units::ago(now.since(ended))),
        (false, None) => String::new(),
    };
    status(pane).then(TextStyle::Faint, &time)
}

/// The status, with how it ended: `exited 1`, `killed SIGTERM`.
pub(super) fn status(pane: &PaneInfo) -> StyledLine {
    let style = match pane.status {
        PaneStatus::Starting | PaneStatus::Running => TextStyle::Good,
        PaneStatus::Exited if pane.exit_code == Some(0) => TextStyle::Faint,
        PaneStatus::Exited | PaneStatus::Killed | PaneStatus::Lost => TextStyle::Bad,
    };
    let code = pane.exit_code.map(|code| code.to_string());
    let exit = pane.exit_signal.clone().or(code);
    let late = if pane.timed_out { " timed-out" } else { "" };
    let exit = exit.map_or_else(String::new, |exit| format!(" {exit}"));
    StyledLine::new(style, &format!("{}{exit}{late}", pane.status))
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::out::TableWidth;

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

    fn args(all: bool) -> LsArgs {
        let table = TableArgs::default();
        LsArgs { all, status: None, tag: None, quiet: false, watch: false, table }
    }

    #[test]
    fn a_row_says_how_it_runs_or_ended() {
        let ended = "2026-11-15T21:31:00.000Z";
        let panes = [
            pane(json!({})),
            pane(json!({ "status": "exited", "exitCode": 3, "endedAt": ended })),
            pane(
                json!({ "status": "killed", "exitSignal": "SIGKILL", "timedOut": true, "endedAt": ended }),
            ),
        ];
        let now = Time(panes[0].created_at.0 + 90_000);
        assert_eq!(
            table(&panes, now).lines(TableWidth::Full, false),
            [
                "ID   STATUS                             PID  SIZE   LINES  TITLE",
                "web  running 1m                         7    80x24  12     npm\\x1b[2J",
                "web  exited 3  30s ago                  -    80x24  12     npm\\x1b[2J",
                "web  killed SIGKILL timed-out  30s ago  -    80x24  12     npm\\x1b[2J",
            ]
        );
        assert_eq!(
            table(&panes, now).lines(TableWidth::Fit(48), false)[3],
            "web  killed SIGKILL timed-out  30s…   npm\\x1b[2J"
        );
    }

    #[test]
    fn running_panes_come_first_and_what_ended_long_ago_is_hidden() {
        let ended = |id: &str, at: &str| {
            pane(json!({ "id": id, "status": "exited", "exitCode": 0, "endedAt": at }))
        };
        let panes = || {
            vec![
                ended("old", "2026-11-15T20:00:00.000Z"),
                ended("one", "2026-11-15T21:40:00.000Z"),
                pane(json!({})),
                ended("two", "2026-11-15T21:50:00.000Z"),
            ]
        };
        let now = Time(pane(json!({})).created_at.0 + 30 * 60_000);
        let ids = |listed: &ListedPanes| {
            listed.shown.iter().map(|pane| pane.id.to_string()).collect::<Vec<_>>()
        };
        let listed = ListedPanes::new(panes(), &args(false), now);
        assert_eq!(ids(&listed), ["web", "two", "one"]);
        assert!(listed.hidden_note().unwrap().starts_with("1 pane ended more than an hour ago"));
        let listed = ListedPanes::new(panes(), &args(true), now);
        assert_eq!(ids(&listed), ["web", "two", "one", "old"]);
        assert_eq!(listed.hidden_note(), None);
    }
}
