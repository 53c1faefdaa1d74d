//! `paned write`, `send`, `keys` and `paste`: type into a pane.

use std::io::Read;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;
use serde::Serialize;
use serde_json::Value;

use super::support::params::{joined, negated};
use crate::context::CliContext;

/// Type text into a pane without pressing Enter
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned write web 'ls -l' --enter       type a line
  paned write web $'\\x03'               press ^C")]
pub(crate) struct WriteArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// What to type; nothing is added and nothing in it is special
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Press Enter after it
    #[arg(long)]
    enter: bool,
}

pub(crate) fn write(context: &CliContext, args: &WriteArgs) -> Result<ExitCode> {
    type_by(context, "pane:write", args)
}

/// Type a line into a pane and press Enter
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned send web npm run build           type the words and press Enter
  paned send web 'half a li' --no-enter  only type
  paned send web -- ls -l                words that begin with a dash come after `--`

Words are joined by blanks. Enter is pressed by itself, after the text, as programs that tell typing from \
pasting expect, and nothing that others send comes between. `paned write` types exactly what it is given; `paned paste` is for several lines.")]
pub(crate) struct SendArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// What to type
    #[arg(required = true)]
    #[serde(serialize_with = "joined")]
    text: Vec<String>,
    /// Press Enter after it, which is the default
    #[arg(long, overrides_with = "no_enter")]
    #[serde(skip)]
    enter: bool,
    /// Press no Enter after it
    #[arg(long, overrides_with = "enter")]
    #[serde(rename = "enter", serialize_with = "negated")]
    no_enter: bool,
}

pub(crate) fn send(context: &CliContext, args: &SendArgs) -> Result<ExitCode> {
    type_by(context, "pane:write", args)
}

/// Press keys by name
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned keys web ctrl+c                interrupt
  paned keys vim esc : w q enter       leave vim
  paned keys menu down --repeat 3
  paned keys repl up enter             the last line again

Names: enter esc tab backspace space up down left right home end pageup pagedown insert delete \
menu f1 to f24, kp_0 to kp_9 kp_plus kp_minus kp_multiply kp_divide kp_decimal kp_equal kp_separator \
kp_enter of the keypad, and every character; with ctrl+ alt+ shift+ super+ before them. They are encoded for the modes that the program has enabled.

Only programs that have switched on the kitty keyboard protocol know pause, printscreen and super+ with a \
character; capslock, numlock and scrolllock only if they want to be told of all keys. Otherwise nothing is \
pressed.")]
pub(crate) struct KeysArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The keys, as in ctrl+c
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
    /// Press them all so often
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
}

pub(crate) fn keys(context: &CliContext, args: &KeysArgs) -> Result<ExitCode> {
    type_by(context, "pane:keys", args)
}

/// Paste text as a terminal does
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned paste agent 'explain this repository' --submit
  git diff | paned paste agent --submit        from standard input
  paned paste editor - < notes.txt

Where the program has asked for it, the text is marked as pasted, so that its lines are not run one by \
one. A text that holds the mark's end is refused.")]
pub(crate) struct PasteArgs {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The text; standard input when left out or `-`
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// Press Enter after it
    #[arg(long)]
    submit: bool,
}

pub(crate) fn paste(context: &CliContext, mut args: PasteArgs) -> Result<ExitCode> {
    args.text = Some(or_standard_input(args.text)?);
    type_by(context, "pane:paste", &args)
}

/// The text, or standard input when it is left out or `-`.
pub(super) fn or_standard_input(text: Option<String>) -> Result<String> {
    if let Some(text) = text.filter(|text| text != "-") {
        return Ok(text);
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Refusal::invalid(format!("cannot paste standard input: {error}")))?;
    Ok(text)
}

/// Types with an action, whose answer is shown with `--json` only. A warning is shown in any case.
fn type_by(context: &CliContext, action: &str, args: &impl Serialize) -> Result<ExitCode> {
    let answer: Value = context.call(action, args)?;
    if let Some(warning) = answer.get("warning").and_then(Value::as_str) {
        context.out.note(format!("paned: {warning}"))?;
    }
    if context.out.is_json() {
        context.out.json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}
