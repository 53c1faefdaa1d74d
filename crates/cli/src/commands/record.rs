//! `paned record`: a recording of what a pane has printed, made afterwards.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::support::duration::millis;
use crate::context::CliContext;

/// Export a recording of a pane's output
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned record web > web.cast
  paned record web web.cast --last 10m
  asciinema play web.cast

The file is an asciicast (version 2) of the retained output, with its timing and the sizes of the \
terminal. Nothing has to be enabled first, and the pane may have exited. `paned agent record` \
also has the input that was typed to an agent.")]
pub(crate) struct Args {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The file to write; `-` for standard output
    #[arg(value_name = "FILE", default_value = "-")]
    #[serde(skip)]
    file: PathBuf,
    /// The same as FILE
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    #[serde(skip)]
    output: Option<PathBuf>,
    /// How far back to go; a number alone is seconds [default: all retained
    /// output]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "lastMs")]
    last: Option<u64>,
}

#[derive(Deserialize)]
struct RecordReply {
    cast: String,
    truncated: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let file = args.output.as_ref().unwrap_or(&args.file);
    let to_stdout = file.as_os_str() == "-";
    if to_stdout && io::stdout().is_terminal() {
        let sentence = "cannot write a recording to a terminal; pass a file, as in `paned record PANE file.cast`";
        return Err(Refusal::invalid(sentence).into());
    }
    let recorded: RecordReply = context.call("pane:record", args)?;
    if to_stdout {
        context.out.bytes(recorded.cast.as_bytes())?;
    } else {
        fs::write(file, &recorded.cast).map_err(|error| {
            Refusal::invalid(format!("cannot write {}: {error}", file.display()))
        })?;
        if context.out.is_json() {
            context.out.json(&json!({ "file": file, "truncated": recorded.truncated }))?;
        }
    }
    if recorded.truncated {
        context.out.note(
            "paned: earlier output is no longer retained, or exceeds the size of one recording",
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
