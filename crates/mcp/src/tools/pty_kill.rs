//! `pty_kill`

use paned_model::{PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::text::TextBlock;
use super::{McpTool, ToolCall, ToolEffect, replies};

pub(super) struct PtyKill;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    id: String,
    /// Also forget the session and its output
    #[serde(default)]
    cleanup: bool,
}

#[derive(Deserialize)]
struct KillReply {
    survivors: Vec<Value>,
}

impl McpTool for PtyKill {
    const NAME: &'static str = "pty_kill";
    const DOC: &'static str = "End a session's program and all its children. Its output stays readable \
        unless cleanup is true. For a polite stop type \\x03 with pty_write first.";
    const EFFECT: ToolEffect = ToolEffect::Changes;
    type Args = Args;

    async fn run(call: ToolCall, Args { id, cleanup }: Args) -> Result<ToolAnswer, Refusal> {
        let before: PaneInfo = call.act_on(&id, "pane:get", json!({})).await?;
        let was_running = before.status.is_live();
        let mut survivors = Vec::new();
        if was_running {
            let killed: KillReply = call.act_on(&id, "pane:kill", json!({})).await?;
            survivors = killed.survivors;
        }
        let after = call.act_on(&id, "pane:get", json!({})).await.unwrap_or(before);
        if cleanup {
            call.act_on::<Value>(&id, "pane:close", json!({})).await?;
        }
        let mut block = TextBlock::new("pty_killed");
        let verb = if was_running { "Killed" } else { "Cleaned up" };
        let kept = if cleanup { "session removed" } else { "session retained for log access" };
        block.line(format!("{verb}: {id} ({kept})"));
        block.field("Title", &after.title);
        block.field("Command", replies::command(&after));
        block.line(format!("Final line count: {}", after.lines));
        if !survivors.is_empty() {
            block.line(format!("Processes that could not be ended: {}", json!(survivors)));
        }
        let facts = json!({
            "id": id,
            "wasRunning": was_running,
            "removed": cleanup,
            "status": replies::status(&after),
            "lines": after.lines,
            "survivors": survivors,
        });
        Ok(ToolAnswer::new(block.finish(), facts))
    }
}
