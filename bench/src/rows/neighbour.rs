//! X1: whether a pane that prints without end keeps to its memory, and leaves its neighbours alone.

use std::slice;
use std::thread;
use std::time::{Duration, Instant};

use super::Row;
use super::echo::open;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::stats::Samples;
use crate::watch::Watch;
use crate::{interrupt, proc};

pub(super) const ROW: Row =
    Row { name: "X1", doc: "10 GB through one pane, and typing in the next", run };

const BYTES: u64 = 10_000_000_000;
/// What comes before the first look at memory.
const EARLY: u64 = 1_000_000_000;
/// Echoes before the flood.
const ECHOES: u64 = 1000;
/// People type no faster.
const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(1200);

/// Private bytes.
struct Memory {
    server: u64,
    keeper: u64,
}

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut neighbour = open(&server, &plan.child(&["echo"]))?;
    let quiet = (0..plan.amount(ECHOES)).map(|_| typed(&mut neighbour));
    let quiet = quiet.collect::<Result<Vec<_>, _>>()?;
    let bytes = plan.amount(BYTES);
    let pane = server::open(&mut server.client()?, &plan.flood(u64::MAX))?;
    let mut beside = type_until(&server, &pane, &mut neighbour, plan.amount(EARLY))?;
    let early = memory(&server, &pane)?;
    beside.extend(type_until(&server, &pane, &mut neighbour, bytes)?);
    let late = memory(&server, &pane)?;
    server::close(&mut server.client()?, slice::from_ref(&pane))?;
    let grown = |what: &str, early, late| {
        let what = format!("private memory of the {what} after {:.1} GB", bytes as f64 / 1e9);
        Figure::ratio(what, Quantity::mib(early), Quantity::mib(late)).at_most(1.5, 1.1)
    };
    let (quiet, beside) = (Samples::of([quiet]), Samples::of([beside]));
    let typing = |what: &str, percent| {
        let at = |times: &Samples| Quantity::micros(times.percentile(percent));
        Figure::times(format!("typed to echoed beside that, {what}"), at(&quiet), at(&beside))
    };
    Ok(vec![
        grown("server", early.server, late.server),
        grown("keeper", early.keeper, late.keeper),
        typing("p50", 50),
        typing("p99", 99).at_most(3.0, 1.5),
    ])
}

fn memory(server: &Server, pane: &str) -> Result<Memory, Error> {
    let keeper = proc::private(server.state.tape(pane)?.keeper())?;
    Ok(Memory { server: proc::private(server.pid())?, keeper })
}

/// Types at a person's pace until the flood has printed this much.
fn type_until(
    server: &Server,
    pane: &str,
    neighbour: &mut Watch,
    bytes: u64,
) -> Result<Vec<Duration>, Error> {
    let (tape, begun, mut times) = (server.state.tape(pane)?, Instant::now(), Vec::new());
    while tape.end() < bytes {
        interrupt::check()?;
        if PATIENCE < begun.elapsed() {
            return Err(Error::Late { what: "a flood".into(), limit: PATIENCE });
        }
        times.push(typed(neighbour)?);
    }
    Ok(times)
}

fn typed(neighbour: &mut Watch) -> Result<Duration, Error> {
    // not a wait: this is how fast somebody types.
    thread::sleep(PAUSE);
    let begun = Instant::now();
    neighbour.echo()?;
    Ok(begun.elapsed())
}
