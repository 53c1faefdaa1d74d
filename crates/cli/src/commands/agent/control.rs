//! `paned agent answer`, `interrupt`, `restart` and `rm`: step in, and end agents.

use std::convert::Infallible;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{AgentInfo, Code, PaneInfo};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::state_text;
use crate::commands::for_each;
use crate::commands::support::duration::millis;
use crate::commands::support::exit_status::exit_code;
use crate::commands::support::params::PaneParams;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};

/// Answer an agent's question
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent state fix-42              shows the question and its options
  paned agent answer fix-42 1           the first of them
  paned agent answer fix-42 no          the option that declines
  paned agent answer fix-42 'Allow for this session'

Keys are pressed only while the question is on the screen; with --dialog, only if it is still the same question.")]
pub(crate) struct AnswerArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The option: its number, its text, or yes, no or always
    #[arg(value_parser = number_or_text)]
    option: Value,
    /// Answer only this question: `dialog.id` of `paned agent state --json`
    #[arg(long, value_name = "ID")]
    #[serde(rename = "dialogId")]
    dialog: Option<String>,
}

fn number_or_text(text: &str) -> Result<Value, Infallible> {
    Ok(text.parse::<u32>().map_or_else(|_| text.into(), Value::from))
}

#[derive(Deserialize)]
struct AgentAnswerReply {
    pressed: Vec<String>,
    agent: AgentInfo,
}

pub(super) fn answer(context: &CliContext, args: &AnswerArgs) -> Result<ExitCode> {
    context.show("agent:answer", args, |reply: AgentAnswerReply| {
        let pressed = format!("answered with {}; the agent is now ", reply.pressed.join(" "));
        let line = StyledLine::new(TextStyle::Plain, &pressed).with(state_text(&reply.agent));
        context.out.line(line)
    })
}

/// Interrupt an agent's turn and confirm that it stopped
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent interrupt fix-42
  paned agent interrupt fix-42 --timeout 30s

Exit codes: 0 it stopped, 12 (timeout) it did not stop in time.")]
pub(crate) struct InterruptArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// Time limit; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
}

#[derive(Deserialize)]
struct AgentInterruptReply {
    interrupted: bool,
    #[serde(default)]
    evidence: Vec<String>,
    agent: AgentInfo,
}

pub(super) fn interrupt(context: &CliContext, args: &InterruptArgs) -> Result<ExitCode> {
    let show = |reply: &AgentInterruptReply| context.out.line(state_text(&reply.agent));
    let reply = context.show_and_return("agent:interrupt", args, show)?;
    if reply.interrupted {
        return Ok(ExitCode::SUCCESS);
    }
    reply.evidence.iter().try_for_each(|line| context.out.note(format!("paned: {line}")))?;
    Ok(exit_code(Some(Code::Timeout)))
}

/// Restart an agent in a new pane
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent restart fix-42
  paned agent restart fix-42 --model opus --prompt 'continue'

The old pane is closed once the new agent accepts a prompt, and is left running if it does not.")]
pub(crate) struct RestartArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// Use another model
    #[arg(long)]
    model: Option<String>,
    /// Whether the new agent asks before it acts
    #[arg(long, value_name = "WHEN", value_parser = ["ask", "auto"])]
    permissions: Option<String>,
    /// The first prompt of the new agent
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Time limit until it accepts a prompt; a number alone is seconds [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
    /// Allow it to stop the agent that runs this command
    #[arg(long = "self")]
    #[serde(rename = "self")]
    itself: bool,
}

#[derive(Deserialize)]
struct AgentRestartReply {
    new: PaneInfo,
}

pub(super) fn restart(context: &CliContext, args: &RestartArgs) -> Result<ExitCode> {
    context.show("agent:restart", args, |restarted: AgentRestartReply| {
        context.out.line(restarted.new.id.as_str())
    })
}

/// Stop agents and delete their panes
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent rm fix-42 reviewer
  paned agent rm --idle            all idle agents that no client is watching")]
pub(crate) struct RmArgs {
    /// The agents' panes
    #[arg(required_unless_present = "idle", conflicts_with = "idle")]
    #[serde(skip)]
    pane: Vec<String>,
    /// All idle agents that no client is watching
    #[arg(long)]
    #[serde(skip)]
    idle: bool,
    /// Allow it to stop the agent that runs this command
    #[arg(long = "self")]
    #[serde(rename = "self")]
    itself: bool,
}

#[derive(Deserialize)]
struct AgentCleanupReply {
    closed: Vec<String>,
    kept: Vec<SkippedAgentReply>,
}

#[derive(Deserialize)]
struct SkippedAgentReply {
    id: String,
    why: String,
}

pub(super) fn rm(context: &CliContext, args: &RmArgs) -> Result<ExitCode> {
    if args.idle {
        return clean_up(context);
    }
    for_each(context, &args.pane, |pane| {
        // Checked first: a command for agents must not close a pane without an agent.
        let _: Value = context.call("agent:state", &json!({ "paneId": pane }))?;
        let params = PaneParams { pane_id: pane, args };
        context.show("pane:close", &params, |_: Value| anyhow::Ok(()))
    })
}

fn clean_up(context: &CliContext) -> Result<ExitCode> {
    context.show("agent:cleanup", &(), |cleaned: AgentCleanupReply| {
        cleaned.closed.iter().try_for_each(|id| context.out.line(id.as_str()))?;
        let mut kept = cleaned.kept.iter();
        kept.try_for_each(|kept| {
            context.out.note(format!("{} was not closed: {}", kept.id, kept.why))
        })
    })
}
