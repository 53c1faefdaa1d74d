//! The thread that makes the faults. It alone owns the server's process.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::damage;
use super::journal_damage;
use super::ledger::{Entry, Invariant};
use super::load::pick;
use super::pane_lifecycle;
use super::processes;
use super::run_state::ChaosRun;
use super::sandbox::ROOM;
use super::schedule::{Damage, Fault};
use crate::{SeededRng, Server, Tmux, WAIT_TIMEOUT, binary, children_of, gone, kill9, signal};

/// How long between two looks at the server's status.
const BETWEEN: Duration = Duration::from_millis(20);

/// Makes one fault after the other.
pub(super) struct FaultInjector<'a> {
    world: &'a ChaosRun,
    pub(super) server: Server,
    rng: SeededRng,
    disk: Option<PathBuf>,
    enabled: Vec<String>,
    /// Keepers that are stopped: until when, the process, the pane.
    stopped: Vec<(Instant, u32, String)>,
}

impl<'a> FaultInjector<'a> {
    pub(super) fn new(
        world: &'a ChaosRun,
        server: Server,
        disk: Option<PathBuf>,
        enabled: &[String],
    ) -> Self {
        let rng = world.rng(0);
        Self { world, server, rng, disk, enabled: enabled.to_vec(), stopped: Vec::new() }
    }

    /// Breaks things until this moment.
    pub(super) fn run(&mut self, until: Instant) {
        while self.world.is_running() && Instant::now() < until {
            let pause = Duration::from_millis(50 + self.rng.below(1500));
            let fault = Fault::random(&mut self.rng, &self.enabled);
            std::thread::sleep(pause);
            self.look();
            self.world.ledger.log.line(&format!("fault: {fault:?}"));
            self.apply(fault);
            self.resume(Instant::now());
            self.look();
        }
        self.repair();
    }

    fn apply(&mut self, fault: Fault) {
        match fault {
            Fault::KillServer { pause } => self.kill_server(Duration::from_millis(pause)),
            Fault::StopServer { millis } => self.stop_server(Duration::from_millis(millis)),
            Fault::Upgrade => self.upgrade(),
            Fault::KillKeeper { choice } => self.kill_keeper(choice),
            Fault::StopKeepers { choice, count, millis, kill_server } => {
                self.stop_keepers(choice, count, Duration::from_millis(millis));
                if kill_server {
                    self.kill_server(Duration::ZERO);
                }
            }
            Fault::KillForkServer => self.kill_fork_server(),
            Fault::KillTmux => self.kill_tmux(),
            Fault::FullDisk { millis, kill_server } => {
                self.full_disk(Duration::from_millis(millis), kill_server);
            }
            Fault::FewFiles { spare, millis } => {
                self.few_files(spare, Duration::from_millis(millis));
            }
            Fault::DamageJournal { damage, events } => {
                journal_damage::journal(self.world, damage, events);
            }
            Fault::ForkChain => self.fork_chain(),
            Fault::ManyPanes => pane_lifecycle::make_many(self.world, &mut self.rng),
            Fault::DamagePane { choice, damage, kill_server } => {
                self.damage(choice, damage);
                if kill_server {
                    self.kill_server(Duration::ZERO);
                }
            }
        }
    }

    fn fork_chain(&self) {
        pane_lifecycle::kill_chain(self.world);
        self.world.ledger.figure("kills of a fork chain");
    }

    /// Everything that was stopped goes on.
    pub(super) fn repair(&mut self) {
        self.resume(Instant::now() + Duration::from_secs(3600));
    }

    /// The server is there, unless we killed it.
    pub(super) fn look(&mut self) {
        match self.server.child().try_wait() {
            Ok(None) => self.world.ledger.held(Invariant::Alive, 1),
            ended => {
                let log = self.server.log();
                let tail: Vec<&str> = log.lines().rev().take(10).collect();
                let text = format!("the server ended by itself: {ended:?}; last lines: {tail:#?}");
                self.world.ledger.fail(Invariant::Alive, text);
            }
        }
    }

    /// Kills the server, and starts it again after a pause.
    pub(super) fn kill_server(&mut self, pause: Duration) {
        self.server.kill();
        self.world.ledger.figure("kill -9 of the server");
        std::thread::sleep(pause);
        let start = Instant::now();
        match self.server.try_start_again() {
            Ok(()) => {
                self.world.ledger.log.line(&format!("started in {:?}", start.elapsed()));
            }
            Err(error) => self.world.ledger.fail(Invariant::Alive, error),
        }
    }

    fn stop_server(&self, length: Duration) {
        signal(self.server.pid(), Signal::STOP);
        self.world.ledger.figure("stops of the server");
        std::thread::sleep(length);
        signal(self.server.pid(), Signal::CONT);
    }

