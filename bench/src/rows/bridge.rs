//! D9, D10, D11, D13: looking at a screen and sending a line, beside a bridge that runs tmux for each request.

use std::thread;
use std::time::{Duration, Instant};

use paned_model::Size;
use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::figure::{Figure, Quantity, Unit};
use crate::http::{Address, Client};
use crate::pin::Pinned;
use crate::plan::Plan;
use crate::rival::Rival;
use crate::server::{self, Server};
use crate::stage::Stage;
use crate::stats::{self, Samples};

pub(super) const ROW: Row =
    Row { name: "D9", doc: "screens and lines, beside a tmux process per request", run };

pub(super) const IN_TMUX: Row =
    Row { name: "D13", doc: "the same for a pane that is shown in tmux", run: run_in_tmux };

/// What a line to be sent says.
pub(super) const TEXT: &str = "what does this repository do?";
const OURS: u64 = 2000;
const THEIRS: u64 = 40;
/// Each takes 200 ms.
const THEIR_SENDS: u64 = 8;
const LANES: u64 = 4;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let start = || {
        let server = Server::start(plan)?;
        let pane = server::open(&mut server.client()?, &["/bin/cat".to_owned()])?;
        Ok::<_, Error>((Ours::new(&server, &pane), server))
    };
    let [screen, paste, bare] = on_one_core(plan, start)?;
    let (ours, _server) = start()?;
    Ok(vec![
        screen.at_least(50.0, 150.0),
        bare,
        on_four(plan, &ours)?.at_least(20.0, 50.0).of("D10"),
        paste.at_least(500.0, 2000.0).of("D11"),
    ])
}

fn run_in_tmux(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let start = || {
        let stage = Stage::start(plan, Size::default())?;
        Ok::<_, Error>((Ours::new(&stage.server, &stage.first), stage))
    };
    let [screen, paste, _] = on_one_core(plan, start)?;
    let (ours, _stage) = start()?;
    let shown =
        |figure: Figure| Figure { what: format!("shown in tmux: {}", figure.what), ..figure };
    Ok(vec![
        shown(screen).at_least(10.0, 25.0),
        shown(on_four(plan, &ours)?),
        shown(paste).at_least(200.0, 1000.0),
    ])
}

/// Screens, lines and what no answer is faster than, one after the other. Everybody is on one core: to wake
/// another one may take longer than all the rest, or no time at all.
fn on_one_core<T>(
    plan: &Plan,
    start: impl FnOnce() -> Result<(Ours, T), Error>,
) -> Result<[Figure; 3], Error> {
    let _pinned = Pinned::to_one_core()?;
    let (ours, _alive) = start()?;
    let bridge = Rival::tmux_bridge(&plan.scratch().join("tmux"))?;
    let theirs = Theirs(bridge.address.clone());
    let count = plan.amount(OURS);
    let both = || Ok((ours.screens(count)?, bare(count)?));
    let (capture, answers) = plan.in_turn(|| theirs.captures(THEIRS), both)?;
    let (screen, bare) = answers.into_iter().unzip();
    let (send, paste) = plan.in_turn(|| theirs.sends(THEIR_SENDS), || ours.lines(count))?;
    Ok([
        faster("pane:screen on one core, p50; how much faster", capture.clone(), screen),
        faster("text and Enter on one core, p50; how much faster", send, paste),
        faster("a bare answer over TCP on one core, p50; how much faster", capture, bare),
    ])
}

/// How long an answer takes of somebody who knows nothing.
fn bare(count: u64) -> Result<Vec<Duration>, Error> {
    let mut exchange = Exchange::start()?;
    times(count, || exchange.ask())
}

/// Screens on several connections.
fn on_four(plan: &Plan, ours: &Ours) -> Result<Figure, Error> {
    let bridge = Rival::tmux_bridge(&plan.scratch().join("tmux"))?;
    let theirs = Theirs(bridge.address.clone());
    let count = plan.amount(OURS);
    let (captures, screens) = plan.in_turn(
        || at_once(|| theirs.captures(THEIRS).map(drop)),
        || at_once(|| ours.screens(count).map(drop)),
    )?;
    let rate = |count: u64, times| Quantity::rate((count * LANES) as f64, stats::best(times));
    let (captures, screens) = (rate(THEIRS, captures), rate(count, screens));
    let times = Quantity::new(screens.value / captures.value, Unit::Times);
    let figure = Figure::plain("screens a second on 4 connections", screens).beside(captures);
    Ok(Figure { figure: times, ..figure })
}

/// How many times longer theirs takes.
pub(super) fn faster(what: &str, theirs: Vec<Vec<Duration>>, ours: Vec<Vec<Duration>>) -> Figure {
    let p50 = |times| Quantity::micros(Samples::of(times).median());
    let (theirs, ours) = (p50(theirs), p50(ours));
    let times = Quantity::new(theirs.value / ours.value, Unit::Times);
    Figure { figure: times, ..Figure::plain(what, ours).beside(theirs) }
}

/// How long it takes on 4 connections at once.
fn at_once(act: impl Fn() -> Result<(), Error> + Sync) -> Result<Duration, Error> {
    let begun = Instant::now();
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(&act)).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().expect("a lane does not panic"))
    })?;
    Ok(begun.elapsed())
}

struct Ours {
    address: Address,
    screen: String,
    paste: String,
}

impl Ours {
    fn new(server: &Server, pane: &str) -> Self {
        let screen = json!({ "paneId": pane }).to_string();
        let paste = json!({ "paneId": pane, "text": TEXT, "submit": true }).to_string();
        Self { address: server.address().clone(), screen, paste }
    }

    fn screens(&self, count: u64) -> Result<Vec<Duration>, Error> {
        self.times(count, "pane:screen", &self.screen)
    }

    fn lines(&self, count: u64) -> Result<Vec<Duration>, Error> {
        self.times(count, "pane:paste", &self.paste)
    }

    fn times(&self, count: u64, action: &str, params: &str) -> Result<Vec<Duration>, Error> {
        let mut client = Client::connect(&self.address)?;
        times(count, || client.post(action, params).map(drop))
    }
}

/// One connection for each request, as HTTP/1.0 has it.
struct Theirs(Address);

impl Theirs {
    fn captures(&self, count: u64) -> Result<Vec<Duration>, Error> {
        times(count, || Client::connect(&self.0)?.ask("GET /capture", "").map(drop))
    }

    fn sends(&self, count: u64) -> Result<Vec<Duration>, Error> {
        let text = json!({ "text": TEXT }).to_string();
        times(count, || Client::connect(&self.0)?.ask("POST /send", &text).map(drop))
    }
}

pub(super) fn times(
    count: u64,
    mut act: impl FnMut() -> Result<(), Error>,
) -> Result<Vec<Duration>, Error> {
    let one = |_| {
        let begun = Instant::now();
        act()?;
        Ok(begun.elapsed())
    };
    (0..count).map(one).collect()
}
