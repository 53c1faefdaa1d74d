//! `paned send`: types a line into a pane and presses Enter.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::warn;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned send web npm run build           type the words and press Enter
  paned send web 'half a li' --no-enter  only type
  paned send web -- ls -l                words that begin with a dash come after `--`

Words are joined by blanks. Enter is pressed by itself, after the text, as programs that tell typing from \
pasting expect, and nothing that others send comes between. `paned write` types exactly what it is given; `paned paste` is for several lines.";

/// Type a line into a pane and press Enter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// What to type
    #[arg(required = true)]
    text: Vec<String>,
    /// Press Enter after it, which is the default
    #[arg(long, overrides_with = "no_enter")]
    enter: bool,
    /// Press no Enter after it
    #[arg(long, overrides_with = "enter")]
    no_enter: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let text = args.text.join(" ");
    let request = json!({ "paneId": args.pane, "text": text, "enter": !args.no_enter });
    let answer = context.action("pane:write", &request)?;
    warn(context, &answer)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}
