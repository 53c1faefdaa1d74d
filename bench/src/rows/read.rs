//! D26: reading 500 lines at any place, against a rival that has them in memory.

use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::log;
use crate::plan::Plan;
use crate::ring::Ring;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const ROW: Row =
    Row { name: "D26", doc: "reading 500 lines against lines in memory", run };

const REQUESTS: u64 = 1000;
const LIMIT: u64 = 500;
const PLACES: [u64; 3] = [0, log::LINES / 2, log::LINES - 1000];

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let panes = log::print(&server, plan, 1)?;
    let Some(rival) = Ring::start(plan, &log::write(plan)?)? else {
        return Ok(Vec::new());
    };
    let count = plan.amount(REQUESTS);
    let one = |&offset: &u64| {
        let mut theirs = rival.client()?;
        let mut ours = server.client()?;
        let their_params = json!({ "offset": offset, "limit": LIMIT }).to_string();
        let our_params =
            json!({ "paneId": panes[0], "offset": offset, "limit": LIMIT }).to_string();
        let (theirs, ours) = plan.in_turn(
            || log::ask(&mut theirs, "read", &their_params, count),
            || log::ask(&mut ours, "pane:read", &our_params, count),
        )?;
        let millis = |times| Quantity::millis(Samples::of(times).median());
        let what = format!("{LIMIT} lines read from line {offset} on, p50");
        Ok(Figure::ratio(what, millis(theirs), millis(ours)).at_most(2.0, 1.0))
    };
    PLACES.iter().map(one).collect()
}
