//! `paned agent ls`: shows the agents, once or live.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Incoming;
use paned_model::{AgentState, PaneInfo, Time};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::state_text;
use crate::client::{self, ApiClient, RETRY_INTERVAL, escape, read};
use crate::commands::is_unavailable;
use crate::commands::support::tty;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable, units};

/// Events after which the table is redrawn.
const TABLE_EVENTS: &str =
    "agent:*,pane:created,pane:exited,pane:killed,pane:lost,pane:title,pane:removed";
/// The live table is redrawn at most this often, and at least every second, because ages change.
const MIN_REDRAW_INTERVAL: Duration = Duration::from_millis(100);
const MAX_REDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// List agents and their states
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent ls
  paned agent ls --watch                  a live table; exit with ctrl+c
  paned agent ls --state blocked --json   those that need you, for a program")]
pub(crate) struct Args {
    /// Only agents in this state: starting, ready, busy, blocked, limited, error, exited or unknown
    #[arg(long)]
    state: Option<String>,
    /// Only agents of this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Update the list as it changes
    #[arg(short, long)]
    #[serde(skip)]
    watch: bool,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let out = context.out;
    if args.watch {
        let client = context.client()?;
        client::block_on(watch(out, &client, args))??;
        return Ok(ExitCode::SUCCESS);
    }
    context.show("agent:list", args, |panes: Vec<PaneInfo>| match panes.is_empty() {
        true => out.note("no agents; start one with `paned agent new codex`"),
        false => out.table(&table(&panes, paned_keeper::time::now())),
    })
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
}

/// Shows the agents again whenever something changes: redraws a table on a terminal, prints a line
/// of JSON for programs.
async fn watch(out: Out, client: &ApiClient, args: &Args) -> Result<()> {
    let mut screen = LiveTable { out, shown: None, height: 0 };
    loop {
        match follow(client, args, &mut screen).await {
            Ok(()) => {}
            Err(error) if is_unavailable(&error) => screen.show_unavailable()?,
            Err(error) => return Err(error),
        }
        sleep(RETRY_INTERVAL).await;
    }
}

/// Follows the events of one connection to its end.
async fn follow(client: &ApiClient, args: &Args, screen: &mut LiveTable) -> Result<()> {
    // Subscribe before the first list, so that no change in between is missed.
    let path = format!("/events?include={}", escape(TABLE_EVENTS));
    let response = client.send(Request::get(path).body(Full::<Bytes>::default())?).await?;
    let mut body = response.into_body();
    loop {
        let drawn = Instant::now();
        screen.show(&client.call("agent:list", args).await?)?;
        if !wait_for_change(&mut body, drawn).await {
            return Ok(());
        }
    }
}

/// Waits until the list is to be fetched again; returns whether the stream is still open.
async fn wait_for_change(body: &mut Incoming, drawn: Instant) -> bool {
    if let Ok(frame) = timeout(MAX_REDRAW_INTERVAL, body.frame()).await {
        let is_open = matches!(frame, Some(Ok(_)));
        sleep_until(drawn + MIN_REDRAW_INTERVAL).await;
        return is_open;
    }
    true
}

/// The table as it is on the terminal.
struct LiveTable {
    out: Out,
    shown: Option<Value>,
    /// How many lines of the terminal it takes.
    height: usize,
}

impl LiveTable {
    fn show(&mut self, answer: &Value) -> Result<()> {
        if !self.out.is_terminal() || self.out.is_json() {
            if self.shown.as_ref() != Some(answer) {
                self.shown = Some(answer.clone());
                self.print(answer)?;
            }
            return Ok(());
        }
        let panes: Vec<PaneInfo> = read(answer.clone())?;
        let table = self.out.lines(&table(&panes, paned_keeper::time::now()));
        let lines: Vec<String> =
            [attention_line(&panes), String::new()].into_iter().chain(table).collect();
        self.draw(&lines)
    }

    /// Draws over the last frame. The terminal cuts lines that are too long; lines below the last
    /// row are left out, because the cursor could not move back over lines that have scrolled away.
    fn draw(&mut self, lines: &[String]) -> Result<()> {
        let rows = tty::size().map_or(usize::MAX, |size| usize::from(size.rows));
        let lines = &lines[..lines.len().min(rows.saturating_sub(1).max(1))];
        let back = if self.height == 0 { String::new() } else { format!("\x1b[{}A", self.height) };
        let frame = format!("\x1b[?7l{back}\r\x1b[J{}\n\x1b[?7h", lines.join("\n"));
        self.height = lines.len();
        Ok(self.out.bytes(frame.as_bytes())?)
    }

    fn print(&self, answer: &Value) -> Result<()> {
        if self.out.is_json() {
            return Ok(self.out.json(answer)?);
        }
        let panes: Vec<PaneInfo> = read(answer.clone())?;
        Ok(self.out.table(&table(&panes, paned_keeper::time::now()))?)
    }

    fn show_unavailable(&mut self) -> Result<()> {
        if self.out.is_terminal() && !self.out.is_json() {
            return self.draw(&["the server is away; waiting for it".to_owned()]);
        }
        if self.shown.take().is_some() {
            self.out.note("paned: the server is away; waiting for it")?;
        }
        Ok(())
    }
}

/// One line with the agents that wait for the user.
fn attention_line(panes: &[PaneInfo]) -> String {
    let is_blocked = |pane: &&PaneInfo| {
        pane.agent.as_ref().is_some_and(|agent| agent.state == AgentState::Blocked)
    };
    let blocked: Vec<&str> = panes.iter().filter(is_blocked).map(|pane| pane.id.as_str()).collect();
    match blocked.as_slice() {
        [] => "nobody needs you".to_owned(),
        blocked => format!("needs you: {}", blocked.join(", ")),
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
    fn a_row_says_what_it_does_and_who_needs_somebody() {
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
            table(&panes, now).lines(false),
            [
                "ID  AGENT  STATE                 FOR  CTX  QUEUE  TITLE",
                "a   codex  ready                 1m   12%  -      a\\x1b[2J",
                "b   goose  blocked (permission)  1m   -    2      a\\x1b[2J",
            ]
        );
        assert_eq!(attention_line(&panes), "needs you: b");
        assert_eq!(attention_line(&panes[..1]), "nobody needs you");
    }
}
