//! D14: whether reading a pane in tmux, sending to it or listing starts processes.

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

/// So many operations are counted together. Other programs start processes meanwhile, so the
/// smallest count is taken: a process for each operation would be in all counts.
const TOGETHER: u64 = 25;
const TIMES: u64 = 60;
const LINES: usize = 80;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let setup = ServerWithTmux::start(plan, Size::default())?;
    let control = setup.control()?;
    let view = control.view(&setup.first)?;
    let line = format!("{TEXT}\r");
    let mut client = setup.server.client()?;
    let mut ask = |name: &str, params: &str| {
        let started = fewest(plan, || client.post(name, params).map(drop))?;
        Ok::<_, Error>(figure(name, started))
    };
    let pane = json!({ "paneId": setup.first }).to_string();
    let paste = json!({ "paneId": setup.first, "text": TEXT, "submit": true }).to_string();
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

/// The fewest processes that were started on this machine while the operation was repeated.
fn fewest(plan: &Plan, mut act: impl FnMut() -> Result<(), Error>) -> Result<u64, Error> {
    let mut fewest = u64::MAX;
    for _ in 0..plan.amount(TIMES) {
        let before = proc::started()?;
        (0..TOGETHER).try_for_each(|_| act())?;
        fewest = fewest.min(proc::started()? - before);
    }
    Ok(fewest)
}