    fn upgrade(&mut self) {
        let mut command = self.server.command(&["server", "upgrade"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let Ok(mut child) = command.spawn() else { return };
        let is_done = gone(child.id(), WAIT_TIMEOUT);
        let _ = child.kill();
        let output = child.wait_with_output();
        let is_good = output.as_ref().is_ok_and(|output| output.status.success());
        self.world.ledger.figure("upgrades");
        if !is_done || !is_good {
            let text = format!("`paned server upgrade`: in time {is_done}, {output:?}");
            self.world.ledger.fail(Invariant::Deadline, text);
        }
    }

    /// A pane that no other thread uses, claimed.
    fn claim(&self, choice: u64) -> Option<Entry> {
        let open = self.world.ledger.open().into_iter();
        let panes: Vec<Entry> = open.filter(|entry| !entry.is_claimed).collect();
        let pane = pick(&panes, choice)?;
        let runs = processes::runs(pane.keeper, &binary());
        (runs && self.world.ledger.claim(&pane.id)).then(|| pane.clone())
    }

    fn kill_keeper(&self, choice: u64) {
        let Some(pane) = self.claim(choice) else { return };
        self.world.ledger.log.line(&format!("kill -9 of the keeper of {}", pane.id));
        self.world.ledger.change(&pane.id, |entry| entry.operations.keeper_killed = true);
        kill9(pane.keeper);
        self.world.ledger.figure("kill -9 of a keeper");
        self.world.ledger.release(&pane.id);
    }

    fn stop_keepers(&mut self, choice: u64, count: u64, length: Duration) {
        for n in 0..count {
            let Some(pane) = self.claim(choice + n * 7) else { continue };
            self.world.ledger.log.line(&format!("stop of the keeper of {}", pane.id));
            signal(pane.keeper, Signal::STOP);
            self.stopped.push((Instant::now() + length, pane.keeper, pane.id));
            self.world.ledger.figure("stops of a keeper");
        }
    }

    /// Lets the keepers go on whose time has come.
    fn resume(&mut self, now: Instant) {
        let stopped = std::mem::take(&mut self.stopped);
        for (until, keeper, pane) in stopped {
            if now < until {
                self.stopped.push((until, keeper, pane));
                continue;
            }
            signal(keeper, Signal::CONT);
            self.world.ledger.log.line(&format!("the keeper of {pane} goes on"));
            self.world.ledger.release(&pane);
        }
    }

    fn kill_fork_server(&self) {
        let is_fork_server = |pid: &u32| {
            let words = processes::words(*pid);
            words.contains("fork-server")
        };
        for pid in children_of(self.server.pid()).into_iter().filter(is_fork_server) {
            kill9(pid);
            self.world.ledger.figure("kill -9 of the fork server");
        }
    }

    fn kill_tmux(&self) {
        if let Some(pid) = Tmux::of(&self.server).pid() {
            kill9(pid);
            self.world.ledger.figure("kill -9 of tmux");
        }
    }

    fn full_disk(&mut self, length: Duration, kill_server: bool) {
        let Some(disk) = self.disk.clone() else { return };
        if let Err(error) = damage::fill(&disk) {
            self.world.ledger.log.line(&format!("the disk was not filled: {error}"));
        }
        self.world.ledger.figure("full disks");
        std::thread::sleep(length);
        if kill_server {
            self.kill_server(Duration::ZERO);
            std::thread::sleep(length);
        }
        if let Err(error) = damage::empty(&disk, ROOM) {
            self.world.ledger.fail(Invariant::Left, error.to_string());
        }
        self.world.ledger.log.line("the disk has room again");
        self.wait_until_written();
    }

    /// The server writes the journal again by itself once there is space. Until then it refuses
    /// changes, as it must.
    fn wait_until_written(&self) {
        let start = Instant::now();
        let has_trouble = || {
            let status = self.world.call("server:status", &json!({})).accepted();
            status.is_none_or(|status| status.get("trouble").is_some())
        };
        while has_trouble() {
            if WAIT_TIMEOUT < start.elapsed() {
                let text =
                    format!("the journal is not written {WAIT_TIMEOUT:?} after there was room");
                return self.world.ledger.fail(Invariant::Deadline, text);
            }
            std::thread::sleep(BETWEEN);
        }
        self.world.ledger.log.line(&format!("the journal is written after {:?}", start.elapsed()));
    }

    fn few_files(&self, spare: u64, length: Duration) {
        let pid = self.server.pid();
        let Ok(before) = damage::few_files(pid, spare) else { return };
        self.world.ledger.figure("low limits of descriptors");
        std::thread::sleep(length);
        if let Err(error) = damage::many_files(pid, before) {
            self.world.ledger.log.line(&format!("the limit stays low: {error}"));
        }
    }

    fn damage(&self, choice: u64, damage: Damage) {
        let Some(pane) = self.claim(choice) else { return };
        self.world.ledger.change(&pane.id, |entry| entry.operations.damaged = true);
        let done = damage::pane(&self.world.folder(&pane.id), damage);
        self.world.ledger.log.line(&format!("{damage:?} of {}: {done:?}", pane.id));
        self.world.ledger.figure("damaged files");
        self.world.ledger.release(&pane.id);
    }
}
