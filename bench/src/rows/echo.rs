//! D7: how long a character that is typed over a WebSocket takes to come back.

use std::thread;
use std::time::{Duration, Instant};

use super::Row;
use crate::child::READY;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::pane_watcher::{PaneWatcher, WatchedOutput};
use crate::pin::Pinned;
use crate::plan::Plan;
use crate::relay::Relay;
use crate::server::{self, Server};
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D7", doc: "typing over a WebSocket, on one core", run };

const ECHOES: u64 = 4000;
/// Echoes that are not counted: caches and the clock of the core have to come up.
const WARM_UP: u64 = 200;
/// On a machine that is shared, a process that was idle is faster for a while, so each run begins
/// after the same rest.
const REST: Duration = Duration::from_millis(300);

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let argv = plan.child(&["echo"]);
    let _pinned = Pinned::to_one_core()?;
    let server = Server::start(plan)?;
    let count = plan.amount(ECHOES);
    let limit = || {
        let mut relay = Relay::start(&argv)?;
        times(count, || relay.echo())
    };
    let ours = || {
        let mut watch = open(&server, &argv)?;
        times(count, || watch.echo())
    };
    let (limit, ours) = plan.in_turn(limit, ours)?;
    let limit = Samples::of(limit);
    let ours = Samples::of(ours);
    let figure = |what: &str, percent| {
        let at = |times: &Samples| Quantity::micros(times.percentile(percent));
        Figure::times(
            format!("typed to echoed over WebSocket, one core, {what}"),
            at(&limit),
            at(&ours),
        )
    };
    Ok(vec![figure("p50", 50).at_most(4.0, 2.2), figure("p99", 99)])
}

/// Follows a new pane with a program that echoes what is typed.
pub(super) fn open(server: &Server, argv: &[String]) -> Result<PaneWatcher, Error> {
    let pane = server::open(&mut server.client()?, argv)?;
    let mut watch = server.watch(&pane)?;
    match watch.next()? {
        WatchedOutput::Bytes(READY) => Ok(watch),
        other => Err(Error::Unexpected { what: "an echo", found: format!("{other:?}") }),
    }
}

/// How long each of `count` echoes takes, after a rest and a warm-up.
pub(super) fn times(
    count: u64,
    mut act: impl FnMut() -> Result<(), Error>,
) -> Result<Vec<Duration>, Error> {
    thread::sleep(REST);
    (0..WARM_UP.min(count)).try_for_each(|_| act())?;
    let one = |_| {
        let begun = Instant::now();
        act()?;
        Ok(begun.elapsed())
    };
    (0..count).map(one).collect()
}
