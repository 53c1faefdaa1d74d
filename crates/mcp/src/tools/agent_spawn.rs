//! `agent_spawn`

use paned_model::{AgentInfo, PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agent_message::{self, MessageReply};
use super::agent_state;
use super::answer::ToolAnswer;
use super::text::TextBlock;
use super::{McpTool, ToolCall, ToolEffect};

pub(super) struct AgentSpawn;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Profile: codex, claude, opencode, gemini, aider, pi
    agent: String,
    /// Its task
    prompt: Option<String>,
    model: Option<String>,
    workdir: Option<String>,
    /// Give it a git worktree of its own
    #[serde(default)]
    worktree: bool,
}

/// The answer of `agent:create`.
#[derive(Deserialize)]
struct CreateReply {
    #[serde(flatten)]
    pane: PaneInfo,
    /// The outcome of the first prompt, where it was typed.
    prompt: Option<PromptReply>,
}

/// The outcome of a first prompt.
#[derive(Deserialize, Serialize)]
struct PromptReply {
    outcome: String,
    #[serde(default)]
    evidence: Vec<String>,
}

impl McpTool for AgentSpawn {
    const NAME: &'static str = "agent_spawn";
    const DOC: &'static str = "Start another coding agent and give it a task. If you run in a pane, its \
        answer is sent to you as a message; otherwise use agent_state with until \"ready\". Follow up \
        with agent_message.";
    const EFFECT: ToolEffect = ToolEffect::Adds;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        let notifies = call.is_in_pane() && args.prompt.is_some();
        let params = json!({
            "profile": args.agent,
            "model": args.model,
            "cwd": call.folder(args.workdir)?,
            "worktree": args.worktree.then_some(true),
            // Where the answer is to be sent, the prompt is a message that asks for it.
            "prompt": args.prompt.as_ref().filter(|_| !notifies),
        });
        let CreateReply { pane, prompt } = call.act("agent:create", params).await?;
        let message = match args.prompt.filter(|_| notifies) {
            Some(prompt) => Some(send(&call, &pane, &prompt).await),
            None => None,
        };
        let mut answer = answer(&pane, message);
        if let Some(prompt) = prompt {
            let why = prompt.evidence.join(" ");
            answer.text.push_str(&format!("\nPrompt: {}. {why}", prompt.outcome));
            answer.facts["prompt"] = json!(prompt);
        }
        Ok(answer)
    }
}

async fn send(call: &ToolCall, pane: &PaneInfo, prompt: &str) -> Result<MessageReply, Refusal> {
    let params = json!({ "paneId": pane.id, "text": prompt, "notify": true });
    call.act("agent:message", params).await
}

fn answer(pane: &PaneInfo, message: Option<Result<MessageReply, Refusal>>) -> ToolAnswer {
    let mut block = TextBlock::new("agent_spawned");
    block.field("ID", pane.id.as_str());
    block.field("Command", super::replies::command(pane));
    block.field("Workdir", &pane.cwd);
    let agent: Option<&AgentInfo> = pane.agent.as_ref();
    if let Some(agent) = agent {
        agent_state::state(&mut block, agent);
    }
    let mut facts = json!({
        "id": pane.id,
        "workdir": pane.cwd,
        "state": agent.map(|agent| agent.state),
    });
    match &message {
        None => {}
        Some(Ok(sent)) => {
            agent_message::outcome(&mut block, sent);
            facts["outcome"] = json!(sent.outcome);
        }
        // The agent runs, so this is not an error of the whole call.
        Some(Err(refusal)) => {
            block.field("Prompt not sent", &refusal.sentence);
            facts["promptError"] = Value::from(refusal.sentence.as_str());
        }
    }
    let mut text = block.finish();
    if matches!(message, Some(Ok(_))) {
        text.push_str("\nIts answer will be sent to you as a message; do not poll.");
    }
    ToolAnswer::new(text, facts)
}
