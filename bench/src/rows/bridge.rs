//! D9, D10, D11, D13: reading a screen and sending a line, beside a bridge that runs tmux for each
//! request.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use paned_model::Size;
use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::http::{Address, Client};
use crate::pin::Pinned;
use crate::plan::Plan;
use crate::rival::Rival;
use crate::round_trip::MinimalRoundTrip;
use crate::server::{self, Server};
use crate::server_with_tmux::ServerWithTmux;
use crate::stats::{self, Samples};

pub(super) const ROW: Row =
    Row { name: "D9", doc: "screens and lines, beside a tmux process per request", run };

pub(super) const IN_TMUX: Row =
    Row { name: "D13", doc: "the same for a pane that is shown in tmux", run: run_in_tmux };

/// The text of the line that is sent.
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
        let calls = |transport| PanedCalls::new(transport, &pane);
        let transports = [
            BenchTransport::Tcp(server.address().clone()),
            BenchTransport::Socket(server.socket.clone()),
        ];
        Ok::<_, Error>((transports.map(calls), server))
    };
    let (bare, ways) = on_one_core(plan, start)?;
    let ([by_tcp, _], _server) = start()?;
    let screens = ways.iter().map(|way| way.screen.clone().at_least(50.0, 150.0));
    let pastes = ways.iter().map(|way| way.paste.clone().at_least(500.0, 2000.0).of("D11"));
    let four = on_four(plan, &by_tcp)?.at_least(20.0, 50.0).of("D10");
    Ok(screens.chain([bare, four]).chain(pastes).collect())
}

fn run_in_tmux(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let start = || {
        let setup = ServerWithTmux::start(plan, Size::default())?;
        let transport = BenchTransport::Tcp(setup.server.address().clone());
        Ok::<_, Error>(([PanedCalls::new(transport, &setup.first)], setup))
    };
    let (_, [BridgeFigures { screen, paste }]) = on_one_core(plan, start)?;
    let ([ours], _setup) = start()?;
    let shown =
        |figure: Figure| Figure { what: format!("shown in tmux: {}", figure.what), ..figure };
    Ok(vec![
        shown(screen).at_least(10.0, 25.0),
        shown(on_four(plan, &ours)?),
        shown(paste).at_least(200.0, 1000.0),
    ])
}

/// How much faster screens and lines are over one transport.
struct BridgeFigures {
    screen: Figure,
    paste: Figure,
}

/// The shortest answer, which no other is faster than, and screens and lines over each transport,
/// one after the other. All processes are on one core: waking another one may take longer than all
/// the rest, or no time at all.
fn on_one_core<T, const N: usize>(
    plan: &Plan,
    start: impl FnOnce() -> Result<([PanedCalls; N], T), Error>,
) -> Result<(Figure, [BridgeFigures; N]), Error> {
    let _pinned = Pinned::to_one_core()?;
    let (ways, _alive) = start()?;
    let bridge = Rival::tmux_bridge(&plan.scratch().join("tmux"))?;
    let theirs = BridgeCalls(bridge.address.clone());
    let count = plan.amount(OURS);
    let answers = || Ok((bare(count)?, each(&ways, |ours| ours.screens(count))?));
    let (capture, answers) = plan.in_turn(|| theirs.captures(THEIRS), answers)?;
    let (bare, screens): (_, Vec<_>) = answers.into_iter().unzip();
    let lines = || each(&ways, |ours| ours.lines(count));
    let (send, lines) = plan.in_turn(|| theirs.sends(THEIR_SENDS), lines)?;
    let screens = by_way(&screens);
    let lines = by_way(&lines);
    let bare = faster("a bare answer over TCP on one core, p50; how much faster", &capture, bare);
    let figures = std::array::from_fn(|way| {
        let by = ways[way].transport.name();
        let named = |what| format!("{what} over {by} on one core, p50; how much faster");
        BridgeFigures {
            screen: faster(&named("pane:screen"), &capture, screens(way)),
            paste: faster(&named("text and Enter"), &send, lines(way)),
        }
    });
    Ok((bare, figures))
}

/// Measures each transport.
fn each(
    ways: &[PanedCalls],
    act: impl Fn(&PanedCalls) -> Result<Vec<Duration>, Error>,
) -> Result<Vec<Vec<Duration>>, Error> {
    ways.iter().map(act).collect()
}

/// Takes the times of one transport out of rounds with the times of all of them.
fn by_way(rounds: &[Vec<Vec<Duration>>]) -> impl Fn(usize) -> Vec<Vec<Duration>> {
    |way| rounds.iter().map(|round| round[way].clone()).collect()
}

/// How long an answer takes that needs no work.
fn bare(count: u64) -> Result<Vec<Duration>, Error> {
    let mut exchange = MinimalRoundTrip::start()?;
    times(count, || exchange.ask())
}

/// Screens on several connections.
fn on_four(plan: &Plan, ours: &PanedCalls) -> Result<Figure, Error> {
    let bridge = Rival::tmux_bridge(&plan.scratch().join("tmux"))?;
    let theirs = BridgeCalls(bridge.address.clone());
    let count = plan.amount(OURS);
    let (captures, screens) = plan.in_turn(
        || at_once(|| theirs.captures(THEIRS).map(drop)),
        || at_once(|| ours.screens(count).map(drop)),
    )?;
    let rate = |count: u64, times| Quantity::rate((count * LANES) as f64, stats::best(times));
    let captures = rate(THEIRS, captures);
    let screens = rate(count, screens);
    let times = Quantity::new(screens.value / captures.value, Unit::Times);
    let figure = Figure::plain("screens a second on 4 connections", screens).beside(captures);
    Ok(Figure { figure: times, ..figure })
}

/// How many times longer theirs takes.
pub(super) fn faster(what: &str, theirs: &[Vec<Duration>], ours: Vec<Vec<Duration>>) -> Figure {
    let p50 = |times| Quantity::micros(Samples::of(times).median());
    let theirs = p50(theirs.to_vec());
    let ours = p50(ours);
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

/// How to connect.
enum BenchTransport {
    Tcp(Address),
    Socket(PathBuf),
}

impl BenchTransport {
    fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "TCP",
            Self::Socket(_) => "the socket",
        }
    }
}

struct PanedCalls {
    transport: BenchTransport,
    screen: String,
    paste: String,
}

impl PanedCalls {
    fn new(transport: BenchTransport, pane: &str) -> Self {
        let screen = json!({ "paneId": pane }).to_string();
        let paste = json!({ "paneId": pane, "text": TEXT, "submit": true }).to_string();
        Self { transport, screen, paste }
    }

    fn screens(&self, count: u64) -> Result<Vec<Duration>, Error> {
        self.times(count, "pane:screen", &self.screen)
    }

    fn lines(&self, count: u64) -> Result<Vec<Duration>, Error> {
        self.times(count, "pane:paste", &self.paste)
    }

    fn times(&self, count: u64, action: &str, params: &str) -> Result<Vec<Duration>, Error> {
        match &self.transport {
            BenchTransport::Tcp(address) => {
                request_times(Client::connect(address)?, count, action, params)
            }
            BenchTransport::Socket(path) => {
                request_times(Client::over(path)?, count, action, params)
            }
        }
    }
}

fn request_times<S: Read + Write>(
    mut client: Client<S>,
    count: u64,
    action: &str,
    params: &str,
) -> Result<Vec<Duration>, Error> {
    times(count, || client.post(action, params).map(drop))
}

/// One connection for each request, as HTTP/1.0 has it.
struct BridgeCalls(Address);

impl BridgeCalls {
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
