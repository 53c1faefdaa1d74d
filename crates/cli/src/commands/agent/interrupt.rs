//! `paned agent interrupt`: has an agent stop its turn.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{AgentInfo, Code};
use serde::Deserialize;
use serde_json::json;

use super::state_text;
use crate::commands::support::duration::millis;
use crate::commands::{params, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent interrupt fix-42
  paned agent interrupt fix-42 --timeout 30s

Exit codes: 0 it was seen to stop, 12 (timeout) it was not.";

/// Have an agent stop its turn, and see that it did
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
    /// How long it may take; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    timeout: Option<u64>,
}

#[derive(Deserialize)]
struct AgentInterruptReply {
    interrupted: bool,
    #[serde(default)]
    evidence: Vec<String>,
    agent: AgentInfo,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let request = params([("paneId", json!(args.pane)), ("timeoutMs", json!(args.timeout))]);
    let answer = context.action("agent:interrupt", &request)?;
    let reply: AgentInterruptReply = read(answer.clone())?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.line(state_text(&reply.agent))?;
    }
    if reply.interrupted {
        return Ok(ExitCode::SUCCESS);
    }
    reply.evidence.iter().try_for_each(|line| context.out.note(format!("paned: {line}")))?;
    Ok(ExitCode::from(Code::Timeout.exit()))
}
