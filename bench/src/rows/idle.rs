//! D22: whether panes in which nothing happens cost time.

use std::thread;
use std::time::{Duration, Instant};

use super::Row;
use super::memory::open_idle;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::plan::Plan;
use crate::proc;
use crate::server::Server;

pub(super) const ROW: Row = Row { name: "D22", doc: "time spent on idle panes", run };

const PANES: u64 = 200;
const WINDOW: Duration = Duration::from_secs(5);

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let count = plan.amount(PANES);
    open_idle(&mut server.client()?, count)?;
    let keepers = server.state.tapes().iter().map(|tape| tape.keeper()).collect::<Vec<_>>();
    let spent = || [server.pid()].iter().chain(&keepers).map(|pid| proc::cpu(*pid)).sum();
    let before: Duration = spent();
    let begun = Instant::now();
    // not a wait: this is the time that is measured.
    thread::sleep(WINDOW);
    let percent = (spent() - before).as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
    let what = format!("a core's time for {count} idle panes, over 5 s");
    Ok(vec![Figure::plain(what, Quantity::new(percent, Unit::Percent)).at_most(0.3, 0.0)])
}
