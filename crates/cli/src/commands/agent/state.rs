//! `paned agent state`, `explain`, `last` and `wait`: what an agent does, and did.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{AgentInfo, Code};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{question, state_text};
use crate::commands::support::duration::millis;
use crate::commands::support::exit_status::exit_code;
use crate::context::CliContext;
use crate::out::{Out, in_commands_about};

/// Show an agent's state
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent state fix-42              ready, busy, blocked (permission), …
  paned agent state fix-42 --json
  paned agent explain fix-42            and why")]
pub(crate) struct StateArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
}

pub(super) fn state(context: &CliContext, args: &StateArgs) -> Result<ExitCode> {
    context.show("agent:state", args, |agent| show_state(context.out, &agent))
}

/// Prints an agent's state, and what it asks.
fn show_state(out: Out, agent: &AgentInfo) -> Result<()> {
    out.line(state_text(agent))?;
    Ok(out.program_lines(question(agent).iter().map(String::as_str))?)
}

/// Explain how an agent's state was determined
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent explain fix-42
  paned agent explain fix-42 --json | jq '.reasons[0]'

If the state is wrong, `paned agent record` exports a recording, and `paned agent replay` runs the detection again with another profile.")]
pub(crate) struct ExplainArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
}

pub(super) fn explain(context: &CliContext, args: &ExplainArgs) -> Result<ExitCode> {
    context.show("agent:explain", args, |answer: Value| {
        let text = answer.get("text").and_then(Value::as_str).unwrap_or_default();
        context.out.program_lines(text.lines())
    })
}

/// Print an agent's answer to its last prompt
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent last fix-42
  paned agent last fix-42 --json | jq -r .source     transcript, screen or hook

Only an answer to the last prompt is printed; without one the exit code is 3 (not found), or 9 (busy) while its turn is in progress. An answer that was read from the screen is wrapped as it was there; a note on standard error reports this.")]
pub(crate) struct LastArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
}

#[derive(Deserialize)]
struct AgentLastReply {
    text: String,
    source: String,
}

pub(super) fn last(context: &CliContext, args: &LastArgs) -> Result<ExitCode> {
    context.show("agent:last", args, |last: AgentLastReply| {
        show_answer(context.out, &last.text, &last.source)
    })
}

/// Prints an agent's answer, with a note if it was cut from the screen.
pub(super) fn show_answer(out: Out, text: &str, source: &str) -> Result<()> {
    out.program_lines(text.lines())?;
    if source == "screen" {
        out.note("paned: read from the screen")?;
    }
    Ok(())
}

/// Wait until an agent finishes its turn, asks a question, or reaches a state
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent wait fix-42                         until its turn is over
  paned agent wait fix-42 --blocked --timeout 1h  until it asks a question
  paned agent wait fix-42 --state ready,error

Exit codes: 0 the condition was met, 10 (gone) the program exited first, 12 (timeout) timed out.")]
pub(crate) struct WaitArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// Until it is in one of these states
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<String>,
    /// Until its turn is over; the default without other conditions
    #[arg(long)]
    done: bool,
    /// Until it asks a question
    #[arg(long)]
    blocked: bool,
    /// Time limit; a number alone is seconds [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentWaitReply {
    met: Option<String>,
    timed_out: bool,
    agent: AgentInfo,
    #[serde(default)]
    why: Vec<String>,
}

pub(super) fn wait(context: &CliContext, mut args: WaitArgs) -> Result<ExitCode> {
    args.done |= args.state.is_empty() && !args.blocked;
    let show = |waited: &AgentWaitReply| show_state(context.out, &waited.agent);
    let waited = context.show_and_return("agent:wait", &args, show)?;
    if waited.met.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    waited.why.iter().try_for_each(|why| {
        let why = in_commands_about(why, Some(&args.pane));
        context.out.note(format!("paned: {why}"))
    })?;
    Ok(exit_code(Some(if waited.timed_out { Code::Timeout } else { Code::Gone })))
}
