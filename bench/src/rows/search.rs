//! D23 and D24: searching 50,000 lines, against a rival that has them in memory.

use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::log::{self, NOWHERE, RARE};
use crate::plan::Plan;
use crate::ring::Ring;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const LITERALS: Row =
    Row { name: "D23", doc: "searching for text against lines in memory", run: literals };
pub(super) const REGEXES: Row =
    Row { name: "D24", doc: "searching by regex against lines in memory", run: regexes };

const REQUESTS: u64 = 100;
const HITS: u64 = 100;
/// Panes that are searched once and again.
const FRESH: usize = 20;

/// Must and target.
type SearchThresholds = (f64, f64);

fn literals(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let searches = [("a rare literal", RARE), ("what is not there", NOWHERE)];
    let mut figures = run(plan, &searches, (0.5, 0.2))?;
    figures.extend(early(plan)?);
    Ok(figures)
}

/// Panes that were never searched, and once: the server has no index of what they printed yet, or
/// little of one.
fn early(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut client = server.client()?;
    let panes = log::print(&server, plan, FRESH)?;
    let mut each = |time: &str| {
        let one = |pane: &String| {
            let params = json!({ "pattern": NOWHERE, "panes": [pane] }).to_string();
            log::ask(&mut client, "pane:search", &params, 1)
        };
        let times = panes.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let what = format!("{} lines searched for the {time} time, p50", log::LINES);
        Ok(Figure::plain(what, Quantity::millis(Samples::of(times).median())))
    };
    Ok(vec![each("first")?, each("second")?])
}

fn regexes(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let searches = [
        ("a regex that hits every line", r"^\d+ .*took \d+ ms"),
        ("a regex that runs through every line in vain", r"^\d+ .*took \d+ minutes"),
    ];
    run(plan, &searches, (1.2, 0.6))
}

fn run(
    plan: &Plan,
    searches: &[(&str, &str)],
    thresholds: SearchThresholds,
) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let panes = log::print(&server, plan, 1)?;
    let Some(rival) = Ring::start(plan, &log::write(plan)?)? else {
        return Ok(Vec::new());
    };
    let count = plan.amount(REQUESTS);
    let one = |&(what, pattern): &(&str, &str)| {
        let mut theirs = rival.client()?;
        let mut ours = server.client()?;
        let their_params = json!({ "pattern": pattern, "limit": HITS }).to_string();
        let our_params = json!({ "pattern": pattern, "limit": HITS, "panes": panes }).to_string();
        let (theirs, ours) = plan.in_turn(
            || log::ask(&mut theirs, "search", &their_params, count),
            || log::ask(&mut ours, "pane:search", &our_params, count),
        )?;
        let millis = |times| Quantity::millis(Samples::of(times).median());
        let what = format!("{} lines searched for {what}, p50", log::LINES);
        Ok(Figure::ratio(what, millis(theirs), millis(ours)).at_most(thresholds.0, thresholds.1))
    };
    searches.iter().map(one).collect()
}
