//! `paned agent profiles`: shows what can be started, and the mistakes in profiles.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use paned_backend::find_program;
use paned_model::Code;
use serde::Deserialize;

use crate::commands::support::exit_status::exit_code;
use crate::commands::support::shell_words::with_tilde;
use crate::commands::support::table_args::TableArgs;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};
use crate::settings::process_env;

/// List the agent profiles and the errors in your own
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned agent profiles
  paned agent profiles --wide       with the file of each installed program
  paned agent profiles --json

INSTALLED tells whether the program is on your PATH. Your own profiles are `*.toml` in the folder that is shown. A file with the name of a built-in profile overrides the keys \
it contains. Files are reloaded when they change. The exit code is 2 (invalid) if one has errors.")]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,
}

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

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let found =
        context.show_and_return("agent:profiles", &(), |found| show(context, args, found))?;
    Ok(exit_code((!found.mistakes.is_empty()).then_some(Code::Invalid)))
}

fn show(context: &CliContext, args: &Args, found: &AgentProfilesReply) -> Result<()> {
    let path = process_env("PATH");
    let home = process_env("HOME");
    let head = &["NAME", "INSTALLED", "FILE", "COMMAND"];
    let table = TextTable::new(head, &found.profiles, |profile| {
        let program = profile.command.first().map_or("", String::as_str);
        let file = find_program(program, path.as_deref(), Path::new("/")).ok();
        let installed = match &file {
            Some(_) => StyledLine::new(TextStyle::Good, "yes"),
            None => StyledLine::new(TextStyle::Faint, "no"),
        };
        let file = file.map(|file| with_tilde(&file.to_string_lossy(), home.as_deref()));
        [
            StyledLine::new(TextStyle::Strong, &profile.name),
            installed,
            file.unwrap_or_else(|| "-".to_owned()).into(),
            profile.command.join(" ").into(),
        ]
    });
    context.out.table_in(&table.only_wide(&["FILE"]), args.table.width(context.out))?;
    if let Some(folder) = &found.folder {
        let folder = with_tilde(folder, home.as_deref());
        context.out.note(format!("your own profiles are in {folder}"))?;
    }
    for ProfileErrorReply { file, line, sentence } in &found.mistakes {
        let place = StyledLine::new(TextStyle::Bad, &format!("{file} line {line}: "));
        context.out.note(place.then(TextStyle::Plain, sentence))?;
    }
    Ok(())
}
