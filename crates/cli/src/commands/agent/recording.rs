//! `paned agent record` and `replay`: what an agent has done, in a file and judged again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal};
use paned_policy::agent::{ProfileLibrary, Sample, replay as judge};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::commands::support::duration::millis;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};
use crate::settings::SettingFlags;

/// Export a recording of an agent's output
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent record fix-42 wrong.cast            the last ten minutes
  paned agent record fix-42 wrong.cast --last 1m
  paned agent record fix-42 - | asciinema play -

The file is an asciicast of past output and input; nothing has to be enabled first. Input that was not echoed, such as passwords, is masked with stars. FILE.states.json beside it has the detected states. `paned agent replay` runs the detection again.")]
pub(crate) struct RecordArgs {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The file to write; `-` for standard output
    #[arg(value_name = "FILE")]
    #[serde(skip)]
    file: PathBuf,
    /// How far back to go; a number alone is seconds [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "lastMs")]
    last: Option<u64>,
}

#[derive(Deserialize)]
struct AgentRecordReply {
    cast: String,
    states: Value,
    truncated: bool,
}

pub(super) fn record(context: &CliContext, args: &RecordArgs) -> Result<ExitCode> {
    let recorded: AgentRecordReply = context.call("agent:record", args)?;
    if args.file.as_os_str() == "-" {
        context.out.bytes(recorded.cast.as_bytes())?;
    } else {
        write(&args.file, &recorded.cast)?;
        let states = args.file.with_extension("states.json");
        write(&states, &format!("{:#}\n", recorded.states))?;
        if context.out.is_json() {
            context.out.json(&json!({ "file": args.file, "states": states }))?;
        }
    }
    if recorded.truncated {
        context
            .out
            .note("paned: earlier output is no longer retained, or exceeds the size limit")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(file: &Path, text: &str) -> Result<()> {
    let sentence = |error| format!("cannot write {}: {error}", file.display());
    Ok(fs::write(file, text).map_err(|error| Refusal::invalid(sentence(error)))?)
}

/// Detect an agent's states in a recording
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned agent replay --profile codex session.cast
  paned agent replay --profile codex session.cast --json | jq '.[].state'
  paned agent replay --profile gemini session.cast --reports hooks.jsonl")]
pub(crate) struct ReplayArgs {
    /// The recording: an asciicast, version 2 or 3
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The profile of the recorded program
    #[arg(long, value_name = "NAME")]
    profile: String,
    /// The reports of its hooks: one JSON object with a time `t` per line
    #[arg(long, value_name = "FILE")]
    reports: Option<PathBuf>,
}

pub(super) fn replay(context: &CliContext, args: &ReplayArgs) -> Result<ExitCode> {
    let library = library(context)?;
    let Some(profile) = library.get(&args.profile) else {
        let names = library.names().collect::<Vec<_>>().join(", ");
        let sentence = format!("no profile `{}`; the profiles are {names}", args.profile);
        return Err(Refusal::new(Code::NotFound, sentence).into());
    };
    let cast = text(&args.file)?;
    let reports = args.reports.as_deref().map(text).transpose()?;
    let samples = judge(profile, &cast, reports.as_deref()).map_err(Refusal::invalid)?;
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
        let place = format!("{}:{}", mistake.file, mistake.line);
        context.out.note(format!("paned: {place}: {}", mistake.sentence))?;
    }
    Ok(library)
}

fn table(samples: &[Sample]) -> TextTable {
    TextTable::new(&["SECONDS", "STATE", "KIND", "SURE", "SOURCE"], samples, |sample| {
        [
            format!("{:.3}", sample.t).into(),
            StyledLine::new(TextStyle::Strong, sample.state.as_str()),
            sample.kind.map_or("", paned_model::BlockKind::as_str).into(),
            format!("{:.2}", sample.confidence).into(),
            StyledLine::new(TextStyle::Faint, sample.source.as_str()),
        ]
    })
}
