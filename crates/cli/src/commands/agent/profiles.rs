//! `paned agent profiles`: shows what can be started, and the mistakes in profiles.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Code;
use serde::Deserialize;

use crate::commands::support::exit_status::exit_code;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};

/// List the agent profiles and the errors in your own
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned agent profiles
  paned agent profiles --json

Your own profiles are `*.toml` in the folder that is shown. A file with the name of a built-in profile overrides the keys it contains. Files are reloaded when they change. The exit code is 2 (invalid) if one has errors.")]
pub(crate) struct Args {}

#[derive(Deserialize)]
struct AgentProfilesReply {
    profiles: Vec<ProfileReply>,
    folder: Option<String>,
    mistakes: Vec<ProfileErrorReply>,
}

#[derive(Deserialize)]
struct ProfileReply {
    name: String,
    command: Vec<String>,
}

#[derive(Deserialize)]
struct ProfileErrorReply {
    file: String,
    line: usize,
    sentence: String,
}

pub(super) fn run(context: &CliContext) -> Result<ExitCode> {
    let found = context.show_and_return("agent:profiles", &(), |found| show(context, found))?;
    Ok(exit_code((!found.mistakes.is_empty()).then_some(Code::Invalid)))
}

fn show(context: &CliContext, found: &AgentProfilesReply) -> Result<()> {
    context.out.table(&TextTable::new(&["NAME", "COMMAND"], &found.profiles, |profile| {
        let name = StyledLine::new(TextStyle::Strong, &profile.name);
        [name, profile.command.join(" ").into()]
    }))?;
    if let Some(folder) = &found.folder {
        context.out.note(format!("your own profiles are in {folder}"))?;
    }
    for ProfileErrorReply { file, line, sentence } in &found.mistakes {
        let place = StyledLine::new(TextStyle::Bad, &format!("{file} line {line}: "));
        context.out.note(place.then(TextStyle::Plain, sentence))?;
    }
    Ok(())
}
