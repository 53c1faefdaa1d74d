//! `paned agent last`: prints what an agent answered last.

use std::process::ExitCode;

use anyhow::Result;
use serde::Deserialize;
use serde_json::json;

use crate::commands::read;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent last fix-42
  paned agent last fix-42 --json | jq -r .source     transcript, screen or hook

Only an answer to the last prompt is printed; without one the exit code is 3 (not found), or 9 (busy) while its turn is \
under way. An answer that was cut from the screen is wrapped as it was there; standard error says so.";

/// Print what an agent answered to its last prompt
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
}

#[derive(Deserialize)]
struct AgentLastReply {
    text: String,
    source: String,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let answer = context.action("agent:last", &json!({ "paneId": args.pane }))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let last: AgentLastReply = read(answer)?;
    last.text.lines().try_for_each(|line| context.out.program_line(line))?;
    if last.source == "screen" {
        context.out.note("paned: cut from the screen")?;
    }
    Ok(ExitCode::SUCCESS)
}
