//! `paned agent`: start, watch, ask, answer and end coding agents. One file for each verb.

mod answer;
mod explain;
mod hook;
mod interrupt;
mod last;
mod ls;
mod new;
mod profiles;
mod record;
mod replay;
mod restart;
mod rm;
mod send;
mod state;
mod wait;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::{AgentInfo, AgentState};

use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};

/// Start, watch, ask, answer and end coding agents
#[derive(Subcommand)]
pub(crate) enum AgentSubcommand {
    New(Box<new::Args>),
    #[command(visible_alias = "list")]
    Ls(ls::Args),
    Send(send::Args),
    Wait(wait::Args),
    State(state::Args),
    Explain(explain::Args),
    Answer(answer::Args),
    Interrupt(interrupt::Args),
    Last(last::Args),
    Restart(restart::Args),
    Rm(rm::Args),
    Profiles(profiles::Args),
    Record(record::Args),
    Replay(replay::Args),
    Hook(hook::Args),
}

pub(crate) fn run(context: &CliContext, command: AgentSubcommand) -> Result<ExitCode> {
    match command {
        AgentSubcommand::New(args) => new::run(context, *args),
        AgentSubcommand::Ls(args) => ls::run(context, &args),
        AgentSubcommand::Send(args) => send::run(context, args),
        AgentSubcommand::Wait(args) => wait::run(context, &args),
        AgentSubcommand::State(args) => state::run(context, &args),
        AgentSubcommand::Explain(args) => explain::run(context, &args),
        AgentSubcommand::Answer(args) => answer::run(context, &args),
        AgentSubcommand::Interrupt(args) => interrupt::run(context, &args),
        AgentSubcommand::Last(args) => last::run(context, &args),
        AgentSubcommand::Restart(args) => restart::run(context, &args),
        AgentSubcommand::Rm(args) => rm::run(context, &args),
        AgentSubcommand::Profiles(_) => profiles::run(context),
        AgentSubcommand::Record(args) => record::run(context, &args),
        AgentSubcommand::Replay(args) => replay::run(context, &args),
        AgentSubcommand::Hook(args) => hook::run(context, &args),
    }
}

/// An agent's state in a word or two: `blocked (permission)`.
fn state_text(agent: &AgentInfo) -> StyledLine {
    let style = match agent.state {
        AgentState::Ready => TextStyle::Good,
        AgentState::Starting | AgentState::Busy => TextStyle::Plain,
        AgentState::Blocked | AgentState::Limited | AgentState::Unknown => TextStyle::Warn,
        AgentState::Error => TextStyle::Bad,
        AgentState::Exited => TextStyle::Faint,
    };
    let kind = agent.kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    StyledLine::new(style, &format!("{}{kind}", agent.state))
}

/// The question that an agent asks and its options, as lines.
fn question(agent: &AgentInfo) -> Vec<String> {
    let Some(dialog) = &agent.dialog else { return Vec::new() };
    let options = dialog.options.iter().enumerate().map(|(index, option)| {
        let mark = if option.selected { '>' } else { ' ' };
        format!("{mark} {}. {}", index + 1, option.label)
    });
    dialog.text.lines().map(|line| format!("  {line}")).chain(options).collect()
}
