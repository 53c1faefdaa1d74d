//! D29: whether everything is kept that a program prints right before it ends.

use super::Row;
use crate::child;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::plan::Plan;
use crate::server::{self, Server};

pub(super) const ROW: Row =
    Row { name: "D29", doc: "whole outputs of programs that end at once", run };

const TIMES: u64 = 50;
const LINES: u64 = 50_000;
const AT_ONCE: usize = 5;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    // The terminal makes a line's end two characters.
    let expect = child::lines(LINES, "\r\n");
    let argv = plan.child(&["lines", &LINES.to_string()]);
    let all: Vec<_> = (0..plan.amount(TIMES)).collect();
    let mut whole = 0;
    for some in all.chunks(AT_ONCE) {
        whole += run_some(&server, &argv, some.len(), &expect)?;
    }
    let count = Quantity::new(whole as f64, Unit::Of(all.len() as u64));
    let all = all.len() as f64;
    let what = format!("whole outputs of {LINES} lines before an exit");
    Ok(vec![Figure::plain(what, count).at_least(all, all)])
}

/// Runs some at once; returns how many outputs are whole.
fn run_some(server: &Server, argv: &[String], count: usize, expect: &[u8]) -> Result<usize, Error> {
    let mut exits = server.exits()?;
    let mut client = server.client()?;
    let panes = (0..count).map(|_| server::open(&mut client, argv));
    let panes = panes.collect::<Result<Vec<_>, _>>()?;
    exits.await_all(&panes)?;
    let mut whole = 0;
    for pane in &panes {
        whole += usize::from(server.state.printed(pane)? == expect);
    }
    server::close(&mut server.client()?, &panes)?;
    Ok(whole)
}
