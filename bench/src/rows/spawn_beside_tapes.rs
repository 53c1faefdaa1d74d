//! D18: whether starting a program takes longer once the server has much output to look after.

use std::time::{Duration, Instant};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::http::Client;
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D18", doc: "pane:new beside a gibibyte of tapes", run };

const TAPES: u64 = 64;
/// As much as a tape keeps.
const TAPE: u64 = 16 << 20;
const AT_ONCE: usize = 8;
/// One pane on each side in each turn; a server takes 1000.
const TURNS: u64 = 400;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let empty = Server::start(plan)?;
    let full = Server::start(plan)?;
    let tapes = plan.amount(TAPES);
    fill(&full, plan, tapes)?;
    let mut few = empty.client()?;
    let mut many = full.client()?;
    let turns = (0..plan.amount(TURNS)).map(|_| Ok((spawn(&mut few)?, spawn(&mut many)?)));
    let (limit, ours): (Vec<_>, Vec<_>) = turns.collect::<Result<_, Error>>()?;
    let median = |times| Quantity::millis(Samples::of([times]).median());
    let what = format!("pane:new p50 beside {} MiB of tapes", (tapes * TAPE) >> 20);
    Ok(vec![Figure::times(what, median(limit), median(ours)).at_most(3.0, 1.3)])
}

/// Fills this number of tapes with the output of programs that have ended.
fn fill(server: &Server, plan: &Plan, tapes: u64) -> Result<(), Error> {
    let mut exits = server.exits()?;
    let argv = plan.flood(TAPE);
    let all: Vec<_> = (0..tapes).collect();
    all.chunks(AT_ONCE).try_for_each(|some| {
        let mut client = server.client()?;
        let panes = some.iter().map(|_| server::open(&mut client, &argv));
        exits.await_all(&panes.collect::<Result<Vec<_>, _>>()?)
    })
}

fn spawn(client: &mut Client) -> Result<Duration, Error> {
    let begun = Instant::now();
    server::open(client, &["/bin/true".to_owned()])?;
    Ok(begun.elapsed())
}
