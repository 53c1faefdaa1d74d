//! T1: queries and commands to tmux over one control client, beside a process for each.

use std::time::Duration;

use paned_backend::tmux::capture::CaptureStyle;
use paned_model::Size;

use super::Row;
use super::bridge::{TEXT, faster, times};
use crate::error::Error;
use crate::figure::Figure;
use crate::plan::Plan;
use crate::server_with_tmux::ServerWithTmux;

pub(super) const ROW: Row =
    Row { name: "T1", doc: "tmux by one control client, beside a process each", run };

const OURS: u64 = 1000;
const THEIRS: u64 = 40;
const LINES: usize = 80;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let setup = ServerWithTmux::start(plan, Size::default())?;
    let control = setup.control()?;
    let view = control.view(&setup.first)?;
    let name = view.to_string();
    let from = format!("-{LINES}");
    let ours = plan.amount(OURS);
    let measure = |what: &str, args: &[&str], act: &dyn Fn() -> Result<(), Error>| {
        let process = || times(THEIRS, || setup.tmux(args).map(drop));
        let (theirs, ours): (Vec<Vec<Duration>>, _) = plan.in_turn(process, || times(ours, act))?;
        let what = format!("{what} by a control client, p50; how much faster");
        Ok(faster(&what, &theirs, ours).at_least(10.0, 20.0))
    };
    Ok(vec![
        measure("list of panes", &["list-panes", "-a"], &|| {
            control.run(async |client| client.views().await).map(drop)
        })?,
        measure("80 lines", &["capture-pane", "-p", "-t", &name, "-S", &from], &|| {
            control
                .run(async |client| client.last_lines(view, LINES, CaptureStyle::Plain).await)
                .map(drop)
        })?,
        measure("text and Enter", &["send-keys", "-t", &name, TEXT, "Enter"], &|| {
            let line = format!("{TEXT}\r");
            control.run(async |client| client.send(view, line.as_bytes()).await)
        })?,
    ])
}
