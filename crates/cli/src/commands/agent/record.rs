//! `paned agent record`: makes a recording of what an agent has done.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::support::duration::millis;
use crate::commands::{params, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned agent record fix-42 wrong.cast            the last ten minutes
  paned agent record fix-42 wrong.cast --last 1m
  paned agent record fix-42 - | asciinema play -

It is an asciicast of what was printed and typed, made afterwards: nothing has to be switched on. What was \
typed and not shown, as passwords are, is stars. Beside FILE.cast, FILE.states.json says what the agent was \
taken to do. `paned agent replay` judges it again.";

/// Make a recording of what an agent has done
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent's pane
    pane: String,
    /// Where to write it; `-` for standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How far back to go; a number alone is seconds [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    last: Option<u64>,
}

#[derive(Deserialize)]
struct AgentRecordReply {
    cast: String,
    states: Value,
    truncated: bool,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let request = params([("paneId", json!(args.pane)), ("lastMs", json!(args.last))]);
    let answer = context.action("agent:record", &request)?;
    let recorded: AgentRecordReply = read(answer)?;
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
        context.out.note("paned: what came before is no longer kept, or too much for one file")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(file: &Path, text: &str) -> Result<()> {
    let sentence = |error| format!("cannot write {}: {error}", file.display());
    Ok(fs::write(file, text).map_err(|error| Refusal::invalid(sentence(error)))?)
}
