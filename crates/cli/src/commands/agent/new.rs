//! `paned agent new`: starts an agent.

use std::convert::Infallible;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{PaneId, PaneInfo};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{question, state_text};
use crate::commands::support::duration::millis;
use crate::commands::support::params::{WindowParams, negated};
use crate::commands::support::spawn_args::{SpawnArgs, SpawnViewArgs};
use crate::commands::support::view_note;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};

/// Start an agent, wait until it accepts a prompt, and print its pane's id
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent new codex
  paned agent new claude --model opus --prompt 'explain this repository'
  paned agent new opencode --worktree --id fix-42    in a new git worktree
  paned agent new codex --permissions auto --session work
  paned agent new -- ./my-agent --flag               a program without a profile
  paned agent new codex -- ./codex-wrapper.sh        a wrapper of a known agent

The command returns when the agent accepts a prompt or asks a question, and shows the question. `paned agent profiles` lists the agents.")]
pub(crate) struct Args {
    /// The agent: codex, claude, opencode, …; pass any other program after `--`
    #[arg(required_unless_present = "argv")]
    profile: Option<String>,
    /// The model, as the program names it
    #[arg(long)]
    model: Option<String>,
    /// Whether it asks before it acts
    #[arg(long, value_name = "WHEN", value_parser = ["ask", "auto"])]
    permissions: Option<String>,
    /// The first prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Accept the folder trust prompt automatically
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    trust: bool,
    /// Use a new git worktree, on this branch if one is given
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    #[arg(value_parser = worktree)]
    worktree: Option<Value>,
    /// Restart it if it fails
    #[arg(long)]
    #[serde(serialize_with = "restart_policy")]
    restart: bool,
    /// Print the id without waiting until it is ready
    #[arg(long)]
    #[serde(rename = "waitReady", serialize_with = "negated")]
    no_wait: bool,
    /// Time limit until it accepts a prompt; a number alone is seconds [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
    /// The id of its pane [default: generated]
    #[arg(long)]
    id: Option<PaneId>,
    #[command(flatten)]
    #[serde(flatten)]
    spawn: SpawnArgs,
    /// Exclude it from automatic clean-up
    #[arg(long)]
    persist: bool,
    /// What the token of its program permits besides reading and typing: spawn, approve, or none
    /// [default: set by its profile, usually spawn]
    #[arg(long, value_name = "POWER", value_delimiter = ',', value_parser = ["spawn", "approve", "none"])]
    #[serde(serialize_with = "powers")]
    can: Option<Vec<String>>,
    #[command(flatten)]
    #[serde(flatten)]
    view: SpawnViewArgs,
    /// The program and its arguments, instead of the profile's
    #[arg(last = true, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    argv: Vec<String>,
}

/// A worktree on a branch of this name, or on one whose name is made up.
fn worktree(branch: &str) -> Result<Value, Infallible> {
    Ok(if branch.is_empty() { json!(true) } else { json!({ "branch": branch }) })
}

fn restart_policy<S: Serializer>(restart: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    restart.then_some("on-failure").serialize(serializer)
}

/// `none` is an empty list, which is not the same as none given.
fn powers<S: Serializer>(named: &Option<Vec<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    let given = |name: &&String| *name != "none";
    let powers = named.as_ref().map(|named| named.iter().filter(given).collect::<Vec<_>>());
    powers.serialize(serializer)
}

pub(super) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    let out = context.out;
    args.spawn.resolve(out, &context.client_or_start()?)?;
    let params = WindowParams::new(&args, args.view.here)?;
    context.show("agent:create", &params, |pane: PaneInfo| {
        out.line(pane.id.as_str())?;
        view_note::print(out, &pane)?;
        if let Some(agent) = pane.agent.filter(|agent| !agent.state.takes_prompts()) {
            out.note(
                StyledLine::new(TextStyle::Plain, "paned: the agent is ").with(state_text(&agent)),
            )?;
            question(&agent).iter().try_for_each(|line| out.note(line.as_str()))?;
        }
        anyhow::Ok(())
    })
}
