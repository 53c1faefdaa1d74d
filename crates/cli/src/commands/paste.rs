//! `paned paste`: pastes a text as a terminal would.

use std::io::Read;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;
use serde_json::json;

use super::warn;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned paste agent 'explain this repository' --submit
  git diff | paned paste agent --submit        from standard input
  paned paste editor - < notes.txt

Where the program has asked for it, the text is marked as pasted, so that its lines are not run one by \
one. A text that holds the mark's end is refused.";

/// Paste a text as a terminal would
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// The text; standard input when left out or `-`
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// Press Enter after it
    #[arg(long)]
    submit: bool,
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let text = match args.text {
        Some(text) if text != "-" => text,
        Some(_) | None => standard_input()?,
    };
    let request = json!({ "paneId": args.pane, "text": text, "submit": args.submit });
    let answer = context.action("pane:paste", &request)?;
    warn(context, &answer)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Refusal::invalid(format!("standard input cannot be pasted: {error}")))?;
    Ok(text)
}
