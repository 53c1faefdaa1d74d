//! `agent_message`

use paned_model::{AgentInfo, Delivery, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer::ToolAnswer;
use super::text::TextBlock;
use super::{McpTool, ToolCall, ToolEffect, agent_state};

/// How long to wait for an answer when the model does not say.
const DEFAULT_SECONDS: f64 = 45.0;
const DAY_SECONDS: f64 = 86_400.0;

pub(super) struct AgentMessage;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    id: String,
    text: String,
    /// done: wait for its answer; submitted (default): only until it has the message
    #[serde(default)]
    wait: MessageWait,
    /// Send you its answer as a message; works only if you run in a pane
    #[serde(default)]
    notify: bool,
    /// Default 45
    timeout_seconds: Option<f64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MessageWait {
    #[default]
    Submitted,
    Done,
}

/// The answer of `agent:message`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageReply {
    pub(super) outcome: Delivery,
    #[serde(default)]
    evidence: Vec<String>,
    answer: Option<String>,
    #[serde(default)]
    timed_out: bool,
    agent: AgentInfo,
}

impl McpTool for AgentMessage {
    const NAME: &'static str = "agent_message";
    const DOC: &'static str = "Send a message to another agent's session. It is typed only when the \
        agent can take it; a busy agent gets it later. The outcome says what really happened.";
    const EFFECT: ToolEffect = ToolEffect::Changes;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        let seconds = args.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        if !(0.0 < seconds && seconds <= DAY_SECONDS) {
            let sentence = "`timeoutSeconds` must be more than 0 and at most 86400";
            return Err(Refusal::invalid(sentence));
        }
        let params = json!({
            "text": args.text,
            "wait": args.wait,
            "notify": args.notify,
            "timeoutMs": (seconds * 1000.0).ceil() as u64,
        });
        let sent: MessageReply = call.act_on(&args.id, "agent:message", params).await?;
        let mut block = TextBlock::with_attributes("agent_message", &[("id", &args.id)]);
        outcome(&mut block, &sent);
        agent_state::state(&mut block, &sent.agent);
        let is_waiting = args.wait == MessageWait::Done && sent.answer.is_none();
        if sent.timed_out {
            block.line(format!("Not done within {seconds} s."));
        }
        if is_waiting && sent.outcome == Delivery::Submitted {
            block.line("Call agent_state with until \"ready\" and answer true for its answer.");
        }
        if let Some(answer) = &sent.answer {
            block.line("Answer:");
            block.line(answer.replace("</agent_", "&lt;/agent_"));
        }
        let facts = json!({
            "id": args.id,
            "outcome": sent.outcome,
            "evidence": sent.evidence,
            "state": sent.agent.state,
            "answer": sent.answer,
            "timedOut": sent.timed_out,
        });
        Ok(ToolAnswer::new(block.finish(), facts))
    }
}

/// What became of a message, with the evidence.
pub(super) fn outcome(block: &mut TextBlock, sent: &MessageReply) {
    block.field("Outcome", sent.outcome.as_str());
    for evidence in &sent.evidence {
        block.field("Evidence", evidence);
    }
}
