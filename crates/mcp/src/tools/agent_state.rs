//! `agent_state`

use paned_model::{AgentInfo, AgentState as State, PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::text::{TextBlock, count, one_line};
use super::{McpTool, ToolCall, ToolEffect, replies};

const DEFAULT_SECONDS: f64 = 45.0;
const DAY_SECONDS: f64 = 86_400.0;
/// How many agents are listed.
const MAX_LISTED: usize = 40;

pub(super) struct AgentState;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// Default: list all agents
    id: Option<String>,
    /// Wait until it is so
    until: Option<UntilState>,
    /// Also show its last answer
    #[serde(default)]
    answer: bool,
    /// Default 45
    timeout_seconds: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UntilState {
    Ready,
    Busy,
    Blocked,
    Exited,
}

impl UntilState {
    fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Blocked => "blocked",
            Self::Exited => "exited",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateWaitReply {
    timed_out: bool,
}

#[derive(Deserialize)]
struct LastReply {
    text: String,
}

impl McpTool for AgentState {
    const NAME: &'static str = "agent_state";
    const DOC: &'static str = "Show what other agents do: starting, ready, busy, blocked (with its \
        question), limited, error, exited, unknown. Can wait for a state and show the last answer.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        let Some(id) = &args.id else {
            if args.until.is_some() || args.answer {
                return Err(Refusal::invalid("`until` and `answer` need an `id`"));
            }
            return list(&call).await;
        };
        let timed_out = match args.until {
            Some(until) => wait(&call, id, until, args.timeout_seconds).await?,
            None => false,
        };
        let agent: AgentInfo = call.act_on(id, "agent:state", json!({})).await?;
        let answer = match args.answer {
            true => Some(call.act_on::<LastReply>(id, "agent:last", json!({})).await),
            false => None,
        };
        let mut block = TextBlock::with_attributes("agent_state", &[("id", id)]);
        state(&mut block, &agent);
        if timed_out {
            block.line("Not in that state before the time-out; call it again to wait on.");
        }
        let mut facts = json!({ "id": id, "agent": agent, "timedOut": timed_out });
        match answer {
            None => {}
            Some(Ok(LastReply { text })) => {
                block.line("Answer:");
                block.line(text.replace("</agent_", "&lt;/agent_"));
                facts["answer"] = Value::from(text);
            }
            Some(Err(refusal)) => block.field("No answer", refusal.sentence),
        }
        Ok(ToolAnswer::new(block.finish(), facts))
    }
}

async fn wait(
    call: &ToolCall,
    id: &str,
    until: UntilState,
    seconds: Option<f64>,
) -> Result<bool, Refusal> {
    let seconds = seconds.unwrap_or(DEFAULT_SECONDS);
    if !(0.0 < seconds && seconds <= DAY_SECONDS) {
        let sentence = "`timeoutSeconds` must be more than 0 and at most 86400";
        return Err(Refusal::invalid(sentence));
    }
    let params = json!({
        "state": until.name(),
        "timeoutMs": (seconds * 1000.0).ceil() as u64,
    });
    let waited: StateWaitReply = call.act_on(id, "agent:wait", params).await?;
    Ok(waited.timed_out)
}

async fn list(call: &ToolCall) -> Result<ToolAnswer, Refusal> {
    let mut panes: Vec<PaneInfo> = call.act("agent:list", json!({})).await?;
    if panes.is_empty() {
        return Ok(ToolAnswer::new("No agents.", json!({ "agents": [], "total": 0 })));
    }
    panes.reverse();
    panes.sort_by_key(|pane| !pane.status.is_live());
    let total = panes.len();
    panes.truncate(MAX_LISTED);
    let mut block = TextBlock::new("agents");
    let mut agents = Vec::new();
    for pane in &panes {
        let state = pane.agent.as_ref().map_or(State::Unknown, |agent| agent.state);
        let profile = pane.agent.as_ref().map_or("", |agent| agent.profile.as_str());
        let title = one_line(&pane.title);
        block.line(format!("[{}] {profile}: {state} - {title}", pane.id));
        agents.push(json!({
            "id": pane.id,
            "profile": profile,
            "state": state,
            "title": pane.title,
            "command": replies::command(pane),
        }));
    }
    block.line(format!("Total: {}", count(total, "agent", "agents")));
    Ok(ToolAnswer::new(block.finish(), json!({ "agents": agents, "total": total })))
}

/// What an agent does, and the question it waits on.
pub(super) fn state(block: &mut TextBlock, agent: &AgentInfo) {
    block.line(format!("State: {} ({})", agent.state, agent.profile));
    if 0 < agent.queued {
        block.line(format!("Queued: {}", count(agent.queued, "message", "messages")));
    }
    let Some(dialog) = &agent.dialog else { return };
    block.line(format!("It asks ({}): {}", dialog.kind, one_line(&dialog.text)));
    for option in &dialog.options {
        block.line(format!("- {}", one_line(&option.label)));
    }
}
