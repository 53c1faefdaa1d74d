//! `paned write`, `send`, `keys` and `paste`: type into panes.

use std::io::Read;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;
use serde::Serialize;
use serde_json::{Map, Value};

use super::support::params::negated;
use super::support::selection::{PaneTargets, act_on_each};
use crate::client;
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
    /// The text, typed exactly as it is
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Press Enter after it
    #[arg(long)]
    enter: bool,
}

pub(crate) fn write(context: &CliContext, args: &WriteArgs) -> Result<ExitCode> {
    let answer: Value = context.call("pane:write", args)?;
    show_typed(context, &answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Type a line into a pane and press Enter
#[derive(clap::Args, Serialize)]
#[command(
    override_usage = "paned send PANE TEXT...\n       paned send --to PANE,... TEXT...\n       paned send --tag TAG TEXT...",
    after_help = "\
Examples:
  paned send web npm run build           type the words and press Enter
  paned send web 'half a li' --no-enter  only type
  paned send web -- ls -l                pass `--` before words with a dash
  paned send --to web,db 'git pull'      type it into both
  paned send --tag servers 'git pull'    into all running panes with this tag

Arguments are joined with spaces. Enter is pressed by itself, after the text, as programs that tell typing from \
pasting expect, and no other input comes between. `paned write` types its text unchanged; use `paned paste` for several lines."
)]
pub(crate) struct SendArgs {
    /// The pane, unless you pass --to or --tag, and the text
    #[arg(required = true, value_name = "PANE TEXT")]
    #[serde(skip)]
    words: Vec<String>,
    #[command(flatten)]
    #[serde(skip)]
    targets: PaneTargets,
    /// Press Enter after it; this is the default
    #[arg(long, overrides_with = "no_enter")]
    #[serde(skip)]
    enter: bool,
    /// Do not press Enter after it
    #[arg(long, overrides_with = "enter")]
    #[serde(rename = "enter", serialize_with = "negated")]
    no_enter: bool,
}

pub(crate) fn send(context: &CliContext, args: &SendArgs) -> Result<ExitCode> {
    let (panes, words) = args.targets.split(context, &args.words, "text to type")?;
    let mut params = client::params(args)?;
    params.insert("text".to_owned(), words.join(" ").into());
    type_into(context, "pane:write", &args.targets, &panes, &params)
}

/// Press keys by name
#[derive(clap::Args, Serialize)]
#[command(
    override_usage = "paned keys PANE KEY...\n       paned keys --to PANE,... KEY...\n       paned keys --tag TAG KEY...",
    after_help = "\
Examples:
  paned keys web ctrl+c                interrupt
  paned keys --tag servers ctrl+c      all running panes with this tag
  paned keys vim esc : w q enter       leave vim
  paned keys menu down --repeat 3
  paned keys repl up enter             the last line again

Names: enter esc tab backspace space up down left right home end pageup pagedown insert delete \
menu f1 to f24, kp_0 to kp_9 kp_plus kp_minus kp_multiply kp_divide kp_decimal kp_equal kp_separator \
kp_enter for the keypad, and any character; put ctrl+ alt+ shift+ super+ before them. They are encoded for the modes that the program has enabled.

Only programs that have enabled the kitty keyboard protocol receive pause, printscreen and super+ with a \
character; capslock, numlock and scrolllock only if they have requested all keys. Otherwise the command fails and \
presses nothing."
)]
pub(crate) struct KeysArgs {
    /// The pane, unless you pass --to or --tag, and the keys, as in ctrl+c
    #[arg(required = true, value_name = "PANE KEY")]
    #[serde(skip)]
    words: Vec<String>,
    #[command(flatten)]
    #[serde(skip)]
    targets: PaneTargets,
    /// Repeat the whole sequence N times
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
}

pub(crate) fn keys(context: &CliContext, args: &KeysArgs) -> Result<ExitCode> {
    let (panes, keys) = args.targets.split(context, &args.words, "key to press")?;
    let mut params = client::params(args)?;
    params.insert("keys".to_owned(), keys.into());
    type_into(context, "pane:keys", &args.targets, &panes, &params)
}

/// Paste text, bracketed if the program supports it
#[derive(clap::Args, Serialize)]
#[command(
    override_usage = "paned paste PANE [TEXT]\n       paned paste --to PANE,... [TEXT]\n       paned paste --tag TAG [TEXT]",
    after_help = "\
Examples:
  paned paste agent 'explain this repository' --submit
  git diff | paned paste agent --submit        from standard input
  paned paste editor - < notes.txt
  paned paste --to web,db 'git pull' --submit  into both

If the program has enabled bracketed paste, the text is sent as one paste, so that its lines are not run \
one by one. Text that contains the end-of-paste sequence is refused."
)]
pub(crate) struct PasteArgs {
    /// The pane; with --to or --tag, the text
    #[arg(value_name = "PANE")]
    #[serde(skip)]
    pane: Option<String>,
    /// The text; `-` or nothing reads standard input
    #[arg(allow_hyphen_values = true)]
    #[serde(skip)]
    text: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    targets: PaneTargets,
    /// Press Enter after it
    #[arg(long)]
    submit: bool,
}

pub(crate) fn paste(context: &CliContext, args: &PasteArgs) -> Result<ExitCode> {
    let words = [args.pane.clone(), args.text.clone()].into_iter().flatten();
    let mut words: Vec<String> = words.collect();
    let needed = 1 + usize::from(!args.targets.is_given());
    if needed < words.len() || words.len() + 1 < needed {
        let sentence = "pass one pane and one text; quote a text of several words";
        return Err(Refusal::invalid(sentence).into());
    }
    words.resize(needed, "-".to_owned());
    let (panes, mut words) = args.targets.split(context, &words, "text to paste")?;
    let text = or_standard_input(words.pop())?;
    let mut params = client::params(args)?;
    params.insert("text".to_owned(), text.into());
    type_into(context, "pane:paste", &args.targets, &panes, &params)
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

/// Types into each of these panes. Where a flag has named them, the answer has a line for each.
fn type_into(
    context: &CliContext,
    action: &'static str,
    targets: &PaneTargets,
    panes: &[String],
    params: &Map<String, Value>,
) -> Result<ExitCode> {
    let for_pane = |pane: &str| {
        let mut params = params.clone();
        params.insert("paneId".to_owned(), pane.into());
        Ok(params.into())
    };
    act_on_each(context, panes, action, for_pane, |pane, answer| {
        show_typed(context, answer)?;
        if targets.is_given() && !context.out.is_json() {
            context.out.line(format!("typed into {}", context.names.meaning(pane)))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Shows the answer to typing: a warning in any case, the rest with `--json` only.
fn show_typed(context: &CliContext, answer: &Value) -> Result<()> {
    if let Some(warning) = answer.get("warning").and_then(Value::as_str) {
        context.out.note(format!("paned: {warning}"))?;
    }
    if context.out.is_json() {
        context.out.json(answer)?;
    }
    Ok(())
}
