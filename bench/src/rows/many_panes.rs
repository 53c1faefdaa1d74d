//! D12: what each pane adds to a list of them.

use std::time::Duration;

use super::Row;
use super::echo::times;
use super::memory::open_idle;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::plan::Plan;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D12", doc: "a list of many panes", run };

const PANES: u64 = 100;
const LISTS: u64 = 1000;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let one = Server::start(plan)?;
    let many = Server::start(plan)?;
    open_idle(&mut one.client()?, 1)?;
    open_idle(&mut many.client()?, PANES)?;
    let count = plan.amount(LISTS);
    let list = |server: &Server| {
        let mut client = server.client()?;
        times(count, || client.post("pane:list", "{}").map(drop))
    };
    let (one, many) = plan.in_turn(|| list(&one), || list(&many))?;
    let one = Samples::of(one).median();
    let many = Samples::of(many).median();
    let each = many.saturating_sub(one) / (PANES as u32 - 1);
    let micros = |time: Duration| Quantity::micros(time);
    Ok(vec![
        Figure::plain("pane:list of 100 panes, p50, beside that of 1", micros(many))
            .beside(micros(one)),
        Figure::plain("of that for each pane", micros(each)).at_most(5.0, 1.5),
    ])
}
