//! `paned agent restart`: starts a new agent, and ends the old one once the new one is ready.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::PaneInfo;
use serde::Deserialize;
use serde_json::json;

use crate::commands::support::duration::millis;
use crate::commands::{params, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent restart fix-42
  paned agent restart fix-42 --model opus --prompt 'go on'

The old one is closed once the new one takes a prompt. If it never does, the old one stays.";

/// Start an agent anew, and end the old one once the new one is there
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
    /// Another model for the new one
    #[arg(long)]
    model: Option<String>,
    /// Whether the new one asks before it acts
    #[arg(long, value_name = "WHEN", value_parser = ["ask", "auto"])]
    permissions: Option<String>,
    /// A first prompt for the new one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// How long it may take until it takes a prompt; a number alone is seconds [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    timeout: Option<u64>,
    /// Mean it, although it is the agent that this comes from
    #[arg(long = "self")]
    itself: bool,
}

#[derive(Deserialize)]
struct AgentRestartReply {
    new: PaneInfo,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let request = params([
        ("paneId", json!(args.pane)),
        ("model", json!(args.model)),
        ("permissions", json!(args.permissions)),
        ("prompt", json!(args.prompt)),
        ("timeoutMs", json!(args.timeout)),
        ("self", json!(args.itself)),
    ]);
    let answer = context.action("agent:restart", &request)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let restarted: AgentRestartReply = read(answer)?;
    context.out.line(restarted.new.id.as_str())?;
    Ok(ExitCode::SUCCESS)
}
