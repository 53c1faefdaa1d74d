//! `paned agent rm`: ends agents and removes their panes.

use std::process::ExitCode;

use anyhow::Result;
use serde::Deserialize;
use serde_json::json;

use crate::commands::{for_each, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent rm fix-42 reviewer
  paned agent rm --idle            all that wait for a prompt and that no client looks at";

/// End agents and forget their panes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agents' panes
    #[arg(required_unless_present = "idle", conflicts_with = "idle")]
    pane: Vec<String>,
    /// All that wait for a prompt and that no client looks at
    #[arg(long)]
    idle: bool,
    /// Mean it, although it is the agent that this comes from
    #[arg(long = "self")]
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

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    if args.idle {
        return clean_up(context);
    }
    for_each(context, &args.pane, |pane| {
        // Checked first: a command for agents must not close a pane without an agent.
        context.action("agent:state", &json!({ "paneId": pane }))?;
        let answer =
            context.action("pane:close", &json!({ "paneId": pane, "self": args.itself }))?;
        if context.out.is_json() {
            context.out.json(&answer)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn clean_up(context: &CliContext) -> Result<ExitCode> {
    let answer = context.action("agent:cleanup", &json!({}))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cleaned: AgentCleanupReply = read(answer)?;
    cleaned.closed.iter().try_for_each(|id| context.out.line(id.as_str()))?;
    let mut kept = cleaned.kept.iter();
    kept.try_for_each(|kept| context.out.note(format!("{} stays: {}", kept.id, kept.why)))?;
    Ok(ExitCode::SUCCESS)
}
