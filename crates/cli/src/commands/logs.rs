//! `paned logs` and `paned tail`: print what panes have printed, and follow it.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_model::{Refusal, Time};
use tokio::task::JoinSet;

use super::support::duration::millis;
use super::support::exit_status::ProgramExit;
use super::support::follow::{FollowedOutput, OutputFollower};
use super::support::history::OutputHistory;
use super::support::output_range::{OutputRange, OutputSelection};
use super::support::output_writer::{JsonFormat, LineFormat, OutputFormat, OutputWriter};
use super::{for_each, refused};
use crate::client::{self, ApiClient};
use crate::context::CliContext;
use crate::out::{Clock, Out, Prefixes};

/// Print the output of panes
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned logs web                all output that is retained
  paned logs -f web             and new output, until the program exits
  paned logs -n 50 web          the last 50 lines
  paned logs --since 5m web db  the output of two panes in the last five minutes
  paned logs web --raw          byte for byte
  paned logs web --json         one line of JSON for each line

Long lines are printed in full. In a terminal, colours are preserved and all other escape \
sequences are stripped, unless you pass --raw. Timestamps are those of the end of each line, to a \
tenth of a second, in your time zone.

A program that prints faster than its output is read may overwrite unread output. This is \
reported on standard error, the missing part is shown as …, and the exit code is 10. \
`paned read` prints parts of the output and filters it.")]
pub(crate) struct LogsArgs {
    /// Only the last N lines; `-50` is the same as `-n 50` [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    lines: Option<u64>,
    #[command(flatten)]
    common: OutputArgs,
}

/// Print the last lines of panes, as `paned logs -n 10` does
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned tail web                    the last 10 lines
  paned tail -f web                 and new output, until the program exits
  paned tail -50 web                the last 50 lines
  paned tail -f web db              several panes, each line with its name
  paned tail -f -n 0 web --json     only new lines, one line of JSON for each

The options are explained in `paned logs --help`. With -f, a line is printed once it is complete, \
and following continues when the server restarts.")]
pub(crate) struct TailArgs {
    /// Only the last N lines; `-50` is the same as `-n 50`
    #[arg(short = 'n', long, value_name = "N", default_value = "10")]
    lines: u64,
    #[command(flatten)]
    common: OutputArgs,
}

/// What both take.
#[derive(clap::Args)]
struct OutputArgs {
    /// The panes
    #[arg(required = true, allow_negative_numbers = true)]
    pane: Vec<String>,
    /// Keep printing new output until the programs exit
    #[arg(short, long)]
    follow: bool,
    /// Only output from the last TIME, as in 5m; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    since: Option<u64>,
    /// Print the time of each line
    #[arg(short, long)]
    timestamps: bool,
    /// Print line numbers
    #[arg(long, conflicts_with = "follow")]
    line_numbers: bool,
    /// Print the bytes unchanged, even in a terminal
    #[arg(long, conflicts_with_all = ["line_numbers", "timestamps"])]
    raw: bool,
}

pub(crate) fn logs(context: &CliContext, args: LogsArgs) -> Result<ExitCode> {
    PrintRequest::new(context, args.common, args.lines)?.run()
}

pub(crate) fn tail(context: &CliContext, args: TailArgs) -> Result<ExitCode> {
    PrintRequest::new(context, args.common, Some(args.lines))?.run()
}

/// What to print of which panes.
struct PrintRequest<'a> {
    context: &'a CliContext,
    args: OutputArgs,
    selection: OutputSelection,
    prefixes: Prefixes,
}

impl<'a> PrintRequest<'a> {
    fn new(
        context: &'a CliContext,
        mut args: OutputArgs,
        lines: Option<u64>,
    ) -> Result<Self, Refusal> {
        let short = take_line_count(&mut args.pane);
        if args.pane.is_empty() {
            return Err(Refusal::invalid("name a pane; `paned ls` lists them"));
        }
        if args.raw && 1 < args.pane.len() {
            return Err(Refusal::invalid("`--raw` goes with one pane: bytes have no names"));
        }
        if args.raw && context.out.is_json() {
            return Err(Refusal::invalid(
                "`--raw` prints bytes, not JSON; `paned read --view raw --json` has both",
            ));
        }
        let now = paned_keeper::time::now();
        let since = args.since.map(|millis| Time(now.0.saturating_sub(millis)));
        let selection = OutputSelection { lines: short.or(lines), since };
        let prefixes = Prefixes::new(args.pane.iter().map(String::as_str));
        Ok(Self { context, args, selection, prefixes })
    }

