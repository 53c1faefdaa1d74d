//! D14: whether looking at a pane in tmux, sending to it or listing starts processes.

use paned_backend::tmux::capture::CaptureStyle;
use paned_model::Size;
use serde_json::json;

use super::Row;
use super::bridge::TEXT;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::plan::Plan;
use crate::proc;
use crate::server_with_tmux::ServerWithTmux;

pub(super) const ROW: Row = Row { name: "D14", doc: "processes started for panes in tmux", run };

/// So many operations are looked at together. Others start processes meanwhile, so that the fewest count: one for
/// each operation would be in all of them.
const TOGETHER: u64 = 25;
const TIMES: u64 = 60;
const LINES: usize = 80;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let stage = ServerWithTmux::start(plan, Size::default())?;
    let control = stage.control()?;
    let view = control.view(&stage.first)?;
    let line = format!("{TEXT}\r");
    let mut client = stage.server.client()?;
    let mut ask = |name: &str, params: &str| {
        let acted = fewest(plan, || client.post(name, params).map(drop))?;
        Ok::<_, Error>(figure(name, acted))
    };
    let pane = json!({ "paneId": stage.first }).to_string();
    let paste = json!({ "paneId": stage.first, "text": TEXT, "submit": true }).to_string();
    let mut figures = vec![
        ask("pane:paste", &paste)?,
        ask("pane:screen", &pane)?,
        ask("pane:list", "{}")?,
        ask("session:list", "{}")?,
    ];
    let send = || control.run(async |client| client.send(view, line.as_bytes()).await);
    let capture = || {
        control
            .run(async |client| client.last_lines(view, LINES, CaptureStyle::Plain).await)
            .map(drop)
    };
    let list = || control.run(async |client| client.views().await).map(drop);
    figures.extend([
        figure("a control client's send", fewest(plan, send)?),
        figure("a control client's capture", fewest(plan, capture)?),
        figure("a control client's list", fewest(plan, list)?),
    ]);
    Ok(figures)
}

fn figure(what: &str, started: u64) -> Figure {
    let started = Quantity::new(started as f64, Unit::Of(TOGETHER));
    Figure::plain(format!("processes started by {TOGETHER} of {what}"), started).at_most(0.0, 0.0)
}

/// The fewest processes that were started on this machine while this was done so many times.
fn fewest(plan: &Plan, mut act: impl FnMut() -> Result<(), Error>) -> Result<u64, Error> {
    let mut fewest = u64::MAX;
    for _ in 0..plan.amount(TIMES) {
        let before = proc::started()?;
        (0..TOGETHER).try_for_each(|_| act())?;
        fewest = fewest.min(proc::started()? - before);
    }
    Ok(fewest)
}
