//! D5: whether a pane slows down once its tape is full and goes round.

use std::time::Duration;

use super::Row;
use super::drain::drain;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::plan::Plan;
use crate::server::Server;
use crate::stats;

pub(super) const ROW: Row = Row { name: "D5", doc: "a flood once the tape is full", run };

const SHORT: u64 = 20 << 20;
/// As many short floods as one long one, so that whatever disturbs has as much time to do so.
const TIMES: u64 = 10;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let short = plan.amount(SHORT);
    let long = short * TIMES;
    let server = Server::start(plan)?;
    let flood = |bytes| drain(&server, &plan.flood(bytes));
    let few = || (0..TIMES).map(|_| flood(short)).sum();
    let (few, many): (Vec<Duration>, _) = plan.in_turn(few, || flood(long))?;
    let rate = |times: Vec<_>| Quantity::throughput(long, stats::best(times));
    let what = format!("one flood of {} MiB against {TIMES} of {} MiB", long >> 20, short >> 20);
    Ok(vec![Figure::ratio(what, rate(few), rate(many)).at_least(0.7, 0.9)])
}
