//! Who belongs to a pane: every process that the keeper is an ancestor of.
//!
//! On Linux the keeper is a subreaper: a process whose parent dies becomes the keeper's child, whatever
//! sessions and groups it made for itself. So the keeper's descendants are exactly the pane's processes,
//! and none of them can leave. Elsewhere it is the processes of the pane's session.

use std::io;
use std::os::fd::AsFd;

use paned_model::frame::Survivor;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::termios::tcgetpgrp;

/// A process of the pane that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) command: String,
    /// Whether it is told that its terminal is gone, too: interactive shells ignore `SIGTERM` but handle
    /// that, and whoever handles it has chosen what to do then.
    pub(crate) hears_hangup: bool,
}

impl From<Process> for Survivor {
    fn from(process: Process) -> Self {
        Self { pid: process.pid.as_raw_nonzero().get().unsigned_abs(), command: process.command }
    }
}

/// Makes this process the one that orphaned descendants come to.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// What a process of the pane is asked or made to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// Please end.
    Ask,
    /// End.
    Make,
}

/// Pushes every process of the pane; answers who was there.
pub(crate) fn push(leader: Pid, how: Push) -> Vec<Process> {
    let processes = of_pane(leader);
    for process in &processes {
        let hears: &[Signal] = match how {
            Push::Ask if process.hears_hangup => &[Signal::TERM, Signal::HUP, Signal::CONT],
            // A stopped process hears `SIGTERM` only once it goes on.
            Push::Ask => &[Signal::TERM, Signal::CONT],
            Push::Make => &[Signal::KILL],
        };
        // One that is gone by now, or is another user's, shows up in the next look.
        hears.iter().for_each(|signal| system::signal(process.pid, *signal));
    }
    processes
}

/// Sends the pane's program a signal. Those that come from a terminal go to all who work in its foreground.
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

/// Every process of the pane that has not ended.
pub(crate) fn of_pane(leader: Pid) -> Vec<Process> {
    system::of_pane(leader)
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashMap;
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

    use super::Process;

    /// What `/proc/<pid>/stat` says of a process.
    struct Stat {
        parent: i32,
        command: String,
        ended: bool,
    }

    pub(super) fn of_pane(_: Pid) -> Vec<Process> {
        let table: HashMap<i32, Stat> = pids().filter_map(|pid| Some((pid, stat(pid)?))).collect();
        let keeper = getpid().as_raw_nonzero().get();
        let living = table.iter().filter(|(_, stat)| !stat.ended);
        let ours = living.filter(|(pid, _)| descends(&table, **pid, keeper));
        let process = |(pid, stat): (&i32, &Stat)| {
            let hears_hangup = hears_hangup(*pid);
            Some(Process { pid: Pid::from_raw(*pid)?, command: stat.command.clone(), hears_hangup })
        };
        ours.filter_map(process).collect()
    }

    fn pids() -> impl Iterator<Item = i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// Reads `pid (command) state ppid …`; the command may hold anything, so the last `)` counts.
    fn stat(pid: i32) -> Option<Stat> {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let line = String::from_utf8_lossy(&line);
        let (head, tail) = line.rsplit_once(')')?;
        let mut fields = tail.split_ascii_whitespace();
        let ended = matches!(fields.next()?, "Z" | "X" | "x");
        let parent = fields.next()?.parse().ok()?;
        let command = head.split_once('(')?.1.to_owned();
        Some(Stat { parent, command, ended })
    }

    fn descends(table: &HashMap<i32, Stat>, pid: i32, ancestor: i32) -> bool {
        let parent = |pid: &i32| table.get(pid).map(|stat| stat.parent);
        // Bounded, because the table was not read at one moment and may hold a circle.
        let line = std::iter::successors(Some(pid), parent).skip(1).take(table.len());
        line.into_iter().any(|pid| pid == ancestor)
    }

    /// Whether it catches `SIGHUP` or ignores `SIGTERM`.
    fn hears_hangup(pid: i32) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let holds = |mask: &str, signal: Signal| {
            let mask = status.lines().find_map(|line| line.strip_prefix(mask));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
            mask & (1 << (signal.as_raw() - 1)) != 0
        };
        holds("SigCgt:", Signal::HUP) || holds("SigIgn:", Signal::TERM)
    }

    /// Through a descriptor, so that a number given to a stranger meanwhile is not hit: the descriptor
    /// is taken first, then the process must still be ours.
    pub(super) fn signal(pid: Pid, signal: Signal) {
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
            return;
        };
        let number = pid.as_raw_nonzero().get();
        let ours = ancestors(number).any(|pid| pid == getpid().as_raw_nonzero().get());
        if ours {
            let _ = pidfd_send_signal(process, signal);
        }
    }

    fn ancestors(pid: i32) -> impl Iterator<Item = i32> {
        std::iter::successors(Some(pid), |pid| stat(*pid).map(|stat| stat.parent))
            .skip(1)
            .take(4096)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    use super::Process;

    /// `ps` is everywhere and knows sessions; a kill is rare enough for a process of its own.
    pub(super) fn of_pane(leader: Pid) -> Vec<Process> {
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
                Some(Process { pid: Pid::from_raw(pid)?, command, hears_hangup: true })
            })
            .collect()
    }

    fn row(line: &str) -> Option<(i32, i32, i32, bool, String)> {
        let mut fields = line.split_ascii_whitespace();
        let mut number = || fields.next()?.parse().ok();
        let (pid, parent, group) = (number()?, number()?, number()?);
        let ended = fields.next()?.starts_with('Z');
        Some((pid, parent, group, ended, fields.collect::<Vec<_>>().join(" ")))
    }

    pub(super) fn signal(pid: Pid, signal: Signal) {
        let _ = kill_process(pid, signal);
    }
}
