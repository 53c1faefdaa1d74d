//! `paned agent wait`: waits until an agent has finished its turn, asks something, or is in a given
//! state.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{AgentInfo, Code};
use serde::Deserialize;
use serde_json::json;

use super::{question, state_text};
use crate::commands::support::duration::millis;
use crate::commands::{params, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent wait fix-42                        until its turn has ended
  paned agent wait fix-42 --blocked --timeout 1h until it asks something
  paned agent wait fix-42 --state ready,error

Exit codes: 0 met, 10 (gone) its program ended first, 12 (timeout) time ran out.";

/// Wait until an agent has done its turn, asks something, or is in a state
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
    /// Until it is in one of these states
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    state: Vec<String>,
    /// Until its turn has ended; the default when nothing else is waited for
    #[arg(long)]
    done: bool,
    /// Until it asks something
    #[arg(long)]
    blocked: bool,
    /// Give up after so long; a number alone is seconds [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
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

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let nothing_else = args.state.is_empty() && !args.blocked;
    let state = if args.state.is_empty() { json!(null) } else { json!(args.state) };
    let request = params([
        ("paneId", json!(args.pane)),
        ("state", state),
        ("done", json!(args.done || nothing_else)),
        ("blocked", json!(args.blocked)),
        ("timeoutMs", json!(args.timeout)),
    ]);
    let answer = context.action("agent:wait", &request)?;
    let waited: AgentWaitReply = read(answer.clone())?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.line(state_text(&waited.agent))?;
        question(&waited.agent).iter().try_for_each(|line| context.out.program_line(line))?;
    }
    if waited.met.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    waited.why.iter().try_for_each(|why| context.out.note(format!("paned: {why}")))?;
    let code = if waited.timed_out { Code::Timeout } else { Code::Gone };
    Ok(ExitCode::from(code.exit()))
}
