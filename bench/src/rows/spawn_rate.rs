//! D17: how many programs a second can be started.

use std::thread;
use std::time::{Duration, Instant};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::http::Client;
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::{limits, stats};

pub(super) const ROW: Row = Row { name: "D17", doc: "new panes a second", run };

/// Panes of one turn. Few, because a wake-up on a busy machine costs more than a spawn, and there
/// are several in each: the shorter a turn, the likelier is one that nothing disturbs.
const PANES: u64 = 12;
/// Turns of one round. Their panes stay until the server goes; it takes 1000.
const TURNS: u64 = 16;
const LANES: u64 = 4;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let [answered, ended] = measure(plan, 1, "pane:new on one connection")?;
    let [answered_at_once, ended_at_once] = measure(plan, LANES, "pane:new on 4 connections")?;
    Ok(vec![answered.at_least(0.4, 0.7), ended, answered_at_once, ended_at_once])
}

/// Starts programs on this number of connections at once, in turn with as many bare loops.
fn measure(plan: &Plan, lanes: u64, what: &str) -> Result<[Figure; 2], Error> {
    let argv = vec!["/bin/true".to_owned()];
    let mut limit = Vec::new();
    let mut answered = Vec::new();
    let mut ended = Vec::new();
    for _ in 0..plan.rounds {
        let server = Server::start(plan)?;
        for _ in 0..plan.amount(TURNS) {
            limit.push(bare(&argv, lanes)?);
            let took = new_panes(&server, &argv, lanes)?;
            answered.push(took.answered);
            ended.push(took.ended);
        }
    }
    let rate = |times: Vec<_>| Quantity::rate(PANES as f64, stats::best(times));
    let limit = rate(limit);
    Ok([
        Figure::ratio(what, limit, rate(answered)),
        Figure::ratio(format!("{what}, to the last exit event"), limit, rate(ended)),
    ])
}

/// How long some panes took.
struct SpawnTimes {
    /// Until the last `pane:new` was answered.
    answered: Duration,
    /// Until the last exit event.
    ended: Duration,
}

fn new_panes(server: &Server, argv: &[String], lanes: u64) -> Result<SpawnTimes, Error> {
    let mut exits = server.exits()?;
    let clients = (0..lanes).map(|_| server.client()).collect::<Result<Vec<_>, _>>()?;
    let begun = Instant::now();
    let panes = at_once(clients, |mut client: Client| {
        (0..PANES / lanes).map(|_| server::open(&mut client, argv)).collect::<Result<Vec<_>, _>>()
    })?;
    let answered = begun.elapsed();
    exits.await_all(&panes.concat())?;
    Ok(SpawnTimes { answered, ended: begun.elapsed() })
}

fn bare(argv: &[String], lanes: u64) -> Result<Duration, Error> {
    let begun = Instant::now();
    at_once((0..lanes).collect(), |_| limits::spawn(argv, PANES / lanes))?;
    Ok(begun.elapsed())
}

/// Runs `act` with all of them in parallel.
fn at_once<T: Send, A: Send>(
    each: Vec<T>,
    act: impl Fn(T) -> Result<A, Error> + Sync,
) -> Result<Vec<A>, Error> {
    let act = &act;
    thread::scope(|scope| {
        let lanes = each.into_iter().map(|one| scope.spawn(move || act(one)));
        let lanes: Vec<_> = lanes.collect();
        lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic")).collect()
    })
}
