//! `paned logs`: shows everything that is kept of what a pane has printed.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Refusal;
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
  paned logs web --raw           byte for byte, colours and all
  paned logs web --json          one line of JSON for each line

It ends where the output ended when it was asked; `paned tail -f` goes on. For parts of it, see `paned read`.";

/// As much as the server answers at once.
const PAGE: usize = 10_000;
const PIECE: usize = 1 << 20;

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

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    if args.raw {
        return bytes(context, args);
    }
    let first = page(context, &args.pane, None)?;
    say_dropped(context, first.dropped, "line")?;
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

fn say_dropped(context: &Context, dropped: u64, thing: &str) -> Result<()> {
    if dropped == 0 {
        return Ok(());
    }
    let count = units::count(usize::try_from(dropped).unwrap_or(usize::MAX), thing);
    Ok(context.out.aside(format!("paned: the first {count} are no longer kept"))?)
}

/// The same byte for byte.
fn bytes(context: &Context, args: &Args) -> Result<ExitCode> {
    if context.out.is_json() {
        let sentence =
            "`--raw` is bytes, and JSON is none; `paned read --view raw --json` has both";
        return Err(Refusal::invalid(sentence).into());
    }
    let (mut at, mut end) = (0, None);
    loop {
        let request = json!({ "paneId": args.pane, "view": "raw", "since": at, "limit": PIECE });
        let piece: Read = read(context.action("pane:read", &request)?)?;
        if end.is_none() {
            say_dropped(context, piece.dropped, "byte")?;
        }
        // A program that prints on is not run after.
        let last = *end.get_or_insert(piece.total);
        let bytes = piece.bytes()?;
        let first = piece.next - bytes.len() as u64;
        let wanted = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
        context.out.bytes(&bytes[..bytes.len().min(wanted)])?;
        at = piece.next;
        if last <= at || bytes.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
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
