//! `paned agent answer`: answers the question that an agent asks.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::AgentInfo;
use serde::Deserialize;
use serde_json::json;

use super::state_text;
use crate::commands::{params, read};
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};

const EXAMPLES: &str = "\
Examples:
  paned agent state fix-42              shows the question and its options
  paned agent answer fix-42 1           the first of them
  paned agent answer fix-42 no          the one that says no
  paned agent answer fix-42 'Allow for this session'

Keys are pressed only while that question is on the screen; with --dialog, only if it is still the one \
that was shown before.";

/// Answer the question that an agent asks
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
    /// The number of an option, its words, or yes, no or always
    option: String,
    /// Only if this is the question: `dialog.id` of an earlier answer
    #[arg(long, value_name = "ID")]
    dialog: Option<String>,
}

#[derive(Deserialize)]
struct AgentAnswerReply {
    pressed: Vec<String>,
    agent: AgentInfo,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let option = args.option.parse::<u32>().map_or_else(|_| json!(args.option), |it| json!(it));
    let request = params([
        ("paneId", json!(args.pane)),
        ("option", option),
        ("dialogId", json!(args.dialog)),
    ]);
    let answer = context.action("agent:answer", &request)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answered: AgentAnswerReply = read(answer)?;
    let pressed = format!("pressed {}; it is ", answered.pressed.join(" "));
    context
        .out
        .line(StyledLine::new(TextStyle::Plain, &pressed).with(state_text(&answered.agent)))?;
    Ok(ExitCode::SUCCESS)
}
