//! `paned keys`: presses keys by name.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::{params, warn};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned keys web ctrl+c                interrupt
  paned keys vim esc : w q enter       leave vim
  paned keys menu down --repeat 3
  paned keys repl up enter             the last line again

Names: enter esc tab backspace space up down left right home end pageup pagedown insert delete \
menu f1 to f24, kp_0 to kp_9 kp_plus kp_minus kp_multiply kp_divide kp_decimal kp_equal kp_separator \
kp_enter of the keypad, and every character; with ctrl+ alt+ shift+ super+ before them. They are encoded \
for the modes that the program has switched on.

Only programs that have switched on the kitty keyboard protocol know pause, printscreen and super+ with a \
character; capslock, numlock and scrolllock only if they want to be told of all keys. Otherwise nothing is \
pressed.";

/// Press keys by name
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// The keys, as in ctrl+c
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
    /// Press them all so often
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let request = params([
        ("paneId", json!(args.pane)),
        ("keys", json!(args.keys)),
        ("repeat", json!(args.repeat)),
    ]);
    let answer = context.action("pane:keys", &request)?;
    warn(context, &answer)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}
