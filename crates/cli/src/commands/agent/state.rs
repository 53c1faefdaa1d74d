//! `paned agent state`: prints what an agent is doing.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::AgentInfo;
use serde_json::json;

use super::{question, state_text};
use crate::commands::read;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent state fix-42              ready, busy, blocked (permission), …
  paned agent state fix-42 --json
  paned agent explain fix-42            and why";

/// Say what an agent is doing
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let answer = context.action("agent:state", &json!({ "paneId": args.pane }))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let agent: AgentInfo = read(answer)?;
    context.out.line(state_text(&agent))?;
    question(&agent).iter().try_for_each(|line| context.out.program_line(line))?;
    Ok(ExitCode::SUCCESS)
}