    fn run(&self) -> Result<ExitCode> {
        if self.args.follow {
            return self.follow();
        }
        for_each(self.context, &self.args.pane, |pane| {
            let range = self.selection.find(self.context, pane)?;
            let history = OutputHistory::new(self.context, pane, &range);
            let writer = OutputWriter::unlimited(self.context.out, self.format(pane));
            history.with_times(self.args.timestamps).show(writer)?;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Follows all panes at once; each ends by itself.
    fn follow(&self) -> Result<ExitCode> {
        let mut exit = ExitCode::SUCCESS;
        let mut panes = Vec::new();
        for pane in &self.args.pane {
            match self.followed(pane) {
                Ok(followed) => panes.push(followed),
                Err(error) => exit = refused(self.context, error)?,
            }
        }
        let followed = client::block_on(follow_all(self.context, panes))??;
        Ok(if followed == ExitCode::SUCCESS { exit } else { followed })
    }

    fn followed(&self, pane: &str) -> Result<FollowedPane> {
        Ok(FollowedPane {
            range: self.selection.find(self.context, pane)?,
            client: self.context.client()?,
            out: self.context.out,
            pane: pane.to_owned(),
            writer: OutputWriter::new(self.context.out, self.format(pane)),
            has_times: self.args.timestamps,
        })
    }

    /// How to show one of the panes.
    fn format(&self, pane: &str) -> OutputFormat {
        let out = self.context.out;
        if self.args.raw {
            return OutputFormat::Raw;
        }
        if out.is_json() {
            // The numbers of lines that are followed are not known.
            let is_numbered = !self.args.follow;
            return OutputFormat::Json(JsonFormat { pane: pane.to_owned(), is_numbered });
        }
        OutputFormat::Lines(LineFormat {
            prefix: (1 < self.args.pane.len()).then(|| self.prefixes.of(pane)),
            clock: self.args.timestamps.then(Clock::local),
            is_numbered: self.args.line_numbers,
            has_colours: out.has_colour(),
        })
    }
}

/// Takes `-50` out of the names, which is how many lines to print.
fn take_line_count(names: &mut Vec<String>) -> Option<u64> {
    let count = |name: &String| name.strip_prefix('-')?.parse().ok();
    let found = names.iter().find_map(count);
    names.retain(|name| count(name).is_none());
    found
}

/// Follows these panes, each until it ends.
async fn follow_all(context: &CliContext, panes: Vec<FollowedPane>) -> Result<ExitCode> {
    let mut tasks = JoinSet::new();
    for pane in panes {
        tasks.spawn(pane.follow());
    }
    let mut exit = ExitCode::SUCCESS;
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended.context("following broke off")? {
            exit = refused(context, error)?;
        }
    }
    Ok(exit)
}

/// One pane that is followed.
struct FollowedPane {
    client: ApiClient,
    out: Out,
    pane: String,
    range: OutputRange,
    writer: OutputWriter,
    has_times: bool,
}

impl FollowedPane {
    async fn follow(mut self) -> Result<()> {
        let follower = OutputFollower::new(&self.client, self.out, &self.pane, self.range.start);
        let mut follower = follower.with_times(self.has_times);
        loop {
            match follower.next().await? {
                FollowedOutput::Printed(printed) => self.writer.print_timed(&printed)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_and_a_number_is_how_many_lines() {
        let mut names = ["-50", "web", "db-2"].map(str::to_owned).to_vec();
        assert_eq!(take_line_count(&mut names), Some(50));
        assert_eq!(names, ["web", "db-2"]);
        assert_eq!(take_line_count(&mut names), None);
    }
}
