//! Killing a pane without its keeper, which is gone, or is alive and cannot be reached.
//!
//! While a keeper is alive, its descendants are the pane's processes, as for the keeper itself.
//! When it is gone, processes that ignore `SIGHUP` may be left; their parent is init by then. They
//! are recognised by the pane's own token in their environment, by the session of the pane's
//! program, or by descent from such a process. A process that has left the session, the environment
//! and its parents is not found.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use paned_keeper::process::identity::{Process, ProcessTree, kill_all};
use paned_keeper::process::process_watch::ProcessWatch;
use paned_keeper::tape::TapeReader;
use paned_model::PaneId;
use paned_model::frame::Survivor;
use rustix::process::{Signal, getpid, getuid};

use super::state_dir::StateDir;
use crate::ProcessFingerprint;

/// How long after `SIGKILL` a process may still be dying before it is called a survivor.
const FORCE_KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a keeper without processes may take to write the exit record and exit.
const KEEPER_EXIT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long between two scans.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// This many scans in a row must find nothing of a pane that has no keeper: a scan is not atomic.
const EMPTY_SCANS: usize = 3;
/// Start times are in whole seconds of the machine's clock; in milliseconds.
const ROUNDING: u64 = 2_000;
/// The longest time between the request for a pane and the start of its program, in milliseconds.
const MAX_START_DELAY: u64 = 30_000;

/// Kills a pane's processes and its keeper; returns the survivors. Blocks for as long as it takes.
pub(super) fn force_kill(
    state_dir: &StateDir,
    id: &PaneId,
    fingerprint: &ProcessFingerprint,
    grace: Duration,
) -> Vec<Survivor> {
    if has_finished(state_dir, id) {
        return Vec::new();
    }
    match keeper_of(&state_dir.tape(id)) {
        Some(keeper) => kill_with_keeper(&keeper, grace),
        None => {
            let find = || find_orphans(state_dir, id, fingerprint);
            terminate(&find, grace);
            kill_until_gone(&find)
        }
    }
}

/// Whether the keeper has exited by itself, as it does when no process of the pane is left: it
/// removes its socket last. Checked first, because a scan reads every process of the machine.
fn has_finished(state_dir: &StateDir, id: &PaneId) -> bool {
    let tape = TapeReader::open(&state_dir.tape(id));
    tape.is_ok_and(|tape| tape.ending().is_some() && !tape.has_live_keeper())
        && !state_dir.socket(id).exists()
}

/// Kills a live keeper after all its descendants. If those cannot be killed, the keeper stays.
fn kill_with_keeper(keeper: &Process, grace: Duration) -> Vec<Survivor> {
    let living = || ProcessTree::of(keeper.pid).living();
    terminate(&living, grace);
    let until = Instant::now() + FORCE_KILL_TIMEOUT;
    let mut before = ProcessTree::of(keeper.pid);
    loop {
        kill_all(living);
        let now = ProcessTree::of(keeper.pid);
        if now.is_over(&before) {
            break;
        }
        if until < Instant::now() {
            return now.living().into_iter().map(survivor).collect();
        }
        before = now;
        thread::sleep(POLL_INTERVAL);
    }
    let watched = ProcessWatch::new(keeper.pid.unsigned_abs());
    // A keeper that was stopped writes the exit record once it continues.
    keeper.signal(Signal::CONT);
    if !ended_within(&watched, KEEPER_EXIT_TIMEOUT) {
        keeper.signal(Signal::KILL);
    }
    let is_gone = ended_within(&watched, FORCE_KILL_TIMEOUT);
    Some(keeper.clone()).filter(|_| !is_gone).into_iter().map(survivor).collect()
}

