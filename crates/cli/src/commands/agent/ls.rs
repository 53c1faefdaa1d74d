//! `paned agent ls`: shows the agents, once or live.

use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use paned_model::{AgentState, PaneInfo, Time};
use serde::Serialize;
use serde_json::Value;

use super::state_text;
use crate::client;
use crate::commands::support::live_list::LiveList;
use crate::commands::support::table_args::TableArgs;
use crate::context::CliContext;
use crate::out::{StyledLine, TableWidth, TextStyle, TextTable, units};

/// Events after which the table is redrawn.
const TABLE_EVENTS: &str =
    "agent:*,pane:created,pane:exited,pane:killed,pane:lost,pane:title,pane:removed";

/// List agents and their states
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent ls
  paned agent ls --watch                  a live table; ctrl+c exits
  paned agent ls --state blocked --json   those that need you, for a program")]
pub(crate) struct Args {
    /// Only agents in this state
    #[arg(long)]
    state: Option<AgentStateArg>,
    /// Only agents of this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Update the list as it changes
    #[arg(short, long)]
    #[serde(skip)]
    watch: bool,
    #[command(flatten)]
    #[serde(skip)]
    table: TableArgs,
}

#[derive(Clone, Copy, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum AgentStateArg {
    /// Its program starts, and takes no prompt yet
    Starting,
    /// It waits for a prompt
    Ready,
    /// It works
    Busy,
    /// It waits for an answer to its question
    Blocked,
    /// Its provider's limit is reached
    Limited,
    /// Its last turn failed; it takes a prompt
    Error,
    /// Its program has ended
    Exited,
    /// It is not known what it does
    Unknown,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let out = context.out;
    if args.watch {
        let client = context.client()?;
        let list = LiveList {
            action: "agent:list",
            args,
            events: TABLE_EVENTS,
            lines: &|answer| live_lines(context, args, answer),
        };
        client::block_on(list.watch(out, &client))??;
        return Ok(ExitCode::SUCCESS);
    }
    context.show("agent:list", args, |panes: Vec<PaneInfo>| match panes.is_empty() {
        true => out.note("no agents; start one with `paned agent new codex`"),
        false => out.table_in(&table(&panes, paned_keeper::time::now()), args.table.width(out)),
    })
}

/// The live table, on a terminal below a line that says which agents need the user.
fn live_lines(context: &CliContext, args: &Args, answer: Value) -> Result<Vec<String>> {
    let out = context.out;
    let panes: Vec<PaneInfo> = client::read(answer)?;
    let width = args.table.width(out);
    let table = out.lines(&table(&panes, paned_keeper::time::now()), width);
    if !out.is_terminal() {
        return Ok(table);
    }
    let attention = match width {
        TableWidth::Fit(columns) => attention_line(&panes).cut(columns),
        TableWidth::Full | TableWidth::Wide => attention_line(&panes),
    };
    Ok([out.rendered(&attention), String::new()].into_iter().chain(table).collect())
}

fn table(panes: &[PaneInfo], now: Time) -> TextTable {
    let head = &["ID", "AGENT", "STATE", "FOR", "CTX", "QUEUE", "TITLE"];
    let agents = panes.iter().filter_map(|pane| Some((pane, pane.agent.as_ref()?)));
    TextTable::new(head, agents, |(pane, agent)| {
        let context = agent.context_percent.map_or_else(|| "-".into(), |used| format!("{used}%"));
        let queued = if agent.queued == 0 { "-".into() } else { agent.queued.to_string() };
        [
            StyledLine::new(TextStyle::Strong, pane.id.as_str()),
            agent.profile.as_str().into(),
            state_text(agent),
            units::age(now.since(agent.since)).into(),
            context.into(),
            queued.into(),
            pane.title.as_str().into(),
        ]
    })
    .dropping(&["CTX", "QUEUE", "FOR", "AGENT"])
}

/// One line with the agents that wait for the user.
fn attention_line(panes: &[PaneInfo]) -> StyledLine {
    let is_blocked = |pane: &&PaneInfo| {
        pane.agent.as_ref().is_some_and(|agent| agent.state == AgentState::Blocked)
    };
    let blocked: Vec<&str> = panes.iter().filter(is_blocked).map(|pane| pane.id.as_str()).collect();
    match blocked.as_slice() {
        [] => StyledLine::new(TextStyle::Faint, "no agent needs you"),
        blocked => {
            let names = blocked.join(", ");
            StyledLine::new(TextStyle::Warn, "needs you: ").then(TextStyle::Strong, &names)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::ls::tests::pane;

    fn agent(id: &str, agent: Value) -> PaneInfo {
        pane(json!({ "id": id, "title": "a\x1b[2J", "agent": agent }))
    }

    #[test]
    fn a_row_says_what_it_does_and_the_first_line_who_needs_an_answer() {
        let ready = json!({
            "profile": "codex", "state": "ready", "since": "2026-11-15T21:30:00.000Z", "source": "title",
            "confidence": 0.9, "contextPercent": 12, "queued": 0,
        });
        let asks = json!({
            "profile": "goose", "state": "blocked", "kind": "permission", "queued": 2,
            "since": "2026-11-15T21:30:00.000Z", "source": "screen", "confidence": 0.9,
        });
        let panes = [agent("a", ready), agent("b", asks)];
        let now = Time(panes[0].created_at.0 + 90_000);
        assert_eq!(
            table(&panes, now).lines(TableWidth::Full, false),
            [
                "ID  AGENT  STATE                 FOR  CTX  QUEUE  TITLE",
                "a   codex  ready                 1m   12%  -      a\\x1b[2J",
                "b   goose  blocked (permission)  1m   -    2      a\\x1b[2J",
            ]
        );
        assert_eq!(attention_line(&panes).render(false), "needs you: b");
        assert_eq!(attention_line(&panes[..1]).render(false), "no agent needs you");
    }
}
