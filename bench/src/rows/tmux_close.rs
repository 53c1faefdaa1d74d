//! T2, and D16 for panes in tmux: how soon an event says that a user closed one, or that its
//! program ended.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::Row;
use super::exit_event::since;
use crate::error::Error;
use crate::events::Events;
use crate::figure::{Figure, Quantity, Unit};
use crate::plan::Plan;
use crate::server_with_tmux::{LARGE, ServerWithTmux};
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "T2", doc: "from a closed tmux pane to our event", run };

const PANES: u64 = 50;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let (closed, ended) = plan.in_turn(|| closed(plan), || ended(plan))?;
    let right: usize = ended.iter().map(Vec::len).sum();
    let all = PANES * plan.rounds as u64;
    let closed = Samples::of(closed);
    let ended = Samples::of(ended);
    let time = |what: &str, times: &Samples, percent: usize| {
        let what = format!("{what}, p{percent}");
        Figure::plain(what, Quantity::millis(times.percentile(percent)))
    };
    let hidden = "tmux pane closed to pane:hidden";
    let exit = "last act to exit event, in tmux";
    let count = Quantity::new(right as f64, Unit::Of(all));
    Ok(vec![
        time(hidden, &closed, 50).at_most(100.0, 20.0),
        time(hidden, &closed, 95),
        Figure::plain("exit events with the right code, in tmux", count)
            .at_least(all as f64, all as f64)
            .of("D16"),
        time(exit, &ended, 50).of("D16"),
        time(exit, &ended, 95).at_most(300.0, 50.0).of("D16"),
    ])
}

/// How long it takes from the command to close a tmux pane until our event arrives.
fn closed(plan: &Plan) -> Result<Vec<Duration>, Error> {
    let setup = ServerWithTmux::start(plan, LARGE)?;
    let control = setup.control()?;
    let mut events = Events::follow(setup.server.address(), "pane:hidden")?;
    let one = |_| {
        let pane = setup.show(&mut setup.server.client()?, &["/bin/cat".to_owned()])?;
        let view = control.view(&pane)?;
        let begun = SystemTime::now();
        control.run(async |client| client.kill_pane(view).await)?;
        let event = events.next()?;
        if event.pane != pane {
            return Err(Error::Unexpected { what: "who is hidden", found: event.pane });
        }
        Ok(event.seen.duration_since(begun).unwrap_or_default())
    };
    (0..PANES).map(one).collect()
}

/// How long the events of exits take to arrive, of those with the right code.
fn ended(plan: &Plan) -> Result<Vec<Duration>, Error> {
    let setup = ServerWithTmux::start(plan, LARGE)?;
    let server = &setup.server;
    let mut exits = server.exits()?;
    let mut client = server.client()?;
    let mut times = Vec::new();
    for code in 1..=PANES {
        let argv = plan.child(&["last-words", &code.to_string()]);
        let pane = setup.show(&mut client, &argv)?;
        client.action("pane:write", &json!({ "paneId": pane, "text": "\r" }))?;
        let exited = exits.next()?;
        if exited.pane == pane && exited.code == Some(code) {
            let printed = server.state.printed(&pane)?;
            times.push(since(&String::from_utf8_lossy(&printed), exited.seen)?);
        }
    }
    Ok(times)
}
