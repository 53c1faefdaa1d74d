//! `pty_write`

use paned_model::{Code, PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::ToolAnswer;
use super::escapes::{preview, unescape};
use super::{McpTool, ToolCall, ToolEffect, replies};

pub(super) struct PtyWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    id: String,
    /// Exact text to type; end a line with \r
    data: String,
}

#[derive(Deserialize)]
struct WriteReply {
    bytes: usize,
    warning: Option<String>,
}

impl McpTool for PtyWrite {
    const NAME: &'static str = "pty_write";
    const DOC: &'static str = "Type into a session. Escapes: \\r is Enter, \\x03 Ctrl-C, \\x04 Ctrl-D, \
        \\t Tab, \\x1b[A Up; also \\n \\\\ \\uNNNN. Next: pty_wait for the reply, which counts output \
        from this input on.";
    const EFFECT: ToolEffect = ToolEffect::Changes;
    type Args = Args;

    async fn run(call: ToolCall, Args { id, data }: Args) -> Result<ToolAnswer, Refusal> {
        if data.is_empty() {
            return Err(Refusal::invalid("`data` is empty: there is nothing to type"));
        }
        let params = json!({ "text": unescape(&data) });
        let written = call.act_on::<WriteReply>(&id, "pane:write", params).await;
        let written = match written {
            Err(refusal) if refusal.code == Code::Gone => {
                return Err(ended(&call, &id, refusal).await);
            }
            written => written?,
        };
        let count = data.chars().count();
        let mut text = format!("Sent {count} bytes to {id}: \"{}\"", preview(&unescape(&data)));
        if let Some(warning) = &written.warning {
            text.push_str(&format!("\nWarning: {warning}"));
        }
        let facts = json!({ "id": id, "bytes": written.bytes, "warning": written.warning });
        Ok(ToolAnswer::new(text, facts))
    }
}

/// The refusal of input to a program that has ended, with how it ended.
async fn ended(call: &ToolCall, id: &str, refusal: Refusal) -> Refusal {
    let Ok(pane) = call.act_on::<PaneInfo>(id, "pane:get", json!({})).await else {
        return refusal;
    };
    let status = replies::status(&pane);
    let sentence = format!("Cannot write to PTY '{id}' - session status is '{status}'.");
    Refusal::new(Code::Gone, sentence)
}
