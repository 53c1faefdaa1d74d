//! `paned hooks`: has coding agents report their state, by hooks in their own configuration.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use crate::client_config::{
    ChangeArgs, Edit, Homes, HookEvents, Operation, OwnCommand, Target, change, own_program, status,
};
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};
use crate::settings::process_env;

const INSTALL: &str = "\
Examples:
  paned hooks install claude
  paned hooks install codex --dry-run      print the change and do nothing
  paned hooks install gemini --project     only in the current folder

The change is shown before it is written, and the old file is kept. Your own hooks stay as they are. Outside of \
paned's panes the hooks do nothing.";

const REMOVE: &str = "\
Examples:
  paned hooks remove claude

Only what paned has installed is removed.";

const UNDO: &str = "\
Examples:
  paned hooks undo claude

It restores the file as it was before the last change. If the file has changed since, only the hooks are removed.";

const STATUS: &str = "\
Examples:
  paned hooks status
  paned hooks status codex --json";

/// Have coding agents report their state by hooks
#[derive(Subcommand)]
pub(crate) enum HooksSubcommand {
    /// Install the hooks of an agent
    #[command(after_help = INSTALL)]
    Install(AgentArgs),
    /// Remove the hooks of an agent
    #[command(after_help = REMOVE)]
    Remove(AgentArgs),
    /// Restore the agent's file as it was before the last change
    #[command(after_help = UNDO)]
    Undo(AgentArgs),
    /// Show which agents have hooks
    #[command(after_help = STATUS)]
    Status(StatusArgs),
}

/// The agent, and how its file is changed.
#[derive(clap::Args)]
pub(crate) struct AgentArgs {
    /// The agent
    agent: HookAgent,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Whose hooks to show.
#[derive(clap::Args)]
pub(crate) struct StatusArgs {
    /// The agent [default: all]
    agent: Option<HookAgent>,
    /// Show the files of the project in the current folder
    #[arg(long)]
    project: bool,
}

/// An agent that has hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// pi
    Pi,
    /// aider
    Aider,
}

const CLAUDE_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Notification",
    "Stop",
    "StopFailure",
];
const CODEX_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "Interrupt",
];
const GEMINI_EVENTS: &[&str] =
    &["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent"];

/// The extension of pi, which names the program as `paned`.
const PI_EXTENSION: &str = include_str!("../../../../integrations/pi/paned.ts");

pub(crate) fn run(context: &CliContext, command: &HooksSubcommand) -> Result<ExitCode> {
    let (args, operation) = match command {
        HooksSubcommand::Status(args) => return show(context, args),
        HooksSubcommand::Install(args) => (args, Operation::Install),
        HooksSubcommand::Remove(args) => (args, Operation::Remove),
        HooksSubcommand::Undo(args) => (args, Operation::Undo),
    };
    change(context, &target(args.agent, args.change.project)?, operation, &args.change)
}

fn show(context: &CliContext, args: &StatusArgs) -> Result<ExitCode> {
    let agents = args.agent.map_or_else(|| HookAgent::value_variants().to_vec(), |it| vec![it]);
    let targets = agents.into_iter().map(|agent| target(agent, args.project));
    show_targets(context, &targets.collect::<Result<Vec<_>>>()?, &["AGENT", "HOOKS", "FILE", ""])
}

/// Shows what is installed in these files.
pub(super) fn show_targets(
    context: &CliContext,
    targets: &[Target],
    head: &'static [&'static str; 4],
) -> Result<ExitCode> {
    let rows: Vec<_> = targets.iter().map(status).collect();
    if context.out.is_json() {
        let answer: Vec<&Value> = rows.iter().map(|(_, json)| json).collect();
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let table = TextTable::new(head, rows, |(cells, _)| {
        let [program, state, path, detail] = cells;
        let style = match state.as_str() {
            "installed" => TextStyle::Good,
            "absent" => TextStyle::Faint,
            _ => TextStyle::Warn,
        };
        [
            StyledLine::new(TextStyle::Strong, &program),
            StyledLine::new(style, &state),
            path.into(),
            detail.into(),
        ]
    });
    context.out.table(&table)?;
    Ok(ExitCode::SUCCESS)
}

/// The file of an agent, and what goes into it.
fn target(agent: HookAgent, project: bool) -> Result<Target> {
    let folder = if project { Some(std::env::current_dir()?) } else { None };
    let homes = Homes::new(&process_env, folder)?;
    let own = own_program()?;
    let events = |agent: &'static str, events, timeout| {
        Edit::JsonHooks(HookEvents { agent, events, command: own.hook(agent, None), timeout })
    };
    let target = |program, path, edit, notes| Target { program, part: "hooks", path, edit, notes };
    Ok(match agent {
        HookAgent::Claude => {
            let edit = events("claude", CLAUDE_EVENTS, 10);
            target("claude", homes.claude_settings(), edit, Vec::new())
        }
        HookAgent::Codex => {
            let edit = events("codex", CODEX_EVENTS, 10);
            let note = "Codex runs new hooks only after you have trusted them: it asks when it \
                        starts next, or type `/hooks` in it";
            target("codex", homes.codex("hooks.json"), edit, vec![note.to_owned()])
        }
        HookAgent::Gemini => {
            let edit = events("gemini", GEMINI_EVENTS, 10_000);
            target("gemini", homes.gemini(), edit, Vec::new())
        }
        HookAgent::Pi => target("pi", homes.pi(), Edit::Script(pi_extension(&own)?), Vec::new()),
        HookAgent::Aider => {
            let edit = Edit::AiderNotification { command: own.hook("aider", Some("waiting")) };
            target("aider", homes.aider(), edit, Vec::new())
        }
    })
}

/// The extension with the program as it is started here.
fn pi_extension(own: &OwnCommand) -> Result<String> {
    let program = serde_json::to_string(&own.program)?;
    let line = format!("const PANED = {program};");
    Ok(PI_EXTENSION.replace("const PANED = \"paned\";", &line))
}
