//! D2: how fast what a program prints reaches a client that follows it over a WebSocket.

use std::time::{Duration, Instant};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::flood::{ExpectedOutput, FloodKind};
use crate::pane_watcher::WatchedOutput;
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::{limits, stats};

pub(super) const ROW: Row = Row { name: "D2", doc: "plain lines to one WebSocket reader", run };

const BYTES: u64 = 64 << 20;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let bytes = plan.amount(BYTES);
    let argv = plan.flood(bytes);
    let server = Server::start(plan)?;
    let (limit, ours) = plan.in_turn(|| limits::drain(&argv), || follow(&server, &argv, bytes))?;
    let rate = |times: Vec<Duration>| Quantity::throughput(bytes, stats::best(times));
    let what = format!("{} MiB of plain lines to a WebSocket reader, every byte", bytes >> 20);
    Ok(vec![Figure::ratio(what, rate(limit), rate(ours)).at_least(0.35, 0.7)])
}

/// How long it takes from the answer of `pane:new` until the last byte and the end have arrived.
/// Each byte is checked as it arrives.
pub(super) fn follow(server: &Server, argv: &[String], bytes: u64) -> Result<Duration, Error> {
    let mut arriving = ExpectedOutput::of(FloodKind::Plain);
    let pane = server::open(&mut server.client()?, argv)?;
    let begun = Instant::now();
    let mut watch = server.watch(&pane)?;
    loop {
        match watch.next()? {
            WatchedOutput::Bytes(piece) if arriving.take(piece) => {}
            WatchedOutput::Bytes(_) => return Err(arrived(&arriving, "and then another byte")),
            WatchedOutput::Exit => break,
        }
    }
    let took = begun.elapsed();
    if arriving.seen() != arriving.length(FloodKind::Plain, bytes) {
        return Err(arrived(&arriving, "and then the end"));
    }
    server::close(&mut server.client()?, &[pane])?;
    Ok(took)
}

fn arrived(arriving: &ExpectedOutput, then: &str) -> Error {
    let found = format!("{} bytes as they were printed, {then}", arriving.seen());
    Error::Unexpected { what: "what arrived", found }
}
