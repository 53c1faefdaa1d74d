//! D3: how much of a core the server and the keeper take for what a program prints.

use std::time::{Duration, Instant};
use std::{slice, thread};

use serde_json::json;

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::flood::{ExpectedOutput, FloodKind};
use crate::pane_watcher::WatchedOutput;
use crate::plan::Plan;
use crate::server::{self, Server};
use crate::{interrupt, proc};

pub(super) const ROW: Row = Row { name: "D3", doc: "time on a core for what is printed", run };

const BYTES: u64 = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(120);
/// How often the screen is polled.
const LOOK: Duration = Duration::from_millis(50);

/// Which client reads the output meanwhile.
#[derive(Clone, Copy)]
enum OutputReader {
    Nobody,
    Reader,
    ScreenPoller,
}

impl OutputReader {
    fn name(self) -> &'static str {
        match self {
            Self::Nobody => "no watcher",
            Self::Reader => "a WebSocket reader",
            Self::ScreenPoller => "the screen asked for each 50 ms",
        }
    }
}

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut figures = Vec::new();
    for reader in [OutputReader::Nobody, OutputReader::Reader, OutputReader::ScreenPoller] {
        for (kind, must, target) in [
            (FloodKind::Plain, 70.0, 250.0),
            (FloodKind::Colours, 50.0, 120.0),
            (FloodKind::Redraw, 60.0, 150.0),
        ] {
            let [server, keeper] = measure(plan, &server, kind, reader)?;
            figures.extend([server.at_least(must, target), keeper]);
        }
    }
    Ok(figures)
}

/// The best of the rounds, for the server and for the keeper.
fn measure(
    plan: &Plan,
    server: &Server,
    kind: FloodKind,
    reader: OutputReader,
) -> Result<[Figure; 2], Error> {
    let bytes = plan.amount(BYTES);
    let rounds = (0..plan.rounds).map(|_| spend(plan, server, kind, reader));
    let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
    let figure = |who: &str, time: fn(&CpuSpent) -> Duration| {
        let best = rounds.iter().map(time).min().unwrap_or_default();
        let rate = bytes as f64 / 1e6 / best.as_secs_f64();
        let what = format!("{who}, {}, {}", kind.name(), reader.name());
        Figure::plain(what, Quantity::new(rate, Unit::MegabytesPerCpuSecond))
    };
    Ok([figure("server", |spent| spent.server), figure("keeper", |spent| spent.keeper)])
}

struct CpuSpent {
    server: Duration,
    keeper: Duration,
}

fn spend(
    plan: &Plan,
    server: &Server,
    kind: FloodKind,
    reader: OutputReader,
) -> Result<CpuSpent, Error> {
    let bytes = plan.amount(BYTES);
    let length = ExpectedOutput::of(kind).length(kind, bytes);
    let before = proc::busy(server.pid())?;
    let argv = plan.child(&["paint", kind.name(), &bytes.to_string()]);
    let pane = server::open(&mut server.client()?, &argv)?;
    match reader {
        OutputReader::Nobody => {}
        OutputReader::Reader => read_all(server, &pane, length)?,
        OutputReader::ScreenPoller => look_until(server, &pane, length)?,
    }
    await_bytes(server, &pane, length)?;
    let keeper = proc::busy(server.state.tape(&pane)?.keeper())?;
    let spent = CpuSpent { server: proc::busy(server.pid())?.saturating_sub(before), keeper };
    server::close(&mut server.client()?, slice::from_ref(&pane))?;
    Ok(spent)
}

fn read_all(server: &Server, pane: &str, length: u64) -> Result<(), Error> {
    let mut watch = server.watch(pane)?;
    let mut seen = 0;
    while seen < length {
        match watch.next()? {
            WatchedOutput::Bytes(bytes) => seen += bytes.len() as u64,
            WatchedOutput::Exit => {
                return Err(Error::Unexpected { what: "a painter", found: "its end".into() });
            }
        }
    }
    Ok(())
}

fn look_until(server: &Server, pane: &str, length: u64) -> Result<(), Error> {
    let mut client = server.client()?;
    let tape = server.state.tape(pane)?;
    while tape.end() < length {
        client.action("pane:screen", &json!({ "paneId": pane }))?;
        // not a wait: this is how often the screen is polled.
        thread::sleep(LOOK);
    }
    client.action("pane:screen", &json!({ "paneId": pane })).map(drop)
}

/// Waits until the server has seen this much of a pane, with few requests: they cost it time, too.
fn await_bytes(server: &Server, pane: &str, length: u64) -> Result<(), Error> {
    let tape = server.state.tape(pane)?;
    let begun = Instant::now();
    while tape.end() < length {
        interrupt::check()?;
        if PATIENCE < begun.elapsed() {
            return Err(Error::Timeout { what: "a painter".into(), limit: PATIENCE });
        }
        thread::sleep(Duration::from_millis(2));
    }
    let mut client = server.client()?;
    let seen = |client: &mut crate::http::Client| {
        let pane = client.action("pane:get", &json!({ "paneId": pane }))?;
        Ok::<_, Error>(pane["bytes"].as_u64().unwrap_or_default())
    };
    while seen(&mut client)? < length {
        interrupt::check()?;
    }
    Ok(())
}
