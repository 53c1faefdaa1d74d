//! `paned logs`: shows everything that is kept of what a pane has printed.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::printed::Read;
use super::{params, read};
use crate::context::Context;
use crate::out::units;

const EXAMPLES: &str = "\
Examples:
  paned logs web                 all of it
  paned logs web | less
  paned logs web -n | grep -i error
  paned logs web --json          one line of JSON for each line

It ends where the output ended when it was asked; `paned tail -f` goes on. For parts of it, see `paned read`.";

/// As much as the server answers at once.
const PAGE: usize = 10_000;

/// Show everything that is kept of what a pane has printed
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane
    pane: String,
    /// Show each line's number
    #[arg(short, long)]
    numbers: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let first = page(context, &args.pane, None)?;
    if 0 < first.dropped {
        let count = usize::try_from(first.dropped).unwrap_or(usize::MAX);
        let lines = units::count(count, "line");
        context.out.aside(format!("paned: the first {lines} are no longer kept"))?;
    }
    // A program that prints on is not run after.
    let end = first.total;
    let mut current = first;
    loop {
        show(context, args, &current, end)?;
        let is_over = !current.truncated || current.lines.last().is_none_or(|it| end <= it.n + 1);
        if is_over {
            return Ok(ExitCode::SUCCESS);
        }
        current = page(context, &args.pane, Some(current.next))?;
    }
}

fn page(context: &Context, pane: &str, since: Option<u64>) -> Result<Read> {
    let request =
        params([("paneId", json!(pane)), ("limit", json!(PAGE)), ("since", json!(since))]);
    read(context.action("pane:read", &request)?)
}

fn show(context: &Context, args: &Args, page: &Read, end: u64) -> Result<()> {
    for line in page.lines.iter().take_while(|line| line.n < end) {
        if context.out.is_json() {
            context.out.json(line)?;
        } else if args.numbers {
            context.out.program(&line.numbered())?;
        } else {
            context.out.program(&line.text)?;
        }
    }
    Ok(())
}
