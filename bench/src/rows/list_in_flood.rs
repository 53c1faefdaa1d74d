//! D6: whether other requests are answered while a pane floods.

use std::slice;
use std::time::{Duration, Instant};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::http::Client;
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::state::State;
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D6", doc: "pane:list while a pane floods", run };

const REQUESTS: u64 = 4000;
/// How long a flood may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let count = plan.amount(REQUESTS);
    let quiet = || beside(&server, &["/bin/cat".to_owned()], |client, _| ask(client, count));
    let flooded = || {
        beside(&server, &plan.flood(u64::MAX), |client, pane| {
            await_more(&server.state, pane, 0)?;
            let before = server.state.tape(pane)?.end();
            let times = ask(client, count)?;
            await_more(&server.state, pane, before)?;
            Ok(times)
        })
    };
    let (quiet, flooded) = plan.in_turn(quiet, flooded)?;
    let quiet = Samples::of(quiet);
    let flooded = Samples::of(flooded);
    let figure = |what: &str, time: fn(&Samples) -> Duration| {
        let limit = Quantity::millis(time(&quiet));
        let ours = Quantity::millis(time(&flooded));
        Figure::plain(format!("pane:list while a pane floods, {what}"), ours).beside(limit)
    };
    Ok(vec![
        figure("p50", Samples::median),
        figure("p99", |times| times.percentile(99)).at_most(50.0, 10.0),
        figure("longest", Samples::max).at_most(250.0, 50.0),
    ])
}

/// Measures while this program runs in a pane.
fn beside<T>(
    server: &Server,
    argv: &[String],
    measure: impl FnOnce(&mut Client, &str) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut client = server.client()?;
    let pane = server::open(&mut client, argv)?;
    let measured = measure(&mut client, &pane)?;
    server::close(&mut client, slice::from_ref(&pane))?;
    Ok(measured)
}

fn ask(client: &mut Client, count: u64) -> Result<Vec<Duration>, Error> {
    let one = || {
        let begun = Instant::now();
        client.post("pane:list", "{}")?;
        Ok(begun.elapsed())
    };
    std::iter::repeat_with(one).take(count as usize).collect()
}

/// Waits until a pane has printed more than this.
fn await_more(state: &State, pane: &str, than: u64) -> Result<(), Error> {
    let tape = state.tape(pane)?;
    let begun = Instant::now();
    while tape.end() <= than {
        if PATIENCE < begun.elapsed() {
            return Err(Error::Timeout { what: "a flood".into(), limit: PATIENCE });
        }
        std::thread::yield_now();
    }
    Ok(())
}
