//! `pty_list`

use paned_model::{PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::text::{TextBlock, count, one_line};
use super::{McpTool, ToolCall, ToolEffect, replies};

/// How many sessions are listed in one answer.
const MAX_LISTED: usize = 40;

pub(super) struct PtyList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

impl McpTool for PtyList {
    const NAME: &'static str = "pty_list";
    const DOC: &'static str = "List your sessions, running ones first. Ended ones stay readable.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, Args {}: Args) -> Result<ToolAnswer, Refusal> {
        let mut panes: Vec<PaneInfo> = call.act("pane:list", json!({})).await?;
        if panes.is_empty() {
            let facts = json!({ "sessions": [], "total": 0 });
            return Ok(ToolAnswer::new("No active PTY sessions.", facts));
        }
        // Stable, so that the newest come first in both halves.
        panes.reverse();
        panes.sort_by_key(|pane| !pane.status.is_live());
        let total = panes.len();
        panes.truncate(MAX_LISTED);
        let mut block = TextBlock::new("pty_list");
        panes.iter().for_each(|pane| session(&mut block, pane));
        let more = total - panes.len();
        if 0 < more {
            let advice = "action_call pane:list has filters for them";
            block.line(format!("({} more; {advice})", count(more, "session", "sessions")));
        }
        block.line(format!("Total: {total} session(s)"));
        let sessions: Vec<Value> = panes.iter().map(facts).collect();
        let facts = json!({ "sessions": sessions, "total": total });
        Ok(ToolAnswer::new(block.finish(), facts))
    }
}

fn session(block: &mut TextBlock, pane: &PaneInfo) {
    block.line(format!("[{}] {}", pane.id, one_line(&pane.title)));
    block.field("  Command", replies::command(pane));
    let timed_out = if pane.timed_out { " (timed out)" } else { "" };
    let exit = replies::exit(pane).map(|exit| format!(" (exit: {exit})")).unwrap_or_default();
    block.line(format!("  Status: {}{timed_out}{exit}", replies::status(pane)));
    if pane.status.is_live() {
        let pid = pane.pid.map_or_else(|| "none".to_owned(), |pid| pid.to_string());
        block.field("  PID", pid);
    }
    block.line(format!("  Lines: {}", pane.lines));
    block.field("  Workdir", &pane.cwd);
    if let Some(agent) = &pane.agent {
        block.line(format!("  Agent: {} ({})", agent.profile, agent.state));
    }
    block.line(format!("  Created: {}", pane.created_at));
    block.line("");
}

fn facts(pane: &PaneInfo) -> Value {
    let facts = json!({
        "id": pane.id,
        "title": pane.title,
        "command": replies::command(pane),
        "status": replies::status(pane),
        "exitCode": pane.exit_code,
        "exitSignal": pane.exit_signal,
        "pid": pane.pid.filter(|_| pane.status.is_live()),
        "lines": pane.lines,
        "workdir": pane.cwd,
        "agent": pane.agent.as_ref().map(|agent| agent.state),
    });
    let facts = facts.as_object().cloned().unwrap_or_default();
    Value::from_iter(facts.into_iter().filter(|(_, value)| !value.is_null()))
}
