//! D16: how soon an exit is published, and whether each one is, with the right code.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::limits::BarePty;
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D16", doc: "from a program's last act to its event", run };

const EXITS: u64 = 50;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let limit = || (1..=EXITS).map(|code| bare(&clock(plan, code))).collect();
    let (limit, ours) = plan.in_turn(limit, || event_times(plan))?;
    let right: usize = ours.iter().map(Vec::len).sum();
    let limit = Samples::of(limit);
    let ours = Samples::of(ours);
    let all = EXITS * plan.rounds as u64;
    let count = Quantity::new(right as f64, Unit::Of(all));
    let time = |what: &str, percent| {
        let at = |times: &Samples| Quantity::millis(times.percentile(percent));
        Figure::plain(format!("last act to exit event, {what}"), at(&ours)).beside(at(&limit))
    };
    Ok(vec![
        Figure::plain("exit events with the right code", count).at_least(all as f64, all as f64),
        time("p50", 50),
        time("p95", 95).at_most(50.0, 5.0),
        time("p99", 99),
    ])
}

fn clock(plan: &Plan, code: u64) -> Vec<String> {
    plan.child(&["clock", &code.to_string()])
}

/// How long a bare parent takes to notice an exit.
fn bare(argv: &[String]) -> Result<Duration, Error> {
    let mut bare = BarePty::start(argv)?;
    bare.wait()?;
    let seen = SystemTime::now();
    since(&bare.printed()?, seen)
}

/// How long the events of exits take to arrive, of those with the right code.
fn event_times(plan: &Plan) -> Result<Vec<Duration>, Error> {
    let server = Server::start(plan)?;
    let mut exits = server.exits()?;
    let mut client = server.client()?;
    let mut times = Vec::new();
    for code in 1..=EXITS {
        let pane = server::open(&mut client, &clock(plan, code))?;
        let exited = exits.next()?;
        if exited.pane == pane && exited.code == Some(code) {
            let printed = server.state.printed(&pane)?;
            times.push(since(&String::from_utf8_lossy(&printed), exited.seen)?);
        }
    }
    Ok(times)
}

/// How long after the time that a child printed this is.
pub(super) fn since(printed: &str, seen: SystemTime) -> Result<Duration, Error> {
    let odd = || Error::Unexpected { what: "the time a child printed", found: printed.to_owned() };
    let acted = printed.trim().parse().ok().map(Duration::from_nanos).ok_or_else(odd)?;
    seen.duration_since(UNIX_EPOCH + acted).map_err(|_| odd())
}
