//! D4, D8, D19: floods, typing and new programs, beside two rivals that do the same in JavaScript.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Row;
use super::echo::{open, times};
use super::to_reader::follow;
use crate::child::READY;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::flood::{ExpectedOutput, FloodKind};
use crate::http::Client;
use crate::plan::Plan;
use crate::relay::Relay;
use crate::rival::{Kind, Rival};
use crate::server::{self, Server};
use crate::stats::{self, Samples};
use crate::ws::{Frame, Socket};

pub(super) const ROW: Row =
    Row { name: "D4", doc: "floods, typing and new programs beside rivals (with --rivals)", run };

/// Always as much: with less, a rival has not begun to slow down.
const BYTES: u64 = 40 << 20;
const ECHOES: u64 = 800;
const PROGRAMS: u64 = 40;
/// How long a rival may take for one flood; its rate is then that of what came.
const PATIENCE: Duration = Duration::from_secs(60);

/// How good each figure has to be.
struct RivalThresholds {
    flood: (f64, f64),
    echo: (f64, f64),
    spawn: Option<(f64, f64)>,
}

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    if !plan.rivals {
        return Ok(Vec::new());
    }
    let opencode =
        RivalThresholds { flood: (4.0, 10.0), echo: (0.05, 1.0 / 60.0), spawn: Some((8.0, 20.0)) };
    let node = RivalThresholds { flood: (1.0, 2.0), echo: (1.5, 1.0), spawn: None };
    let mut figures = Vec::new();
    for (kind, thresholds) in [(Kind::NodePty, node), (Kind::OpencodePty, opencode)] {
        match beside(plan, kind, &thresholds) {
            Ok(found) => figures.extend(found),
            // A rival that is not installed or breaks is reported; the others are measured anyway.
            Err(error) => {
                crate::print_progress(format_args!(
                    "D4: {} could not be measured: {error}",
                    kind.name()
                ));
            }
        }
    }
    Ok(figures)
}

fn beside(plan: &Plan, kind: Kind, thresholds: &RivalThresholds) -> Result<[Figure; 4], Error> {
    let server = Server::start(plan)?;
    let rival = Rival::of(kind)?;
    let name = kind.name();
    let bytes = BYTES;
    let flood = plan.flood(bytes);
    let (theirs, ours) = plan.in_turn(
        || rival_flood(&rival, &flood, bytes),
        || Ok(Quantity::throughput(bytes, follow(&server, &flood, bytes)?)),
    )?;
    let best = |rates: Vec<Quantity>| {
        let best = rates.iter().map(|rate| rate.value).fold(0.0, f64::max);
        Quantity::new(best, Unit::MegabytesPerSecond)
    };
    let what = format!("{} MiB to a WebSocket reader, beside {name}", bytes >> 20);
    let flooded = Figure::ratio(what, best(theirs), best(ours));
    let echo = plan.child(&["echo"]);
    let count = plan.amount(ECHOES);
    let (theirs, ours) = plan.in_turn(
        || rival_echo(&rival, &echo, count),
        || {
            let mut relay = Relay::start(&echo)?;
            let bare = times(count, || relay.echo())?;
            let mut watch = open(&server, &echo)?;
            Ok((bare, times(count, || watch.echo())?))
        },
    )?;
    let (bare, ours): (_, Vec<_>) = ours.into_iter().unzip();
    let p50 = |times| Quantity::micros(Samples::of(times).median());
    let theirs = p50(theirs);
    let what = format!("typed to echoed, p50, beside {name}");
    // No program that sleeps until input comes is much faster than that.
    let bare = Figure::ratio(format!("{what}, over a bare relay"), theirs, p50(bare)).of("D8");
    let echoed = Figure::ratio(what, theirs, p50(ours)).of("D8");
    let argv = vec!["/bin/true".to_owned()];
    let (theirs, ours) =
        plan.in_turn(|| rival_spawns(&rival, &argv), || our_spawns(&server, &argv))?;
    let rate = |times: Vec<Duration>| Quantity::rate(PROGRAMS as f64, stats::best(times));
    let spawned = Figure::ratio(format!("new programs, beside {name}"), rate(theirs), rate(ours));
    let spawned = spawned.of("D19");
    Ok([
        flooded.at_least(thresholds.flood.0, thresholds.flood.1),
        echoed.at_most(thresholds.echo.0, thresholds.echo.1),
        bare,
        thresholds.spawn.map_or(spawned.clone(), |(must, target)| spawned.at_least(must, target)),
    ])
}

fn our_spawns(server: &Server, argv: &[String]) -> Result<Duration, Error> {
    let mut client = server.client()?;
    let begun = Instant::now();
    (0..PROGRAMS).try_for_each(|_| server::open(&mut client, argv).map(drop))?;
    Ok(begun.elapsed())
}

fn rival_spawns(rival: &Rival, argv: &[String]) -> Result<Duration, Error> {
    let mut client = Client::connect(&rival.address)?;
    let begun = Instant::now();
    (0..PROGRAMS).try_for_each(|_| spawn(&mut client, argv).map(drop))?;
    Ok(begun.elapsed())
}

/// Starts a program at a rival; returns the path of its socket.
fn spawn(client: &mut Client, argv: &[String]) -> Result<String, Error> {
    let body = client.ask("POST /spawn", &json!({ "argv": argv }).to_string())?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = answer["id"].as_str().map(|id| format!("/{id}"));
    id.ok_or_else(|| Error::Unexpected { what: "a rival's answer", found: answer.to_string() })
}

fn rival_flood(rival: &Rival, argv: &[String], bytes: u64) -> Result<Quantity, Error> {
    let length = ExpectedOutput::of(FloodKind::Plain).length(FloodKind::Plain, bytes);
    let path = spawn(&mut Client::connect(&rival.address)?, argv)?;
    let begun = Instant::now();
    let mut socket = Socket::open(&rival.address, &path)?;
    let mut seen = 0;
    while seen < length && begun.elapsed() < PATIENCE {
        match printed(&mut socket)? {
            Some(text) => seen += text.len() as u64,
            None => break,
        }
    }
    // As much of the program's own bytes as arrived of those of its terminal.
    let arrived = (bytes as f64 * seen as f64 / length as f64) as u64;
    Ok(Quantity::throughput(arrived, begun.elapsed()))
}

fn rival_echo(rival: &Rival, argv: &[String], count: u64) -> Result<Vec<Duration>, Error> {
    let path = spawn(&mut Client::connect(&rival.address)?, argv)?;
    let mut socket = Socket::open(&rival.address, &path)?;
    let receive = |socket: &mut Socket, expect: &[u8]| match printed(socket)? {
        Some(text) if text.as_bytes() == expect => Ok(()),
        other => Err(Error::Unexpected { what: "a rival's echo", found: format!("{other:?}") }),
    };
    receive(&mut socket, READY)?;
    times(count, || {
        socket.send("x")?;
        receive(&mut socket, b"x")
    })
}

/// What a rival's program printed next. None at its end.
fn printed(socket: &mut Socket) -> Result<Option<String>, Error> {
    let text = match socket.receive()? {
        Frame::Text(bytes) | Frame::Binary(bytes) => String::from_utf8_lossy(bytes),
        Frame::Close => return Ok(None),
    };
    if !text.starts_with("{\"type\"") {
        return Ok(Some(text.into_owned()));
    }
    let message: Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(message["rawData"].as_str().map(str::to_owned))
}
