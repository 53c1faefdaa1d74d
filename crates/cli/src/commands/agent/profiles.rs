//! `paned agent profiles`: shows what can be started, and the mistakes in profiles.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Code;
use serde::Deserialize;
use serde_json::json;

use crate::commands::read;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};

const EXAMPLES: &str = "\
Examples:
  paned agent profiles
  paned agent profiles --json

Yours are `*.toml` in the folder that is shown. One with the name of one of ours changes what it says and \
keeps the rest. They are read again when they change. Exit code 2 (invalid) when one has mistakes.";

/// Show the agents that can be started, and the mistakes in profiles of yours
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
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
    let answer = context.action("agent:profiles", &json!({}))?;
    let found: AgentProfilesReply = read(answer.clone())?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        show(context, &found)?;
    }
    Ok(match found.mistakes.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(Code::Invalid.exit()),
    })
}

fn show(context: &CliContext, found: &AgentProfilesReply) -> Result<()> {
    let mut table = TextTable::new(&["NAME", "COMMAND"]);
    for profile in &found.profiles {
        let command = profile.command.join(" ");
        table.row(vec![StyledLine::new(TextStyle::Strong, &profile.name), command.as_str().into()]);
    }
    context.out.table(&table)?;
    if let Some(folder) = &found.folder {
        context.out.note(format!("yours are in {folder}"))?;
    }
    for ProfileErrorReply { file, line, sentence } in &found.mistakes {
        let place = StyledLine::new(TextStyle::Bad, &format!("{file} line {line}: "));
        context.out.note(place.then(TextStyle::Plain, sentence))?;
    }
    Ok(())
}
