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

use crate::context::Context;
use crate::out::{Style, Text};

/// Start, watch, ask, answer and end coding agents
#[derive(Subcommand)]
pub(crate) enum Command {
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

pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::New(args) => new::run(context, *args),
        Command::Ls(args) => ls::run(context, &args),
        Command::Send(args) => send::run(context, args),
        Command::Wait(args) => wait::run(context, &args),
        Command::State(args) => state::run(context, &args),
        Command::Explain(args) => explain::run(context, &args),
        Command::Answer(args) => answer::run(context, &args),
        Command::Interrupt(args) => interrupt::run(context, &args),
        Command::Last(args) => last::run(context, &args),
        Command::Restart(args) => restart::run(context, &args),
        Command::Rm(args) => rm::run(context, &args),
        Command::Profiles(_) => profiles::run(context),
        Command::Record(args) => record::run(context, &args),
        Command::Replay(args) => replay::run(context, &args),
        Command::Hook(args) => hook::run(context, &args),
    }
}

/// What an agent does, in a word or two: `blocked (permission)`.
fn doing(agent: &AgentInfo) -> Text {
    let style = match agent.state {
        AgentState::Ready => Style::Good,
        AgentState::Starting | AgentState::Busy => Style::Plain,
        AgentState::Blocked | AgentState::Limited | AgentState::Unknown => Style::Warn,
        AgentState::Error => Style::Bad,
        AgentState::Exited => Style::Faint,
    };
    let kind = agent.kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    Text::new(style, &format!("{}{kind}", agent.state))
}

/// The question that an agent asks and what can be answered, as lines.
fn question(agent: &AgentInfo) -> Vec<String> {
    let Some(dialog) = &agent.dialog else { return Vec::new() };
    let options = dialog.options.iter().enumerate().map(|(index, option)| {
        let mark = if option.selected { '>' } else { ' ' };
        format!("{mark} {}. {}", index + 1, option.label)
    });
    dialog.text.lines().map(|line| format!("  {line}")).chain(options).collect()
}
