//! D25: searching 50,000 lines, against the same regex over the same bytes in memory.

use std::hint::black_box;
use std::time::{Duration, Instant};

use regex::bytes::{Regex, RegexBuilder};
use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::log::{self, NOWHERE, RARE};
use crate::plan::Plan;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const ROW: Row =
    Row { name: "D25", doc: "searching against the same bytes in memory", run };

const REQUESTS: u64 = 100;
const SEARCHES: [(&str, &str); 6] = [
    ("a rare literal", RARE),
    ("what is not there", NOWHERE),
    ("a common literal", "panicked"),
    ("one of three words", "error|ERROR|failed"),
    ("whatever the case", "(?i)haystack|NEEDLE-7"),
    ("a regex in vain", r"^\d+ .*took \d+ minutes"),
];

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let panes = log::print(&server, plan, 1)?;
    let printed = server.state.printed(&panes[0])?;
    let count = plan.amount(REQUESTS);
    let one = |&(what, pattern): &(&str, &str)| {
        let regex = RegexBuilder::new(pattern).multi_line(true).crlf(true).build();
        let regex = regex
            .map_err(|error| Error::Unexpected { what: "a pattern", found: error.to_string() })?;
        let mut client = server.client()?;
        let mut pinging = server.client()?;
        let ping = json!({ "paneId": panes[0] }).to_string();
        let params = json!({ "pattern": pattern, "panes": panes }).to_string();
        let (limits, ours) = plan.in_turn(
            || {
                let pings = log::ask(&mut pinging, "pane:get", &ping, count)?;
                Ok((pings, (0..count).map(|_| in_memory(&regex, &printed)).collect::<Vec<_>>()))
            },
            || log::ask(&mut client, "pane:search", &params, count),
        )?;
        let (pings, searches): (Vec<_>, Vec<_>) = limits.into_iter().unzip();
        let limit = Samples::of(searches).median() + Samples::of(pings).median();
        let ours = Samples::of(ours).median();
        let what = format!("{what}, against memory and a ping, p50");
        let figure = Figure::ratio(what, Quantity::millis(limit), Quantity::millis(ours));
        Ok(figure.at_most(4.0, 1.5))
    };
    SEARCHES.iter().map(one).collect()
}

/// How long it takes to find every line that matches, when all of them are there.
fn in_memory(regex: &Regex, bytes: &[u8]) -> Duration {
    let begun = Instant::now();
    let mut from = 0;
    let mut hits = 0_u64;
    while let Some(end) = regex.shortest_match_at(bytes, from) {
        hits += 1;
        let rest = bytes[end..].iter().position(|byte| *byte == b'\n');
        let Some(rest) = rest else { break };
        from = end + rest + 1;
    }
    black_box(hits);
    begun.elapsed()
}
