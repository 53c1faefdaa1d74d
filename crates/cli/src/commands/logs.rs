//! `paned logs`: shows everything that is kept of what a pane has printed.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;

use super::support::history::OutputHistory;
use super::support::output_writer::OutputFormat;
use super::support::output_writer::OutputWriter;
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned logs web                 all of it
  paned logs web | less
  paned logs web -n | grep -i error
  paned logs web --raw           byte for byte, colours and all
  paned logs web --json          one line of JSON for each line

It ends where the output ended when it was asked; `paned tail -f` goes on. For parts of it, see `paned read`.

Lines are shown whole, however long they are. A program that prints on while it is read may take away what was not \
read yet; then that is said on standard error, … stands in place of the missing part of a line, and the exit code \
is 10.";

/// Show everything that is kept of what a pane has printed
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// Show each line's number
    #[arg(short, long)]
    numbers: bool,
    /// Show the bytes as they are, also to a terminal
    #[arg(long, conflicts_with = "numbers")]
    raw: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let format = output_format(context, args)?;
    OutputHistory::all(context, &args.pane)?.show(OutputWriter::unlimited(context.out, format))?;
    Ok(ExitCode::SUCCESS)
}

fn output_format(context: &CliContext, args: &Args) -> Result<OutputFormat, Refusal> {
    match (context.out.is_json(), args.raw) {
        (true, true) => Err(Refusal::invalid(
            "`--raw` is bytes, and JSON is none; `paned read --view raw --json` has both",
        )),
        (false, true) => Ok(OutputFormat::Raw),
        (true, false) => Ok(OutputFormat::NumberedJson),
        (false, false) if args.numbers => Ok(OutputFormat::Numbered),
        (false, false) => Ok(OutputFormat::Lines),
    }
}
