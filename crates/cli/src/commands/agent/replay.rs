//! `paned agent replay`: judges an agent's states in a recording. It needs no server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal};
use paned_policy::agent::{ProfileLibrary, Sample, replay};

use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};
use crate::settings::SettingFlags;

const EXAMPLES: &str = "\
Examples:
  paned agent replay --profile codex session.cast
  paned agent replay --profile codex session.cast --json | jq '.[] | select(.state == \"blocked\")'
  paned agent replay --profile gemini session.cast --reports hooks.jsonl";

/// Show what an agent was doing in a recording, moment by moment
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recording: asciicast, version 2 or 3
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The profile of the program in it
    #[arg(long, value_name = "NAME")]
    profile: String,
    /// What its hooks reported: a JSON object with a time `t` on each line
    #[arg(long, value_name = "FILE")]
    reports: Option<PathBuf>,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let library = library(context)?;
    let Some(profile) = library.get(&args.profile) else {
        let names = library.names().collect::<Vec<_>>().join(", ");
        let sentence = format!("there is no profile `{}`; there are {names}", args.profile);
        return Err(Refusal::new(Code::NotFound, sentence).into());
    };
    let cast = text(&args.file)?;
    let reports = args.reports.as_deref().map(text).transpose()?;
    let samples = replay(profile, &cast, reports.as_deref()).map_err(Refusal::invalid)?;
    if context.out.is_json() {
        context.out.json(&samples)?;
    } else {
        context.out.table(&table(&samples))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(path: &Path) -> Result<String, Refusal> {
    let bytes = fs::read(path)
        .map_err(|error| Refusal::invalid(format!("cannot read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The built-in profiles, overlaid with the user's, which are those that the server uses.
fn library(context: &CliContext) -> Result<ProfileLibrary> {
    let folder = context.settings(SettingFlags::default())?.profiles_dir;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push((path.display().to_string(), text(&path)?));
        }
    }
    let (library, mistakes) = ProfileLibrary::with(&files);
    for mistake in mistakes {
        let file = mistake.file;
        let line = mistake.line;
        let sentence = mistake.sentence;
        context.out.note(format!("paned: {file}:{line}: {sentence}"))?;
    }
    Ok(library)
}

fn table(samples: &[Sample]) -> TextTable {
    let mut table = TextTable::new(&["SECONDS", "STATE", "KIND", "SURE", "SOURCE"]);
    for sample in samples {
        let plain = |text: &str| StyledLine::new(TextStyle::Plain, text);
        table.row(vec![
            plain(&format!("{:.3}", sample.t)),
            StyledLine::new(TextStyle::Strong, sample.state.as_str()),
            plain(sample.kind.map_or("", paned_model::BlockKind::as_str)),
            plain(&format!("{:.2}", sample.confidence)),
            StyledLine::new(TextStyle::Faint, sample.source.as_str()),
        ]);
    }
    table
}
