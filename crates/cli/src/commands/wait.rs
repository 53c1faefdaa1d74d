//! `paned wait`: waits until a pane prints, ends or falls quiet.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, PaneInfo};
use serde::{Deserialize, Serialize};

use super::ls;
use super::support::duration::millis;
use super::support::exit_status::exit_code;
use super::support::output::CliOutputLine;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle};

/// Wait until a pane prints a line, exits or goes quiet
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned wait build                                 until the program ends
  paned wait web --pattern 'listening on' --stop 'EADDRINUSE|panic' --timeout 60s
  paned wait repl --quiet 500ms                    until nothing was printed for half a second
  paned wait web --pattern ready --since 4711      also what came after an earlier answer's `next`

Only output after the call counts, or after --since. What was met is shown: the lines that matched, the \
last lines, or how the program ended. Exit codes: 0 met, 8 (conflict) a --stop pattern came first, 10 \
(gone) the program ended first, 12 (timeout) time ran out; then standard error says why.")]
pub(crate) struct Args {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// Until a new line matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,
    /// Until the program ends; the default when nothing else is waited for
    #[arg(long)]
    exit: bool,
    /// Until nothing was printed for so long, as in 500ms or 3s; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "quietMs")]
    quiet: Option<u64>,
    /// Until the screen differs from this revision of it, as `paned screen --json` says
    #[arg(long, value_name = "REVISION")]
    screen_change_since: Option<u64>,
    /// Stop waiting when a new line matches this; repeatable
    #[arg(long, value_name = "REGEX")]
    stop: Vec<String>,
    /// The patterns' case does not matter
    #[arg(short, long)]
    ignore_case: bool,
    /// Count output from here on: `next` of an earlier answer [default: now]
    #[arg(long, value_name = "CURSOR")]
    since: Option<u64>,
    /// Give up after so long; a number alone is seconds [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaneWaitReply {
    met: Option<WaitConditionReply>,
    timed_out: bool,
    evidence: Vec<CliOutputLine>,
    tail: Vec<CliOutputLine>,
    pane: PaneInfo,
    #[serde(default)]
    why: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WaitConditionReply {
    Pattern,
    Stop,
    Exit,
    Quiet,
    ScreenChange,
}

pub(crate) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    args.exit |=
        args.pattern.is_none() && args.quiet.is_none() && args.screen_change_since.is_none();
    let waited = context.show_and_return("pane:wait", &args, |waited| show(context.out, waited))?;
    let Some((code, what)) = failure(&waited) else { return Ok(ExitCode::SUCCESS) };
    explain(context.out, &waited, what)?;
    Ok(exit_code(Some(code)))
}

fn show(out: Out, waited: &PaneWaitReply) -> Result<()> {
    let lines = match waited.met {
        Some(WaitConditionReply::Pattern | WaitConditionReply::Stop) => &waited.evidence,
        Some(WaitConditionReply::Quiet | WaitConditionReply::ScreenChange) => &waited.tail,
        Some(WaitConditionReply::Exit) => return Ok(out.line(ls::status(&waited.pane))?),
        None => return Ok(()),
    };
    Ok(lines.iter().try_for_each(|line| out.program_line(&line.text))?)
}

/// What came in place of what was waited for.
fn failure(waited: &PaneWaitReply) -> Option<(Code, &'static str)> {
    match waited.met {
        Some(WaitConditionReply::Stop) => Some((Code::Conflict, "a line matched --stop first")),
        Some(
            WaitConditionReply::Pattern
            | WaitConditionReply::Exit
            | WaitConditionReply::Quiet
            | WaitConditionReply::ScreenChange,
        ) => None,
        None if waited.timed_out => Some((Code::Timeout, "time ran out")),
        None => Some((Code::Gone, "the program ended first")),
    }
}

fn explain(out: Out, waited: &PaneWaitReply, what: &str) -> Result<()> {
    out.note(StyledLine::new(TextStyle::Bad, "paned: ").then(TextStyle::Plain, what))?;
    Ok(waited.why.iter().try_for_each(|why| out.note(format!("paned: {why}")))?)
}
