//! `paned agent`: start, watch, ask, answer and end coding agents.

mod control;
mod hook;
mod hook_origin;
mod ls;
mod new;
mod profiles;
mod recording;
mod send;
mod state;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::{AgentInfo, AgentState};

use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};

/// Start, prompt, watch and stop coding agents
#[derive(Subcommand)]
pub(crate) enum AgentSubcommand {
    New(Box<new::Args>),
    #[command(visible_alias = "list")]
    Ls(ls::Args),
    Send(send::Args),
    Wait(state::WaitArgs),
    State(state::StateArgs),
    Explain(state::ExplainArgs),
    Answer(control::AnswerArgs),
    Interrupt(control::InterruptArgs),
    Last(state::LastArgs),
    Restart(control::RestartArgs),
    Rm(control::RmArgs),
    Profiles(profiles::Args),
    Record(recording::RecordArgs),
    Replay(recording::ReplayArgs),
    Hook(hook::Args),
}

pub(crate) fn run(context: &CliContext, command: AgentSubcommand) -> Result<ExitCode> {
    match command {
        AgentSubcommand::New(args) => new::run(context, *args),
        AgentSubcommand::Ls(args) => ls::run(context, &args),
        AgentSubcommand::Send(args) => send::run(context, args),
        AgentSubcommand::Wait(args) => state::wait(context, args),
        AgentSubcommand::State(args) => state::state(context, &args),
        AgentSubcommand::Explain(args) => state::explain(context, &args),
        AgentSubcommand::Answer(args) => control::answer(context, &args),
        AgentSubcommand::Interrupt(args) => control::interrupt(context, &args),
        AgentSubcommand::Last(args) => state::last(context, &args),
        AgentSubcommand::Restart(args) => control::restart(context, &args),
        AgentSubcommand::Rm(args) => control::rm(context, &args),
        AgentSubcommand::Profiles(args) => profiles::run(context, &args),
        AgentSubcommand::Record(args) => recording::record(context, &args),
        AgentSubcommand::Replay(args) => recording::replay(context, &args),
        AgentSubcommand::Hook(args) => hook::run(context, &args),
    }
}

/// An agent's state in a word or two: `blocked (permission)`.
pub(super) fn state_text(agent: &AgentInfo) -> StyledLine {
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
