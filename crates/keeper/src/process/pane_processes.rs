//! The processes of a pane: every descendant of its keeper.
//!
//! On Linux the keeper is a subreaper: a process whose parent dies becomes the keeper's child,
//! whatever sessions and groups it made for itself. So the keeper's descendants are exactly the
//! pane's processes, and none of them can escape; once `waitpid` says that the keeper has no child,
//! all of them are gone. Elsewhere the pane's processes are the program, its descendants and the
//! members of their process groups.

use std::io;
use std::os::fd::AsFd;

use paned_model::frame::Survivor;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::termios::tcgetpgrp;

/// A process of the pane that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaneProcess {
    pub(crate) pid: Pid,
    pub(crate) command: String,
}

impl From<PaneProcess> for Survivor {
    fn from(process: PaneProcess) -> Self {
        Self { pid: process.pid.as_raw_nonzero().get().unsigned_abs(), command: process.command }
    }
}

/// Makes this process the subreaper, which adopts orphaned descendants.
pub(crate) fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Which signal the pane's processes get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KillSignal {
    /// `SIGTERM`, and `SIGHUP` for those that react to it.
    Terminate,
    /// `SIGHUP` again, for those that ignore `SIGTERM`.
    Remind,
    /// `SIGKILL`.
    ForceKill,
}

/// Signals every process of the pane. A process that is gone by now, or belongs to another user,
/// shows in the next scan.
pub(crate) fn push(leader: Pid, how: KillSignal) {
    system::push(leader, how);
}

/// Sends the pane's program a signal. Signals that a terminal sends go to its foreground process
/// group.
pub(crate) fn signal(terminal: &impl AsFd, leader: Pid, signal: Signal) {
    let foreground = tcgetpgrp(terminal).ok();
    match (signal, foreground) {
        (Signal::INT | Signal::QUIT, Some(group)) => drop(kill_process_group(group, signal)),
        (Signal::HUP, Some(group)) => {
            let _ = kill_process_group(group, signal);
            if group != leader {
                let _ = kill_process(leader, signal);
            }
        }
        _ => drop(kill_process(leader, signal)),
    }
}

/// Whether orphaned descendants become our children, so that having no child means having no
/// descendant.
pub(crate) const KEEPS_ALL: bool = system::KEEPS_ALL;

/// Every process of the pane that has not ended, as far as one scan finds them.
pub(crate) fn of_pane(leader: Pid) -> Vec<PaneProcess> {
    system::of_pane(leader)
}

/// Whether all remaining processes have ended and cannot be reaped by us: a debugger traces them.
pub(crate) fn is_over() -> bool {
    system::is_over()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::process::{Pid, Signal, getpid};

    use super::{KillSignal, PaneProcess};
    use crate::process::identity;
    use crate::process::identity::ProcessTree;

    /// Descendants are reparented to us: see [`super::become_subreaper`].
    pub(crate) const KEEPS_ALL: bool = true;

    fn tree() -> ProcessTree {
        ProcessTree::of(getpid().as_raw_nonzero().get())
    }

    pub(crate) fn of_pane(_: Pid) -> Vec<PaneProcess> {
        let process = |found: identity::Process| {
            let pid = Pid::from_raw(found.pid)?;
            Some(PaneProcess { pid, command: found.command })
        };
        tree().living().into_iter().filter_map(process).collect()
    }

    pub(crate) fn is_over() -> bool {
        let before = tree();
        before.processes.iter().all(|process| process.is_zombie) && tree().is_over(&before)
    }

    pub(crate) fn push(_: Pid, how: KillSignal) {
        match how {
            KillSignal::Terminate => tree().living().iter().for_each(ask),
            KillSignal::Remind => tree().living().iter().for_each(remind),
            KillSignal::ForceKill => identity::kill_all(|| tree().living()),
        }
    }

    fn ask(process: &identity::Process) {
        process.signal(Signal::TERM);
        if reacts_to_hangup(process.pid) {
            process.signal(Signal::HUP);
        }
        // A stopped process handles `SIGTERM` only once it continues.
        process.signal(Signal::CONT);
    }

    fn remind(process: &identity::Process) {
        if has_signal(process.pid, "SigIgn:", Signal::TERM) {
            process.signal(Signal::HUP);
        }
    }

    /// Whether it catches `SIGHUP` or ignores `SIGTERM`: interactive shells ignore `SIGTERM` and
    /// handle `SIGHUP`, and a program that handles `SIGHUP` has chosen what to do then.
    fn reacts_to_hangup(pid: i32) -> bool {
        has_signal(pid, "SigCgt:", Signal::HUP) || has_signal(pid, "SigIgn:", Signal::TERM)
    }

    /// Whether a signal is in one of a process's masks.
    fn has_signal(pid: i32, mask: &str, signal: Signal) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix(mask));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask & (1 << (signal.as_raw() - 1)) != 0
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    use super::{KillSignal, PaneProcess};

    /// A daemon is reparented to init; only its parent or its process group can tell that it is
    /// ours.
    pub(crate) const KEEPS_ALL: bool = false;

    pub(crate) fn is_over() -> bool {
        true
    }

    pub(crate) fn push(leader: Pid, how: KillSignal) {
        let signals: &[Signal] = match how {
            KillSignal::Terminate => &[Signal::TERM, Signal::HUP, Signal::CONT],
            KillSignal::Remind => &[],
            KillSignal::ForceKill => &[Signal::KILL],
        };
        for process in of_pane(leader) {
            signals.iter().for_each(|signal| drop(kill_process(process.pid, *signal)));
        }
    }

    /// `ps` is on every system; a kill is rare enough to start a process for it.
    pub(crate) fn of_pane(leader: Pid) -> Vec<PaneProcess> {
        let columns = ["-axo", "pid=,ppid=,pgid=,stat=,comm="];
        let Ok(output) = Command::new("/bin/ps").args(columns).output() else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows: Vec<_> = text.lines().filter_map(row).collect();
        let mut ours = vec![leader.as_raw_nonzero().get()];
        // Children of ours and members of our groups, until no more are found.
        loop {
            let more = rows.iter().filter(|row| {
                !ours.contains(&row.0) && (ours.contains(&row.1) || ours.contains(&row.2))
            });
            let more: Vec<_> = more.map(|row| row.0).collect();
            if more.is_empty() {
                break;
            }
            ours.extend(more);
        }
        let living = rows.into_iter().filter(|row| ours.contains(&row.0) && !row.3);
        living
            .filter_map(|(pid, _, _, _, command)| {
                Some(PaneProcess { pid: Pid::from_raw(pid)?, command })
            })
            .collect()
    }

    fn row(line: &str) -> Option<(i32, i32, i32, bool, String)> {
        let mut fields = line.split_ascii_whitespace();
        let mut number = || fields.next()?.parse().ok();
        let pid = number()?;
        let parent = number()?;
        let group = number()?;
        let ended = fields.next()?.starts_with('Z');
        Some((pid, parent, group, ended, fields.collect::<Vec<_>>().join(" ")))
    }
}
