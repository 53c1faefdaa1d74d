//! The end of a run: everything is looked at once more, ended, and found to be gone.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::changes::Changer;
use super::fault_injector::FaultInjector;
use super::history::{self, History};
use super::ledger::{Entry, Invariant};
use super::load;
use super::pane_lifecycle::{self, EndMethod};
use super::processes;
use super::run_state::ChaosRun;
use crate::{Tmux, WAIT_TIMEOUT, gone, kill9, signal};

/// How long an idle tmux is waited for.
const IDLE: Duration = Duration::from_secs(10);

/// After the load has ended: one more `kill -9`, then everything that was answered must be there.
pub(super) fn check(
    conductor: &mut FaultInjector<'_>,
    world: &ChaosRun,
    changers: Vec<Changer<'_>>,
) {
    conductor.repair();
    conductor.kill_server(Duration::ZERO);
    load::look(world);
    for mut changer in changers {
        changer.look_at_all();
    }
    end_all(world);
    conductor.look();
}

/// Ends what is left: the half by exit, the rest by kill and close.
fn end_all(world: &ChaosRun) {
    let entries: Vec<_> = world.ledger.entries().into_iter().enumerate().collect();
    thread::scope(|scope| {
        for share in entries.chunks(entries.len().div_ceil(4).max(1)) {
            scope.spawn(|| end_some(world, share));
        }
    });
    let list = world.call("pane:list", &json!({})).accepted();
    let text = || format!("panes are left: {list:?}");
    world.ledger.check(Invariant::Left, list == Some(json!([])), text);
}

fn end_some(world: &ChaosRun, entries: &[(usize, Entry)]) {
    for (n, entry) in entries {
        if world.ledger.has_failed() {
            return;
        }
        let deeds = entry.operations;
        let way = match (deeds.keeper_killed || deeds.damaged, n % 4) {
            (true, _) => EndMethod::Close,
            (false, 0) => EndMethod::Kill,
            (false, _) => EndMethod::Exit,
        };
        world.ledger.claim(&entry.id);
        pane_lifecycle::end(world, &entry.id, way);
    }
}

/// An idle tmux usually exits by itself after two seconds. One that was left by a killed server may
/// stay, which is not an invariant so far: it is counted, and killed here.
fn end_tmux(conductor: &FaultInjector<'_>, world: &ChaosRun) {
    let tmux = Tmux::of(&conductor.server).pid();
    let Some(pid) = tmux.filter(|pid| !gone(*pid, IDLE)) else { return };
    world.ledger.log.line(&format!("an idle tmux is left: {}", processes::words(pid)));
    world.ledger.figure("idle tmux servers left");
    kill9(pid);
}

/// After the last event: the whole journal once more, and a server that ends when it is asked to.
pub(super) fn close(conductor: &mut FaultInjector<'_>, world: &ChaosRun, history: &History) {
    history::audit(world, history);
    conductor.look();
    end_tmux(conductor, world);
    let server = conductor.server.pid();
    signal(server, Signal::TERM);
    if !gone(server, WAIT_TIMEOUT) {
        world.ledger.fail(Invariant::Left, "the server does not end when it is asked to");
        return;
    }
    let _ = conductor.server.child().wait();
    let home = world.home.to_string_lossy().into_owned();
    let left = || [processes::with(&world.run), processes::with(&home)].concat();
    for pid in left() {
        if !gone(pid, WAIT_TIMEOUT) {
            let text = format!("{} is left", processes::words(pid));
            world.ledger.fail(Invariant::Left, text);
        }
    }
    let left = left();
    world.ledger.check(Invariant::Left, left.is_empty(), || format!("{left:?} is left"));
}
