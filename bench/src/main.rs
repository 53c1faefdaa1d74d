//! What paned reaches, as ratios to a limit found in the same run.
//!
//! Each row of the table is one file under `rows`. It measures the real server in turn with a
//! minimal program from `limits`, round by round, so that whatever else the machine does hits both
//! alike. Nothing here is tuned for the bench: the server is the one that users start.
#![forbid(unsafe_code)]

mod args;
mod child;
mod error;
mod events;
mod exits;
mod figure;
mod flood;
mod http;
mod interrupt;
mod limits;
mod log;
mod pane_watcher;
mod pin;
mod plan;
mod proc;
mod relay;
mod ring;
mod rival;
mod round_trip;
mod rows;
mod server;
mod server_with_tmux;
mod state;
mod stats;
mod subscriber_pool;
mod table;
mod ws;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Verdict};
use crate::plan::Plan;
use crate::rows::Row;

/// Some must was missed.
const MISSED: u8 = 1;
/// Some row could not be measured.
const BROKEN: u8 = 2;

fn main() -> ExitCode {
    // Before anything else has threads or memory: this may be a child that is measured.
    if let Some(code) = child::run(std::env::args().skip(1)) {
        return code;
    }
    run(&Args::parse()).unwrap_or_else(|error| {
        print_progress(format_args!("{error}"));
        ExitCode::from(BROKEN)
    })
}

fn run(args: &Args) -> Result<ExitCode, Error> {
    interrupt::listen().doing("listen for signals")?;
    let (figures, broken) = measure(&args.rows(), &args.plan()?);
    table::print(&figures, args.format()).doing("print the table")?;
    let missed = figures.iter().any(|figure| figure.verdict() == Verdict::Below);
    Ok(match (missed, broken) {
        (true, _) => ExitCode::from(MISSED),
        (false, true) => ExitCode::from(BROKEN),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Measures row by row; one that fails is reported and skipped.
fn measure(rows: &[&Row], plan: &Plan) -> (Vec<Figure>, bool) {
    let mut figures = Vec::new();
    let mut broken = false;
    for row in rows {
        print_progress(format_args!("{}: {}", row.name, row.doc));
        match (row.run)(plan) {
            Ok(found) => figures.extend(found.into_iter().map(|figure| figure.of(row.name))),
            Err(error) => {
                print_progress(format_args!("{}: could not be measured: {error}", row.name));
                broken = true;
            }
        }
        if interrupt::check().is_err() {
            break;
        }
    }
    (figures, broken)
}

/// Prints progress to standard error.
pub(crate) fn print_progress(line: std::fmt::Arguments<'_>) {
    // Nothing can be reported if standard error is closed.
    let _ = writeln!(io::stderr(), "paned-bench: {line}");
}
