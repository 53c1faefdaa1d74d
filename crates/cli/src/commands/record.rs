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

/// Make a recording of what a pane has printed
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned record web > web.cast
  paned record web web.cast --last 10m
  asciinema play web.cast

It is an asciicast (version 2) of all output that is kept, with the times at which it was printed and the \
sizes of the terminal: nothing has to be switched on, and the pane may have ended. `paned agent record` \
has what was typed to an agent, too.")]
pub(crate) struct Args {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// Where to write it; `-` for standard output
    #[arg(value_name = "FILE", default_value = "-")]
    #[serde(skip)]
    file: PathBuf,
    /// How far back to go; a number alone is seconds [default: all that is kept]
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
    let to_stdout = args.file.as_os_str() == "-";
    if to_stdout && io::stdout().is_terminal() {
        let sentence =
            "a recording is not for a terminal; pass a file, as in `paned record PANE file.cast`";
        return Err(Refusal::invalid(sentence).into());
    }
    let recorded: RecordReply = context.call("pane:record", args)?;
    if to_stdout {
        context.out.bytes(recorded.cast.as_bytes())?;
    } else {
        fs::write(&args.file, &recorded.cast).map_err(|error| {
            Refusal::invalid(format!("cannot write {}: {error}", args.file.display()))
        })?;
        if context.out.is_json() {
            context.out.json(&json!({ "file": args.file, "truncated": recorded.truncated }))?;
        }
    }
    if recorded.truncated {
        context.out.note("paned: what came before is no longer kept, or too much for one file")?;
    }
    Ok(ExitCode::SUCCESS)
}
