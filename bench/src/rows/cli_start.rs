//! D30: how long a command of the CLI takes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Row;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity};
use crate::plan::Plan;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D30", doc: "how long a command takes", run };

const RUNS: u64 = 30;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut nothing = Command::new("/bin/true");
    let mut version = Command::new(&plan.paned);
    version.arg("--version");
    let mut list = server.cli(plan);
    list.args(["ls", "--json"]);
    let mut limit = Vec::new();
    let mut short = Vec::new();
    let mut trip = Vec::new();
    for _ in 0..RUNS {
        limit.push(time(&mut nothing)?);
        short.push(time(&mut version)?);
        trip.push(time(&mut list)?);
    }
    let median = |times| Quantity::millis(Samples::of([times]).median());
    let limit = median(limit);
    Ok(vec![
        Figure::times("paned --version against /bin/true", limit, median(short)).at_most(4.0, 2.0),
        Figure::times("paned ls --json against /bin/true", limit, median(trip)).at_most(15.0, 5.0),
    ])
}

/// How long a command takes; it has to succeed.
pub(super) fn time(command: &mut Command) -> Result<Duration, Error> {
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let took = begun.elapsed();
    let status = status.doing("run a command")?;
    if status.success() {
        return Ok(took);
    }
    Err(Error::Unexpected { what: "the end of a command", found: format!("{command:?}: {status}") })
}
