//! D1: how fast a pane without clients takes what its program prints.

use std::slice;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::{limits, stats};

pub(super) const ROW: Row =
    Row { name: "D1", doc: "plain lines into a pane that nobody watches", run };

const BYTES: u64 = 64 << 20;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let bytes = plan.amount(BYTES);
    let argv = plan.flood(bytes);
    let server = Server::start(plan)?;
    let both = || Ok((drain(&server, &argv)?, drain_and_look(&server, &argv)?));
    let (limit, ours) = plan.in_turn(|| limits::drain(&argv), both)?;
    let (exited, looked): (Vec<_>, Vec<_>) = ours.into_iter().unzip();
    let rate = |times: Vec<Duration>| Quantity::throughput(bytes, stats::best(times));
    let limit = rate(limit);
    let figure = |what: &str, times| {
        let what = format!("{} MiB of plain lines {what}", bytes >> 20);
        Figure::ratio(what, limit, rate(times)).at_least(0.4, 0.8)
    };
    Ok(vec![
        figure("until the exit event", exited),
        figure("until the exit and a look at the screen", looked),
    ])
}

/// How long it takes from the answer of `pane:new` until the exit event.
pub(super) fn drain(server: &Server, argv: &[String]) -> Result<Duration, Error> {
    drain_then(server, argv, |_| Ok(()))
}

/// The same until the last screen was read, too.
fn drain_and_look(server: &Server, argv: &[String]) -> Result<Duration, Error> {
    drain_then(server, argv, |pane| {
        server.client()?.action("pane:screen", &json!({ "paneId": pane })).map(drop)
    })
}

fn drain_then(
    server: &Server,
    argv: &[String],
    then: impl FnOnce(&str) -> Result<(), Error>,
) -> Result<Duration, Error> {
    let mut exits = server.exits()?;
    let pane = server::open(&mut server.client()?, argv)?;
    let begun = Instant::now();
    exits.await_all(slice::from_ref(&pane))?;
    then(&pane)?;
    let took = begun.elapsed();
    server::close(&mut server.client()?, &[pane])?;
    Ok(took)
}
