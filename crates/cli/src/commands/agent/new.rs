//! `paned agent new`: starts an agent.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{PaneId, PaneInfo, Size};
use serde_json::{Map, Value, json};

use super::{question, state_text};
use crate::commands::layout::current_tmux_pane;
use crate::commands::new::{from_here, json_or_text, pair};
use crate::commands::support::duration::millis;
use crate::commands::{params, read};
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};

const EXAMPLES: &str = "\
Examples:
  paned agent new codex
  paned agent new claude --model opus --prompt 'explain this repository'
  paned agent new opencode --worktree --id fix-42    in a git worktree of its own
  paned agent new codex --permissions auto --session work
  paned agent new -- ./my-agent --flag               a program that no profile knows
  paned agent new codex -- ./codex-wrapper.sh        a known agent, started by another command

The agent is there when it takes a prompt, or asks something; what it asks is shown. `paned agent profiles` \
shows what can be started.";

/// Start an agent, wait until it takes a prompt, and print its pane's id
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to start: codex, claude, opencode, …; any other program comes after `--`
    #[arg(required_unless_present = "argv")]
    profile: Option<String>,
    /// The model, by the name that the program knows
    #[arg(long)]
    model: Option<String>,
    /// Whether it asks before it acts
    #[arg(long, value_name = "WHEN", value_parser = ["ask", "auto"])]
    permissions: Option<String>,
    /// The first prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Answer its questions about trust in the folder by yes
    #[arg(long)]
    trust: bool,
    /// Have it work in a git worktree of its own, on this branch if you name one
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    worktree: Option<String>,
    /// Start it again when it fails
    #[arg(long)]
    restart: bool,
    /// Print its id at once
    #[arg(long)]
    no_wait: bool,
    /// How long it may take until it takes a prompt; a number alone is seconds [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    timeout: Option<u64>,
    /// What to name its pane; a name is made up when left out
    #[arg(long)]
    id: Option<PaneId>,
    /// Where to start it [default: here]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// What to call it
    #[arg(long)]
    title: Option<String>,
    /// How large its terminal is, as in 120x40
    #[arg(long)]
    size: Option<Size>,
    /// A variable on top of the server's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    env: Vec<(String, String)>,
    /// Free data; the value is JSON where it reads as JSON, text otherwise
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    meta: Vec<(String, String)>,
    /// A label
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Have automatic clean-up leave it alone
    #[arg(long)]
    persist: bool,
    /// What the token of its program may do besides reading and typing: spawn, approve, or none
    /// [default: as its profile says, mostly spawn]
    #[arg(long, value_name = "POWER", value_delimiter = ',', value_parser = ["spawn", "approve", "none"])]
    can: Option<Vec<String>>,
    /// Show it in tmux, in this session, which is started if there is none
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    session: Option<String>,
    /// Show it in the tmux window that this is typed in
    #[arg(long)]
    here: bool,
    /// The program and its arguments, in place of the profile's own
    #[arg(last = true)]
    argv: Vec<String>,
}

pub(super) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let answer = context.action("agent:create", &request(args)?)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let pane: PaneInfo = read(answer)?;
    context.out.line(pane.id.as_str())?;
    if let Some(agent) = pane.agent.filter(|agent| !agent.state.takes_prompts()) {
        let state = state_text(&agent);
        context.out.note(StyledLine::new(TextStyle::Plain, "paned: it is ").with(state))?;
        question(&agent).iter().try_for_each(|line| context.out.note(line.as_str()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn request(args: Args) -> Result<Value> {
    let text = |(name, value): (String, String)| (name, Value::String(value));
    let here = if args.here { current_tmux_pane()? } else { Map::new() };
    let worktree = args.worktree.map(|branch| match branch.is_empty() {
        true => json!(true),
        false => json!({ "branch": branch }),
    });
    let powers = args.can.map(|mut powers| {
        powers.retain(|power| power != "none");
        powers
    });
    let mut request = params([
        ("profile", json!(args.profile)),
        ("argv", if args.argv.is_empty() { Value::Null } else { json!(args.argv) }),
        ("model", json!(args.model)),
        ("permissions", json!(args.permissions)),
        ("prompt", json!(args.prompt)),
        ("trust", if args.trust { json!(true) } else { Value::Null }),
        ("worktree", json!(worktree)),
        ("restart", if args.restart { json!("on-failure") } else { Value::Null }),
        ("waitReady", json!(!args.no_wait)),
        ("timeoutMs", json!(args.timeout)),
        ("id", json!(args.id)),
        ("cwd", json!(from_here(args.cwd)?)),
        ("title", json!(args.title)),
        ("size", json!(args.size)),
        ("env", args.env.into_iter().map(text).collect::<Map<_, _>>().into()),
        ("meta", args.meta.into_iter().map(json_or_text).collect::<Map<_, _>>().into()),
        ("tags", json!(args.tag)),
        ("persist", json!(args.persist)),
        ("can", json!(powers)),
        ("session", json!(args.session)),
    ]);
    if let Some(request) = request.as_object_mut() {
        request.extend(here);
    }
    Ok(request)
}
