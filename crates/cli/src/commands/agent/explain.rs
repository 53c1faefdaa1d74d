//! `paned agent explain`: prints why an agent's state was judged as it was.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent explain fix-42
  paned agent explain fix-42 --json | jq '.reasons[0]'

When it is wrong about an agent of yours, `paned agent record` makes a file of what it saw, and \
`paned agent replay` judges that again with another profile.";

/// Say why an agent is thought to do what it does
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let answer = context.action("agent:explain", &json!({ "paneId": args.pane }))?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = answer.get("text").and_then(Value::as_str).unwrap_or_default();
    text.lines().try_for_each(|line| context.out.program_line(line))?;
    Ok(ExitCode::SUCCESS)
}
