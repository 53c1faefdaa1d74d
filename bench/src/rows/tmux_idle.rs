//! T3: whether panes that are shown in tmux, and in which nothing happens, cost time.

use std::thread;
use std::time::{Duration, Instant};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::plan::Plan;
use crate::proc;
use crate::server_with_tmux::{LARGE, ServerWithTmux};

pub(super) const ROW: Row = Row { name: "T3", doc: "time spent on idle panes in tmux", run };

const PANES: u64 = 50;
const WINDOW: Duration = Duration::from_secs(5);
/// How long it may take until all is drawn.
const PATIENCE: Duration = Duration::from_secs(30);

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let setup = ServerWithTmux::start(plan, LARGE)?;
    let mut client = setup.server.client()?;
    let cat = ["/bin/cat".to_owned()];
    (1..PANES).try_for_each(|_| setup.show(&mut client, &cat).map(drop))?;
    // Only for this query: a control client that stays would cost time, too.
    let tmux = setup.control()?.server()?;
    let keepers = setup.server.state.tapes().iter().map(|tape| tape.keeper()).collect();
    let attached = proc::children(tmux);
    let shown = attached.iter().filter(|pid| proc::pid(**pid).is_some_and(proc::is_paned)).count();
    if shown as u64 != PANES {
        return Err(Error::Unexpected { what: "how many are shown", found: shown.to_string() });
    }
    let processes = [vec![setup.server.pid()], keepers, attached, vec![tmux]];
    await_calm(&processes)?;
    let [server, keepers, attached, tmux] = percents(&processes, WINDOW)?;
    let figure = |what: &str, percent| Figure::plain(what, Quantity::new(percent, Unit::Percent));
    let all = format!("a core's time for {PANES} idle panes in tmux, over 5 s");
    Ok(vec![
        figure(&all, server + keepers + attached).at_most(0.3, 0.1),
        figure("of that in the server, which asks tmux whether it is there", server),
        figure("of that in keepers", keepers),
        figure("of that in those who show them", attached),
        figure("tmux itself meanwhile", tmux),
    ])
}

/// Waits until everything is drawn, so that only the server and tmux are active.
fn await_calm(processes: &[Vec<u32>; 4]) -> Result<(), Error> {
    let begun = Instant::now();
    loop {
        let [_, keepers, attached, _] = percents(processes, WINDOW / 10)?;
        if keepers + attached == 0.0 {
            return Ok(());
        }
        if PATIENCE < begun.elapsed() {
            return Err(Error::Timeout { what: "calm in panes".into(), limit: PATIENCE });
        }
    }
}

/// How much of a core's time each group of processes takes in this window.
fn percents(processes: &[Vec<u32>; 4], window: Duration) -> Result<[f64; 4], Error> {
    let spent = || -> Result<Vec<Duration>, Error> {
        processes.iter().map(|pids| pids.iter().map(|pid| proc::busy(*pid)).sum()).collect()
    };
    let before = spent()?;
    let begun = Instant::now();
    // not a wait: this is the time that is measured.
    thread::sleep(window);
    let after = spent()?;
    let passed = begun.elapsed();
    let percent = |at: usize| after[at].saturating_sub(before[at]).div_duration_f64(passed) * 100.0;
    Ok([0, 1, 2, 3].map(percent))
}