fn ended_within(process: &ProcessWatch, time: Duration) -> bool {
    let until = Instant::now() + time;
    while !process.has_ended() {
        if until < Instant::now() {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Asks processes to exit, and waits until they have or the grace is over.
fn terminate(find: &impl Fn() -> Vec<Process>, grace: Duration) {
    if grace.is_zero() {
        return;
    }
    let asked = find();
    for process in &asked {
        // Orphans have ignored `SIGHUP` already. A stopped process handles `SIGTERM` only after
        // `SIGCONT`.
        process.signal(Signal::TERM);
        process.signal(Signal::CONT);
    }
    let lives = |process: &Process| {
        let now = Process::find(process.pid);
        now.is_some_and(|now| now.id() == process.id() && !now.is_zombie)
    };
    let until = Instant::now() + grace;
    while asked.iter().any(lives) && Instant::now() < until {
        thread::sleep(POLL_INTERVAL);
    }
}

/// Kills processes until none is found any more; returns the survivors.
fn kill_until_gone(find: &impl Fn() -> Vec<Process>) -> Vec<Survivor> {
    let until = Instant::now() + FORCE_KILL_TIMEOUT;
    let mut empty = 0;
    loop {
        kill_all(find);
        let left = find();
        empty = if left.is_empty() { empty + 1 } else { 0 };
        if EMPTY_SCANS <= empty || until < Instant::now() {
            return left.into_iter().map(survivor).collect();
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn survivor(process: Process) -> Survivor {
    Survivor { pid: process.pid.unsigned_abs(), command: process.command }
}

/// The process that has a tape open for writing: the one that the tape names, or any one if the
/// tape is damaged.
fn keeper_of(tape: &Path) -> Option<Process> {
    let reader = TapeReader::open(tape).ok();
    let recorded = reader
        .filter(TapeReader::has_live_keeper)
        .and_then(|tape| i32::try_from(tape.keeper()).ok());
    if let Some(keeper) = recorded {
        return Process::find(keeper);
    }
    let file = fs::metadata(tape).ok()?;
    let own = getpid().as_raw_nonzero().get();
    let mut others = Process::all().filter(|process| process.pid != own && !process.is_zombie);
    others.find(|process| writes(process.pid, (file.dev(), file.ino())))
}

/// Whether a process has this file open for writing: the last digit of the descriptor's flags,
/// which are octal.
fn writes(pid: i32, file: (u64, u64)) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let is_it =
        |path: &Path| fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == file);
    let is_written = |fd: &str| {
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
        let mut flags = info.lines().filter_map(|line| line.strip_prefix("flags:"));
        flags.any(|flags| flags.ends_with(['1', '2']))
    };
    open.into_iter().any(|fd| is_it(&fd.path()) && is_written(&fd.file_name().to_string_lossy()))
}

/// The live processes of a pane whose keeper is gone.
fn find_orphans(
    state_dir: &StateDir,
    id: &PaneId,
    fingerprint: &ProcessFingerprint,
) -> Vec<Process> {
    let table: HashMap<i32, Process> =
        Process::all().map(|process| (process.pid, process)).collect();
    let protected = protected_pids(state_dir, id);
    let ancestors = |pid: i32| {
        let parent = |pid: &i32| table.get(pid).map(|process| process.parent);
        std::iter::successors(Some(pid), parent).take(table.len())
    };
    let is_protected =
        |process: &&Process| ancestors(process.pid).any(|pid| protected.contains(&pid));
    let candidates = table.values().filter(|process| !process.is_zombie && 1 < process.pid);
    let candidates: Vec<&Process> = candidates.filter(|process| !is_protected(process)).collect();
    let sure = candidates.iter().filter(|process| is_of_pane(process, fingerprint));
    let sure: HashSet<i32> = sure.map(|process| process.pid).collect();
    let ours = candidates.into_iter();
    ours.filter(|process| ancestors(process.pid).any(|pid| sure.contains(&pid))).cloned().collect()
}

/// Processes that are not the pane's, with their descendants: this process, and the keepers of
/// other panes. A server that was started in a pane has that pane's environment, and so have its
/// keepers.
fn protected_pids(state_dir: &StateDir, id: &PaneId) -> HashSet<i32> {
    let panes = fs::read_dir(state_dir.panes_dir()).into_iter().flatten().flatten();
    let names = panes.filter_map(|entry| entry.file_name().to_str()?.parse::<PaneId>().ok());
    let tapes = names.filter(|name| name != id).filter_map(|name| {
        let tape = TapeReader::open(&state_dir.tape(&name)).ok()?;
        tape.has_live_keeper().then(|| i32::try_from(tape.keeper()).ok())?
    });
    tapes.chain([getpid().as_raw_nonzero().get()]).collect()
}

fn is_of_pane(process: &Process, fingerprint: &ProcessFingerprint) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| variable.starts_with(fingerprint.variable.as_bytes()))
        || is_in_session(process, fingerprint)
}

/// Whether a process is in the session of the pane's program, whose pid is the session id. The
/// system does not reuse that id while the session has members, so it is enough that the process
/// was started while the pane lived.
fn is_in_session(process: &Process, fingerprint: &ProcessFingerprint) -> bool {
    let is_member = i32::try_from(fingerprint.pid).is_ok_and(|leader| process.session == leader);
    let is_leader = process.pid == process.session;
    let owner = fs::metadata(format!("/proc/{}", process.pid)).map(|found| found.uid());
    let is_own = owner.is_ok_and(|owner| owner == getuid().as_raw());
    let first = fingerprint.created.0.saturating_sub(ROUNDING);
    let last = if is_leader {
        fingerprint.created.0 + MAX_START_DELAY
    } else {
        fingerprint.lost.0 + ROUNDING
    };
    is_member && is_own && process.started().is_some_and(|at| (first..=last).contains(&at.0))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use paned_model::Time;

    use super::*;

    fn sleeper(token: &str) -> Child {
        let mut command = Command::new("/bin/sleep");
        command.arg("1000").env_clear().env("PANED_TOKEN", token).stdin(Stdio::null());
        command.spawn().unwrap()
    }

    fn fingerprint(variable: &str) -> ProcessFingerprint {
        ProcessFingerprint {
            variable: variable.to_owned(),
            pid: u32::MAX,
            created: Time(0),
            lost: Time(0),
        }
    }

    /// Our own children are protected, so the orphan must not descend from us.
    fn orphan(token: &str) -> i32 {
        let script = "setsid sleep 1000 >/dev/null 2>&1 & echo $!";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).env("PANED_TOKEN", token);
        let printed = command.output().unwrap().stdout;
        String::from_utf8(printed).unwrap().trim().parse().unwrap()
    }

    #[test]
    fn what_has_a_panes_token_is_ended_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, id) = (StateDir::new(folder.path()), "a".parse().unwrap());
        let (ours, other) = (orphan("paned_gone_secret"), orphan("paned_other_secret"));
        let mut own = sleeper("paned_gone_secret");
        let left =
            force_kill(&state_dir, &id, &fingerprint("PANED_TOKEN=paned_gone_"), Duration::ZERO);
        assert_eq!(left, []);
        assert!(Process::find(ours).is_none_or(|process| process.is_zombie));
        let lives = |pid| Process::find(pid).is_some_and(|process| !process.is_zombie);
        assert!(lives(other), "it is another pane's");
        assert!(lives(own.id().try_into().unwrap()), "it descends from us");
        own.kill().unwrap();
        own.wait().unwrap();
        Process::find(other).unwrap().signal(Signal::KILL);
    }

    #[test]
    fn a_process_was_started_when_the_clock_says() {
        let mut child = sleeper("x");
        let process = Process::find(child.id().try_into().unwrap()).unwrap();
        let now = paned_keeper::time::now();
        assert!(now.since(process.started().unwrap()) <= ROUNDING + 1000);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
