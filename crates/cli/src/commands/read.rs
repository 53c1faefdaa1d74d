//! `paned read`: shows what a pane has printed.

use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;

use super::support::output::{self, CliOutputLine, PaneReadReply};
use crate::context::CliContext;
use crate::out::{Out, units};

/// Print lines of a pane's output, for scripts
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned read web                          from the beginning, up to 500 lines
  paned read web --tail 20                the last 20 lines
  paned read web --pattern error -i -A 3  matches, each with 3 lines after it
  paned read web --since 4711             after `next` of an earlier answer
  paned read web --view raw > web.raw     the exact bytes, including colours
  paned read web --view rendered          the terminal's rows and scrollback

Lines are numbered from 0 at the pane's first line, and keep their numbers when old ones are dropped. A line that may have lost its beginning starts with …. With --since a line that continued is printed again from its beginning. With -n a match is `12:text`, and a context line is `11-text`. In a terminal escape sequences are stripped, unless you pass --raw.")]
pub(crate) struct Args {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The format of the output
    #[arg(long, value_enum, default_value = "lines")]
    view: ReadViewArg,
    /// Start at this line; for the view raw, at this byte
    #[arg(long, value_name = "N", group = "place")]
    offset: Option<u64>,
    /// Maximum number of lines [default: 500, or that of --tail]; for the view raw, bytes [default:
    /// 65536]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Last N lines; for the view raw, bytes
    #[arg(long, value_name = "N", group = "place")]
    tail: Option<u64>,
    /// Only output after this offset: `next` of an earlier answer
    #[arg(long, value_name = "CURSOR", group = "place")]
    since: Option<u64>,
    /// Only lines that match this regular expression
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,
    /// Ignore case
    #[arg(short, long, requires = "pattern")]
    ignore_case: bool,
    /// Show N lines before each match
    #[arg(short = 'B', long, value_name = "N", requires = "pattern")]
    before: Option<usize>,
    /// Show N lines after each match
    #[arg(short = 'A', long, value_name = "N", requires = "pattern")]
    after: Option<usize>,
    /// Show line numbers
    #[arg(short, long)]
    #[serde(skip)]
    numbers: bool,
    /// Do not strip escape sequences
    #[arg(long)]
    #[serde(skip)]
    raw: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum ReadViewArg {
    /// Plain lines without escape sequences
    Lines,
    /// The exact bytes
    Raw,
    /// The rows of the terminal and its scrollback
    Rendered,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    context.show("pane:read", args, |answer: PaneReadReply| {
        match args.view {
            ReadViewArg::Raw => output::show_bytes(context.out, &answer.bytes()?, args.raw)?,
            ReadViewArg::Lines | ReadViewArg::Rendered => show(context.out, args, &answer.lines)?,
        }
        note_missing(context.out, args, &answer)
    })
}

fn show(out: Out, args: &Args, lines: &[CliOutputLine]) -> Result<()> {
    let has_context = args.before.or(args.after).is_some();
    let mut last = None;
    for line in lines {
        // As grep does, so that only lines that follow each other are printed together.
        if has_context && last.is_some_and(|last| last + 1 < line.n) {
            out.program_line("--")?;
        }
        last = Some(line.n);
        let text = if args.numbers { line.numbered().into() } else { line.with_missing_mark() };
        match args.raw {
            true => out.bytes(format!("{text}\n").as_bytes())?,
            false => out.program_line(&text)?,
        }
    }
    Ok(())
}

fn note_missing(out: Out, args: &Args, answer: &PaneReadReply) -> Result<()> {
    let begins_early = args.tail.or(args.since).is_none();
    let thing = if args.view == ReadViewArg::Raw { "byte" } else { "line" };
    match answer.dropped {
        Some(dropped) if begins_early && args.offset.unwrap_or(0) < dropped => {
            let count = usize::try_from(dropped).unwrap_or(usize::MAX);
            let count = units::count(count, thing);
            out.note(format!("paned: the first {count} are no longer retained"))?;
        }
        Some(_) => {}
        None => out.note("paned: the number of earlier rows is unknown")?,
    }
    output::note_cut_lines(out, answer.lines.iter().filter(|line| line.cut).count())?;
    if let Some(gap) = &answer.gap {
        let count = usize::try_from(gap.to - gap.from).unwrap_or(usize::MAX);
        let lost = units::count(count, "byte");
        out.note(format!("paned: {lost} after `--since {}` are no longer retained", gap.from))?;
    }
    if answer.truncated {
        out.note(format!("paned: {}", how_to_go_on(args, answer.next)))?;
    }
    Ok(())
}

/// With a tail or the rendered view, the rest comes before what is shown.
fn how_to_go_on(args: &Args, next: u64) -> String {
    match (args.view, args.offset, args.tail) {
        (ReadViewArg::Rendered, Some(_), _) => {
            "there is more; continue with a larger `--offset`".to_owned()
        }
        (ReadViewArg::Rendered, None, _) | (ReadViewArg::Lines | ReadViewArg::Raw, _, Some(_)) => {
            "there is more before this; pass `--offset` or a larger `--limit`".to_owned()
        }
        (ReadViewArg::Lines | ReadViewArg::Raw, _, None) => {
            format!("there is more; continue with `--since {next}`")
        }
    }
}
