//! `make chaos`: a ledger over fifty panes while everything around them is killed, stopped and
//! broken.
//!
//! Threads type, read, change and watch. Each notes in the [`ledger`] what it asks before it asks,
//! and the answer afterwards. One more thread injects the faults, in an order that only the seed
//! decides. What must hold is listed in [`ledger::Invariant`]; a call that was not answered is
//! never judged as if it had been.

mod changes;
mod client;
mod damage;
mod fault_injector;
mod finish;
mod history;
mod inputs;
mod journal_damage;
mod ledger;
mod line;
mod load;
mod log;
mod options;
mod output;
mod pane_lifecycle;
mod processes;
mod program;
mod report;
mod run_state;
mod sandbox;
mod schedule;

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use self::changes::{CHANGERS, Changer};
use self::fault_injector::FaultInjector;
use self::history::History;
use self::ledger::Ledger;
use self::log::Log;
use self::options::Options;
use self::run_state::ChaosRun;
use self::sandbox::Sandbox;
use crate::Server;

const WRITERS: u64 = 3;
const ASKERS: u64 = 2;
const FOLLOWERS: usize = 2;
const EVENT_READERS: u64 = 2;
const LIVES: u64 = 2;

/// The settings of the server: tapes that wrap, and a journal that keeps everything.
const SETTINGS: [(&str, &str); 2] =
    [("PANED_TAPE_BYTES", "2097152"), ("PANED_EVENTS_KEPT", "100000000")];
/// How many panes there may be beyond those of the load.
const SPARE: usize = 10;

/// Runs what the command line says: chaos, or one of its panes' programs.
#[must_use]
pub fn main(args: &[String]) -> ExitCode {
    if let Some((word, rest)) = args.split_first()
        && word == program::WORD
    {
        return program::run(rest);
    }
    let Some(options) = Options::parse(args) else {
        report::usage();
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            report::broken(&options, &error);
            ExitCode::FAILURE
        }
    }
}

/// Runs chaos in a sandbox; whether everything held.
fn run(options: &Options) -> io::Result<bool> {
    let Some(nest) = Sandbox::find() else {
        report::begin(options);
        return sandbox::run_inside(options);
    };
    let log = Log::create(&nest.folder.join("operations.log"))?;
    let most = (options.panes + SPARE).to_string();
    let settings = [SETTINGS.as_slice(), &[("PANED_MAX_PANES", &most)]].concat();
    let server = Server::start_set("", &settings);
    let (home, socket) = (server.home().to_owned(), server.socket());
    let mut world = ChaosRun::new(Ledger::new(log), options.seed, home, socket);
    world.panes = options.panes;
    let history = History::default();
    let start = Instant::now();
    let mut conductor = FaultInjector::new(&world, server, nest.disk.clone(), &options.faults);
    drive(&world, &mut conductor, &history, start + options.length());
    world.ledger.log.flush();
    let is_good = !world.ledger.has_failed();
    if !is_good {
        keep(&world.home, &nest.folder);
    }
    drop(conductor);
    sandbox::clean_up(&nest.folder);
    match sandbox::is_orphaned() {
        true => report::interrupted(),
        false => report::end(&world.ledger, options, start.elapsed()),
    }
    Ok(is_good)
}

/// Starts the panes, the load and the faults; ends and checks all of it.
fn drive(world: &ChaosRun, conductor: &mut FaultInjector<'_>, history: &History, until: Instant) {
    let mut dice = world.rng(1);
    while world.ledger.open().len() < world.panes && !world.ledger.has_failed() {
        pane_lifecycle::make(world, &mut dice);
    }
    thread::scope(|scope| {
        for reader in 0..EVENT_READERS {
            spawn(scope, "events", move || history::follow(world, history, reader));
        }
        let changers = thread::scope(|scope| {
            let changers = (0..CHANGERS)
                .map(|n| spawn(scope, "changer", move || changes::change(world, history, n)))
                .collect::<Vec<_>>();
            start_load(scope, world);
            conductor.run(until);
            world.end();
            let joined = changers.into_iter().map(thread::ScopedJoinHandle::join);
            joined.filter_map(Result::ok).collect::<Vec<Changer<'_>>>()
        });
        if !world.ledger.has_failed() {
            finish::check(conductor, world, changers);
            history::finish(world, history);
        }
        if world.ledger.has_failed() {
            // Readers of events wait on their connections: without a server these end.
            conductor.server.kill();
        }
    });
    if !world.ledger.has_failed() {
        finish::close(conductor, world, history);
    }
}

fn start_load<'scope>(scope: &'scope thread::Scope<'scope, '_>, world: &'scope ChaosRun) {
    for writer in 0..WRITERS {
        spawn(scope, "writer", move || load::write(world, writer));
    }
    for asker in 0..ASKERS {
        spawn(scope, "asker", move || load::ask(world, asker));
    }
    for share in 0..FOLLOWERS {
        spawn(scope, "follower", move || output::follow(world, share, FOLLOWERS));
    }
    for number in 0..LIVES {
        spawn(scope, "lives", move || pane_lifecycle::churn_panes(world, number));
    }
    spawn(scope, "watcher", move || load::watch(world));
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    run: impl FnOnce() -> T + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, T> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn_scoped(scope, run).expect("a thread can be started")
}

/// Copies what a failed run leaves, for the person who looks for the reason.
fn keep(home: &Path, to: &Path) {
    let mut command = std::process::Command::new("cp");
    // Sockets cannot be copied, and `cp` says so: the rest is what matters.
    let _ = command.args(["-a", "--sparse=always"]).arg(home).arg(to.join("home")).output();
}
