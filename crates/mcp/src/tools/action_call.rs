//! `action_call`

use std::sync::Arc;

use paned_kernel::ActionDefinition;
use paned_model::{Code, Refusal};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::{McpTool, ToolCall, ToolEffect};

/// The longest answer that is shown as text: about ten thousand tokens.
const MAX_CHARS: usize = 40_000;

pub(super) struct ActionCall;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// As in pane:keys
    name: String,
    #[serde(default)]
    params: JsonObject,
}

impl McpTool for ActionCall {
    const NAME: &'static str = "action_call";
    const DOC: &'static str = "Run an action of action_list. Sessions are called paneId there. Answers \
        JSON.";
    const EFFECT: ToolEffect = ToolEffect::Changes;
    type Args = Args;

    async fn run(call: ToolCall, Args { name, params }: Args) -> Result<ToolAnswer, Refusal> {
        permitted(&call, &name)?;
        let answer: Value = call.act(&name, Value::Object(params)).await?;
        let text = answer.to_string();
        if MAX_CHARS < text.len() {
            let sentence = format!(
                "the answer of {name} is too long ({} characters); use filters, a limit or another \
                 tool. The action was done",
                text.len()
            );
            return Err(Refusal::new(Code::Limit, sentence));
        }
        // Facts are an object.
        let facts = match answer {
            Value::Object(_) => answer,
            other => json!({ "answer": other }),
        };
        Ok(ToolAnswer::new(text, facts))
    }
}

/// The action of this name, if the client's tier permits it.
///
/// # Errors
/// If there is none, or the tier does not.
pub(super) fn permitted(call: &ToolCall, name: &str) -> Result<Arc<ActionDefinition>, Refusal> {
    let action = call.client.kernel.action(name).map_err(|refusal| {
        let sentence = refusal.sentence.replace("`GET /actions` lists", "action_list lists");
        Refusal { sentence, ..refusal }
    })?;
    let tier = call.client.tier;
    if tier.permits(action.scope) {
        return Ok(action);
    }
    let sentence = format!(
        "`{name}` needs the scope `{}`, which the tier {tier} does not have; the person can start \
         this MCP server with another `--tier`",
        action.scope
    );
    Err(Refusal::new(Code::Forbidden, sentence))
}
