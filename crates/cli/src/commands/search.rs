//! `paned search`: finds lines in what panes have printed.

use std::process::ExitCode;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::support::duration::millis;
use super::support::output;
use crate::context::CliContext;
use crate::out::{Out, units};

/// Search the output of panes
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned search 'error|panic'               in all panes, also finished ones
  paned search timeout -i --pane web --pane db
  paned search TODO --limit 1000 | sort

Each hit is `pane:line: text`, the newest first. Finding nothing is an answer and no failure: the exit \
code is 0, and a note says so on standard error unless you say -q. Patterns are regular expressions \
that take linear time: no back references, no looking around.")]
pub(crate) struct Args {
    /// A regular expression, matched against each line without escape sequences
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Only in this pane; repeatable [default: all panes]
    #[arg(long, value_name = "PANE")]
    #[serde(rename = "panes", skip_serializing_if = "Vec::is_empty")]
    pane: Vec<String>,
    /// At most so many hits [default: 100]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Time limit; a number alone is seconds [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
    /// Say nothing but the hits
    #[arg(short, long)]
    #[serde(skip)]
    quiet: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaneSearchReply {
    hits: Vec<SearchHitReply>,
    panes: usize,
    truncated: bool,
    timed_out: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchHitReply {
    pane_id: String,
    n: u64,
    text: String,
    #[serde(default)]
    cut: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    context.show("pane:search", args, |found: PaneSearchReply| {
        for SearchHitReply { pane_id, n, text, .. } in &found.hits {
            context.out.program_line(&format!("{pane_id}:{n}: {text}"))?;
        }
        if args.quiet { Ok(()) } else { note(context.out, &found) }
    })
}

fn note(out: Out, found: &PaneSearchReply) -> Result<()> {
    if found.hits.is_empty() {
        out.note(format!("paned: no match in {}", units::count(found.panes, "pane")))?;
    }
    output::note_cut_lines(out, found.hits.iter().filter(|hit| hit.cut).count())?;
    if found.truncated {
        out.note("paned: there are more hits; raise `--limit` or name panes with `--pane`")?;
    }
    if found.timed_out {
        out.note("paned: timed out before everything was searched; raise `--timeout`")?;
    }
    Ok(())
}
