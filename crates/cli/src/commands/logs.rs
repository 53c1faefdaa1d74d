//! `paned logs` and `paned tail`: show what panes have printed, and follow it.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_model::Refusal;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::support::exit_status::ProgramExit;
use super::support::follow::{FollowedOutput, OutputFollower};
use super::support::history::OutputHistory;
use super::support::line_splitter::last_lines;
use super::support::output::PaneReadReply;
use super::support::output_writer::{OutputFormat, OutputWriter};
use super::{for_each, refused};
use crate::client::{self, ApiClient};
use crate::context::CliContext;
use crate::out::Out;

/// Print a pane's full scrollback
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned logs web                 all of it
  paned logs web | less
  paned logs web -n | grep -i error
  paned logs web --raw           byte for byte, colours and all
  paned logs web --json          one line of JSON for each line

It ends where the output ended when it was asked; `paned tail -f` goes on. For parts of it, see `paned read`.

Lines are shown whole, however long they are. A program that prints on while it is read may take away what was not \
read yet; then that is said on standard error, … stands in place of the missing part of a line, and the exit code \
is 10.")]
pub(crate) struct LogsArgs {
    /// The pane
    pane: String,
    /// Show each line's number
    #[arg(short, long)]
    numbers: bool,
    /// Show the bytes as they are, also to a terminal
    #[arg(long, conflicts_with = "numbers")]
    raw: bool,
}

pub(crate) fn logs(context: &CliContext, args: &LogsArgs) -> Result<ExitCode> {
    let format = logs_format(context, args)?;
    OutputHistory::all(context, &args.pane)?.show(OutputWriter::unlimited(context.out, format))?;
    Ok(ExitCode::SUCCESS)
}

fn logs_format(context: &CliContext, args: &LogsArgs) -> Result<OutputFormat, Refusal> {
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

/// The most lines that the server returns at once, and the most bytes.
const MAX_LINES: usize = 10_000;
const MIB: usize = 1 << 20;

/// Print the last lines of panes and follow them
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned tail web                    the last 10 lines
  paned tail -f web                 and everything after them, until the program ends
  paned tail -f web db              lines of several, each behind its pane's name
  paned tail -f -n 0 web --json     only what is new, one line of JSON for each line
  paned tail -f --raw web           byte for byte, colours and unfinished lines too

Lines are shown whole, and as many as you ask for, as far as they are kept; what is lost while it is read is said, \
and the exit code is 10. --json answers 10000 at most, 2000 characters of each, and `truncated` and `cut` say so. \
When following, a line is shown when it has ended. --raw and following begin within the last MiB, however many lines \
you ask for; following goes on when the server restarts.")]
pub(crate) struct TailArgs {
    /// The panes
    #[arg(required = true)]
    pane: Vec<String>,
    /// How many lines
    #[arg(short = 'n', long, value_name = "N", default_value = "10")]
    lines: usize,
    /// Show what follows, until the program ends
    #[arg(short, long)]
    follow: bool,
    /// Show the bytes as they are, also to a terminal
    #[arg(long)]
    raw: bool,
}

pub(crate) fn tail(context: &CliContext, args: &TailArgs) -> Result<ExitCode> {
    if args.raw && 1 < args.pane.len() {
        return Err(Refusal::invalid("`--raw` goes with one pane: bytes have no names").into());
    }
    if args.follow {
        return client::block_on(follow(context, args))?;
    }
    for_each(context, &args.pane, |pane| last(context, args, pane))
}

/// How to show one of the panes.
fn tail_format(context: &CliContext, args: &TailArgs, pane: &str) -> OutputFormat {
    match args.raw {
        true => OutputFormat::Raw,
        false if context.out.is_json() => OutputFormat::Json(pane.to_owned()),
        false if 1 < args.pane.len() => OutputFormat::Named(pane.to_owned()),
        false => OutputFormat::Lines,
    }
}

fn last(context: &CliContext, args: &TailArgs, pane: &str) -> Result<ExitCode> {
    if args.raw {
        return last_raw(context, args, pane);
    }
    let limit = args.lines.min(MAX_LINES);
    let request = json!({ "paneId": pane, "tail": args.lines, "limit": limit });
    let answer: Value = context.call("pane:read", &request)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer: PaneReadReply = client::read(answer)?;
    // With `-n 0` the request has only checked that the pane exists.
    if args.lines == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let mut writer = OutputWriter::unlimited(context.out, tail_format(context, args, pane));
    if answer.truncated || answer.lines.iter().any(|line| line.cut || line.truncated_start) {
        let first = answer.total.saturating_sub(args.lines as u64);
        let history = match line_start(context, pane, first)? {
            Some(line_start) => OutputHistory::between(context, pane, line_start, answer.next),
            None => OutputHistory::all(context, pane)?.until(answer.next),
        };
        history.show(writer)?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in &answer.lines {
        writer.print(format!("{}\n", line.text).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The offset at which a line starts: where the one before it ends, if that is kept.
fn line_start(context: &CliContext, pane: &str, line: u64) -> Result<Option<u64>> {
    let Some(before) = line.checked_sub(1) else { return Ok(None) };
    let request = json!({ "paneId": pane, "offset": before, "limit": 1 });
    let answer: PaneReadReply = context.call("pane:read", &request)?;
    let is_kept = answer.lines.first().is_some_and(|line| line.n == before);
    Ok(is_kept.then_some(answer.next))
}

/// The last lines byte for byte, within the last MiB.
fn last_raw(context: &CliContext, args: &TailArgs, pane: &str) -> Result<ExitCode> {
    let request = json!({ "paneId": pane, "view": "raw", "tail": MIB, "limit": MIB });
    let answer: PaneReadReply = context.call("pane:read", &request)?;
    let bytes = answer.bytes()?;
    context.out.bytes(&bytes[last_lines(&bytes, args.lines)..])?;
    Ok(ExitCode::SUCCESS)
}

/// Follows all panes at once; each ends by itself.
async fn follow(context: &CliContext, args: &TailArgs) -> Result<ExitCode> {
    let mut panes = JoinSet::new();
    for pane in &args.pane {
        let writer = OutputWriter::new(context.out, tail_format(context, args, pane));
        let tail =
            TailedPane { client: context.client()?, out: context.out, pane: pane.clone(), writer };
        panes.spawn(tail.follow(args.lines));
    }
    let mut exit = ExitCode::SUCCESS;
    while let Some(ended) = panes.join_next().await {
        if let Err(error) = ended.context("following broke off")? {
            exit = refused(context, error)?;
        }
    }
    Ok(exit)
}

/// One pane that is followed.
struct TailedPane {
    client: ApiClient,
    out: Out,
    pane: String,
    writer: OutputWriter,
}

impl TailedPane {
    async fn follow(mut self, lines: usize) -> Result<()> {
        let mut follower = OutputFollower::new(&self.client, self.out, &self.pane, 0);
        follower.seek_last_lines(lines).await?;
        loop {
            match follower.next().await? {
                FollowedOutput::Printed(bytes) => self.writer.print(&bytes)?,
                FollowedOutput::Missed(bytes) => self.writer.missed(bytes)?,
                FollowedOutput::Ended(info) => {
                    self.writer.finish()?;
                    let how = ProgramExit::of(&info);
                    let how = how.map_or_else(|| info.status.to_string(), ProgramExit::describe);
                    return Ok(self
                        .out
                        .note(format!("paned: {} has exited ({how})", self.pane))?);
                }
            }
        }
    }
}
