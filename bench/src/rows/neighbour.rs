//! X1: whether a pane that prints without end keeps to its memory, and leaves its neighbours alone.
//!
//! The flood is stopped and continued in turn, so that typing is measured with it and without it in
//! the same minutes: what else the machine does hits both alike. A bare relay is typed into as
//! well: what happens to it beside the flood is the system's doing, not ours.

use std::slice;
use std::thread;
use std::time::{Duration, Instant};

use paned_keeper::tape::TapeReader;
use rustix::process::{Pid, Signal, kill_process};

use super::Row;
use super::echo::open;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity};
use crate::pane_watcher::PaneWatcher;
use crate::plan::Plan;
use crate::relay::Relay;
use crate::server::{self, Server};
use crate::stats::Samples;
use crate::{interrupt, proc};

pub(super) const ROW: Row =
    Row { name: "X1", doc: "10 GB through one pane, and typing in the next", run };

const BYTES: u64 = 10_000_000_000;
/// How much is printed before memory is measured first.
const EARLY: u64 = 1_000_000_000;
/// What the flood prints before it is stopped again.
const TURN: u64 = 100_000_000;
/// Echoes while it is stopped.
const ECHOES: usize = 100;
/// Echoes after each change that are not counted: what was printed before it is still on its way.
const SETTLING: usize = 10;
/// Users type no faster.
const PAUSE: Duration = Duration::from_millis(5);
/// How long one turn may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Private bytes.
struct Memory {
    server: u64,
    keeper: u64,
}

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let echo = plan.child(&["echo"]);
    let mut probe = EchoProbe { neighbour: open(&server, &echo)?, relay: Relay::start(&echo)? };
    let pane = server::open(&mut server.client()?, &plan.flood(u64::MAX))?;
    let flood = Flood::find(server.state.tape(&pane)?)?;
    let bytes = plan.amount(BYTES);
    let mut quiet = Times::default();
    let mut beside = Times::default();
    let mut early = None;
    while flood.tape.end() < bytes {
        flood.send(Signal::STOP)?;
        probe.type_while(&mut quiet, |typed| typed < ECHOES)?;
        flood.send(Signal::CONT)?;
        let turn = flood.tape.end() + TURN;
        probe.type_while(&mut beside, |_| flood.tape.end() < turn)?;
        if early.is_none() && plan.amount(EARLY) <= flood.tape.end() {
            early = Some(memory(&server, &pane)?);
        }
    }
    let late = memory(&server, &pane)?;
    server::close(&mut server.client()?, slice::from_ref(&pane))?;
    let early = early.as_ref().unwrap_or(&late);
    let grown = |what: &str, early, late| {
        let what = format!("private memory of the {what} after {:.1} GB", bytes as f64 / 1e9);
        Figure::ratio(what, Quantity::mib(early), Quantity::mib(late)).at_most(1.5, 1.1)
    };
    let mut figures = vec![
        grown("server", early.server, late.server),
        grown("keeper", early.keeper, late.keeper),
    ];
    figures.extend(typing(quiet, beside));
    Ok(figures)
}

fn memory(server: &Server, pane: &str) -> Result<Memory, Error> {
    let keeper = proc::private(server.state.tape(pane)?.keeper())?;
    Ok(Memory { server: proc::private(server.pid())?, keeper })
}

/// Typing without the flood and beside it: into the neighbour, and over the relay.
fn typing(quiet: Times, beside: Times) -> [Figure; 4] {
    let figure = |what: &str, quiet: &Samples, beside: &Samples, percent| {
        let at = |times: &Samples| Quantity::micros(times.percentile(percent));
        Figure::times(format!("typed to echoed beside that, {what}"), at(quiet), at(beside))
    };
    let [ours, ours_beside] = [quiet.neighbour, beside.neighbour].map(|one| Samples::of([one]));
    let [bare, bare_beside] = [quiet.relay, beside.relay].map(|one| Samples::of([one]));
    [
        figure("p50", &ours, &ours_beside, 50),
        figure("p99", &ours, &ours_beside, 99).at_most(3.0, 1.5),
        figure("over a bare relay, p50", &bare, &bare_beside, 50),
        figure("over a bare relay, p99", &bare, &bare_beside, 99),
    ]
}

/// The program that floods.
struct Flood {
    tape: TapeReader,
    program: Pid,
}

impl Flood {
    fn find(tape: TapeReader) -> Result<Self, Error> {
        let program = tape.pid().and_then(proc::pid);
        let found = || Error::Unexpected { what: "a flood", found: "no program".into() };
        Ok(Self { tape, program: program.ok_or_else(found)? })
    }

    fn send(&self, signal: Signal) -> Result<(), Error> {
        kill_process(self.program, signal).doing("stop a flood or let it go on")
    }
}

/// How long each echo took.
#[derive(Default)]
struct Times {
    neighbour: Vec<Duration>,
    relay: Vec<Duration>,
}

/// A client that types into the pane beside the flood, and over a relay.
struct EchoProbe {
    neighbour: PaneWatcher,
    relay: Relay,
}

impl EchoProbe {
    /// Types at a user's pace while `goes_on` says so, which gets how much was typed so far.
    fn type_while(
        &mut self,
        times: &mut Times,
        goes_on: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        for typed in 0.. {
            interrupt::check()?;
            if PATIENCE < begun.elapsed() {
                return Err(Error::Timeout { what: "a flood".into(), limit: PATIENCE });
            }
            let neighbour = took(|| self.neighbour.echo())?;
            let relay = took(|| self.relay.echo())?;
            if SETTLING <= typed {
                times.neighbour.push(neighbour);
                times.relay.push(relay);
            }
            if !goes_on(typed) {
                break;
            }
        }
        Ok(())
    }
}

/// How long it takes, after a pause.
fn took(act: impl FnOnce() -> Result<(), Error>) -> Result<Duration, Error> {
    // not a wait: this is how fast a user types.
    thread::sleep(PAUSE);
    let begun = Instant::now();
    act()?;
    Ok(begun.elapsed())
}
